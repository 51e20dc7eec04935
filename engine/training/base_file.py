"""A GGUF file to the frozen base and its tokenizer. Knows no adapter and no objective."""

from __future__ import annotations

from pathlib import Path

import torch

from engine.checkpoints.gguf import GGUFFile
from engine.tokenizer import TextTokenizer
from engine.training.base import Base, Shape, assemble


def read_base(path: Path, dtype: torch.dtype = torch.bfloat16) -> tuple[Base, TextTokenizer]:
    """The base's weights in `dtype`, and its tokenizer. Raises `CheckpointInvalid`."""
    file = GGUFFile(path)
    config, tables = file.config, file.tokenizer_tables
    shape = Shape(
        layers=config.layers,
        width=config.width,
        heads=config.heads,
        kv_heads=config.kv_heads,
        head_dim=config.head_dim,
        mlp=config.mlp,
        vocab=config.vocab,
        rope_theta=config.rope_theta,
        norm_eps=config.norm_eps,
        specials=len(tables.special_ids),
    )
    return assemble(shape, file.tensor, dtype), TextTokenizer(tables)

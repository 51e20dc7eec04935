"""Base weights and adapter to a model ready to decode. The names of tensors are a table; where files lie is the catalogue's business."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch

from engine.checkpoints.adapter import Adapter, merge
from engine.checkpoints.gguf import GGUFFile
from engine.config import InfillLayout
from engine.models.dense import DenseTransformer, LayerWeights
from engine.tokenizer import TextTokenizer

# GGUF's names of what is stacked into one map of ours.
_STACKED = {"qkv": ("attn_q", "attn_k", "attn_v"), "o": ("attn_output",), "gu": ("ffn_gate", "ffn_up"), "dn": ("ffn_down",)}


class Checkpoint(NamedTuple):
    """A model, the tokenizer that goes with it, and the layout its prompts have."""

    transformer: DenseTransformer
    tokenizer: TextTokenizer
    layout: InfillLayout
    chain: tuple[torch.Tensor, torch.Tensor] | None  # float32


def load_checkpoint(base: Path, adapter_path: Path, dtype: torch.dtype) -> Checkpoint:
    """Read `base` (GGUF), add the adapter, and pack the maps one layer at a time. Raises `CheckpointInvalid`."""
    file, adapter = GGUFFile(base), Adapter(adapter_path)
    tokenizer = TextTokenizer(file.tokenizer_tables)
    embedding = file.tensor("token_embd.weight", dtype)
    embedding[: len(adapter.special)] = adapter.special.to(dtype)
    transformer = DenseTransformer(file.config, embedding, file.tensor("output_norm.weight", dtype))
    for layer in range(transformer.config.layers):
        transformer.add_layer(_layer(file, adapter, layer, dtype))
    chain = adapter.chain and (adapter.chain[0].float(), adapter.chain[1].float())
    return Checkpoint(transformer, tokenizer, adapter.layout, chain)


def _layer(file: GGUFFile, adapter: Adapter, layer: int, dtype: torch.dtype) -> LayerWeights:
    config = file.config
    heads = {"attn_q": config.heads, "attn_k": config.kv_heads}  # stored permuted

    def stacked(name: str) -> torch.Tensor:
        parts = []
        for part in _STACKED[name]:
            stored = f"blk.{layer}.{part}.weight"
            parts.append(file.rotary_tensor(stored, heads[part]) if part in heads else file.tensor(stored))
        return merge(torch.cat(parts), adapter, layer, name, dtype)

    return LayerWeights(
        attention_norm=file.tensor(f"blk.{layer}.attn_norm.weight", dtype),
        qkv=stacked("qkv"),
        o=stacked("o"),
        mlp_norm=file.tensor(f"blk.{layer}.ffn_norm.weight", dtype),
        gate_up=stacked("gu"),
        down=stacked("dn"),
    )

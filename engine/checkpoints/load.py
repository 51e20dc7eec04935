"""Base weights and adapter to a model ready to decode. The names of tensors are a table; where files lie is the catalogue's business."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import NamedTuple

import torch

from engine import confidence
from engine.checkpoints.adapter import Adapter, merge
from engine.checkpoints.gguf import GGUFFile
from engine.config import InfillLayout
from engine.models.dense import LayerWeights
from engine.models.transformer import Transformer, kept_dtype, without_layers
from engine.tokenizer import TextTokenizer

# GGUF's names of what is stacked into one map of ours.
_STACKED = {"qkv": ("attn_q", "attn_k", "attn_v"), "o": ("attn_output",), "gu": ("ffn_gate", "ffn_up"), "dn": ("ffn_down",)}

# How often memory is given back: it takes 5 ms, and each layer leaves some 4 MB behind.
_LAYERS_AT_ONCE = 2
# A text such as the model reads: which of its channels are large hardly depends on more (twice as long a one did no better).
_SAMPLE = '''import json
from pathlib import Path


class Store:
    """Keeps counts by name."""

    def load(self, path: Path) -> dict[str, int]:
        # An empty name is nobody.
        with path.open("r") as file:
            return {key: int(value) for key, value in json.load(file).items() if key != ""}
'''


class Checkpoint(NamedTuple):
    """A model, the tokenizer that goes with it, and the layout its prompts have."""

    transformer: Transformer
    tokenizer: TextTokenizer
    layout: InfillLayout
    chain: tuple[torch.Tensor, torch.Tensor] | None  # float32
    calibration: confidence.Calibration | None = None  # of the confidence, where one was fitted for the adapter


def load_checkpoint(base: Path, adapter_path: Path, dtype: torch.dtype) -> Checkpoint:
    """Read `base` (GGUF), add the adapter, and pack the maps one layer at a time, to compute in `dtype`.

    Raises `CheckpointInvalid`.
    """
    file, adapter = GGUFFile(base), Adapter(adapter_path)
    tokenizer = TextTokenizer(file.tokenizer_tables)
    embedding = file.tensor("token_embd.weight", kept_dtype(dtype))
    embedding[: len(adapter.special)] = adapter.special.to(embedding.dtype)
    final_norm = file.tensor("output_norm.weight", embedding.dtype)
    transformer = without_layers(file.config, dtype, embedding, final_norm, tokenizer.encode(_SAMPLE))
    read = torch.float32 if dtype == torch.int8 else dtype  # rounding once is better than twice
    for layer in range(transformer.config.layers):
        transformer.add_layer(_layer(file, adapter, layer, read))
        if layer % _LAYERS_AT_ONCE == 0 or layer + 1 == transformer.config.layers:
            _give_back()
    chain = adapter.chain and (adapter.chain[0].float(), adapter.chain[1].float())
    return Checkpoint(transformer, tokenizer, adapter.layout, chain, confidence.load(adapter_path, adapter.fingerprint))


def _give_back() -> None:
    """Return to the system what was freed: glibc keeps it where something in use lies above it, 120 MB by the last layer. 4 ms."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # other C libraries have none
        trim(0)


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

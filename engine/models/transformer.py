"""What the decode loop asks of a model, and the ways to compute one. A way is named by its dtype; int8 is the compiled graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows
from engine.config import DenseConfig
from engine.models.dense import DenseTransformer, LayerWeights


class Transformer(Protocol):
    """A model's weights and its forward pass. `dtype` is that of the cache."""

    config: DenseConfig
    dtype: torch.dtype
    embedding: Tensor  # [vocab, width]

    def add_layer(self, weights: LayerWeights) -> None: ...

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor: ...

    def head(self, hidden: Tensor) -> Tensor: ...


def without_layers(config: DenseConfig, dtype: torch.dtype, embedding: Tensor, final_norm: Tensor, sample: Sequence[int]) -> Transformer:
    """A model that computes in `dtype` and waits for its layers, its head tied to the embedding, which is of `kept_dtype(dtype)`.

    `sample` is a text of some hundred ids, to which int8 is fitted.
    """
    if dtype != torch.int8:
        return DenseTransformer(config, embedding, final_norm)
    from engine.models.graph import GraphTransformer  # its library is not there on every platform

    return GraphTransformer(config, embedding, final_norm, sample=sample)


def kept_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the cache and of all that is not multiplied, in a model that computes in `dtype`."""
    return float_dtype() if dtype == torch.int8 else dtype


def float_dtype() -> torch.dtype:
    """bfloat16 where the CPU multiplies it in hardware."""
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported() else torch.float32

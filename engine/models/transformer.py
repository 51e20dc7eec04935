"""What the decode loop asks of a model, and the ways to compute one. A way is named by its dtype; int8 is the compiled graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows
from engine.config import DenseConfig


class Transformer(Protocol):
    """A model's weights and its forward pass. `dtype` is that of the cache."""

    config: DenseConfig
    dtype: torch.dtype
    paged: bool  # whether it keeps keys and values in pages, as a pool of them has them
    embedding: Tensor  # [vocab, width]

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor: ...

    def forward_many(self, batch: Sequence[tuple[Rows, CacheSlot]]) -> list[Tensor]: ...

    def head(self, hidden: Tensor) -> Tensor: ...


def kept_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype of the cache and of all that is not multiplied, in a model that computes in `dtype`."""
    return float_dtype() if dtype == torch.int8 else dtype


def float_dtype() -> torch.dtype:
    """bfloat16 where the CPU multiplies it in hardware."""
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported() else torch.float32

"""Keys and values of many sequences in one memory, a page here and a page there, so that one forward can read them all.

    pages    a0 b0 a1 c0 c1 b1 … free …        sequence a is on pages 0 and 2, b on 1 and 5

Knows ids and positions, no text and no model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.config import DenseConfig


class PagePool:
    """Pages for `tokens` positions and one more a slot. The memory is taken from the system as it is written, not at once."""

    def __init__(self, config: DenseConfig, dtype: torch.dtype, tokens: int, slots: int) -> None:
        self.config, self.dtype = config, dtype
        self._tokens, self._slots = tokens, slots
        self._memory: tuple[Tensor, Tensor] | None = None
        self._free: list[int] = []

    def memory(self, size: int) -> tuple[Tensor, Tensor]:
        """Keys and values, [layers, pages, kv_heads, size, head_dim]."""
        if self._memory is None:
            count = -(-self._tokens // size) + self._slots
            self._free = list(range(count - 1, -1, -1))
            whole = (self.config.layers, count, self.config.kv_heads, size, self.config.head_dim)
            self._memory = _untouched(whole, self.dtype), _untouched(whole, self.dtype)
        return self._memory

    def take(self, count: int) -> list[int]:
        assert count <= len(self._free), "more slots than the pool was made for"
        return [self._free.pop() for _ in range(count)]

    def give(self, pages: Sequence[int]) -> None:
        self._free += pages


class PooledSlot(CacheSlot):
    """A sequence on a pool's pages. Only paths that keep pages use it."""

    def __init__(self, pool: PagePool, capacity: int) -> None:
        super().__init__(pool.config, capacity, pool.dtype)
        self._pool = pool
        self._pages: list[int] = []

    def pages(self, size: int, spare: int) -> tuple[Tensor, Tensor]:
        memory = self._pool.memory(size)
        assert spare <= size
        if not self._pages:
            self._pages = self._pool.take(self.capacity // size + 1)
        return memory

    def table(self, count: int) -> Sequence[int]:
        return self._pages[:count]

    def copy(self, other: CacheSlot, length: int) -> None:
        assert isinstance(other, PooledSlot) and not self.ids and length <= min(self.capacity, len(other.ids))
        if not other._pages:
            return
        size = self._pool.memory(0)[0].shape[3]
        self.pages(size, size)
        count = -(-length // size)
        for held in self._pool.memory(size):
            held[:, self._pages[:count]] = held[:, other._pages[:count]]
        self.ids = other.ids[:length]

    def resize(self, capacity: int) -> None:
        assert capacity >= len(self.ids)
        before = len(self._pages)
        super().resize(capacity)
        if before:
            size = self._pool.memory(0)[0].shape[3]
            count = self.capacity // size + 1
            self._pages += self._pool.take(max(0, count - before))
            self._pool.give(self._pages[count:])
            del self._pages[count:]

    def release(self) -> None:
        self._pool.give(self._pages)
        self._pages = []


def _untouched(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Zeros that take no memory before they are written: the system gives pages of zeros when they are first touched."""
    size = torch.empty(0, dtype=dtype).element_size()
    raw = np.zeros(shape, dtype={2: np.int16, 4: np.int32}[size])
    return torch.from_numpy(raw).view(dtype)

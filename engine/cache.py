"""The prefix cache: keys and values of committed positions, kept between requests. Knows ids and positions, no text and no model.

    slot.ids      p0 p1 p2 … p41 │            committed: their keys and values are those of a causal reading
    slot.keys     k0 k1 k2 … k41 │ x42 … x49  beyond the mark: a block being denoised, overwritten at will

A request takes the slot whose ids share the longest run with its own from the start, and everything after that run is given up.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.config import DenseConfig


class CacheSlot:
    """One sequence's keys and values. `ids` are the committed ones; their positions are 0…len(ids)−1."""

    def __init__(self, config: DenseConfig, capacity: int, dtype: torch.dtype) -> None:
        self.capacity = capacity
        self.ids: list[int] = []
        self.used_at = 0
        self._keys = torch.empty(config.layers, config.kv_heads, capacity, config.head_dim, dtype=dtype)
        self._values = torch.empty_like(self._keys)

    def write(self, layer: int, start: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write rows' keys and values [rows, kv_heads, head_dim] at `start`; returns views up to the last of them.

        Shapes returned: [kv_heads, start + rows, head_dim]. Positions beyond them, and `ids`, stay as they are.
        """
        end = start + len(keys)
        self._keys[layer, :, start:end] = keys.transpose(0, 1)
        self._values[layer, :, start:end] = values.transpose(0, 1)
        return self._keys[layer, :, :end], self._values[layer, :, :end]

    def commit(self, ids: Sequence[int]) -> None:
        """Say that the rows last written causally at the mark are `ids`: they are committed from now on."""
        assert len(self.ids) + len(ids) <= self.capacity
        self.ids += ids

    def truncate(self, length: int) -> None:
        """Give up everything from position `length` on."""
        del self.ids[length:]


class PrefixCache:
    """A few slots, the least recently used given up first."""

    def __init__(self, config: DenseConfig, *, slots: int, capacity: int, dtype: torch.dtype) -> None:
        self._config, self._capacity, self._dtype = config, capacity, dtype
        self._slots: list[CacheSlot] = []
        self._most = slots
        self._clock = 0

    def match(self, ids: Sequence[int]) -> CacheSlot:
        """The slot to use for `ids`, holding exactly the run of them that it already knew (`len(slot.ids)` of them).

        Changes the slot: what it held beyond that run is gone. A slot is taken over from another sequence only when less than half of
        what it holds would be lost, or when no slot is free.
        """
        self._clock += 1
        slot = self._choose(ids)
        slot.truncate(_common(slot.ids, ids))
        slot.used_at = self._clock
        return slot

    def _choose(self, ids: Sequence[int]) -> CacheSlot:
        best = max(self._slots, key=lambda slot: _common(slot.ids, ids), default=None)
        if best is not None and _common(best.ids, ids) * 2 >= len(best.ids) > 0:
            return best
        if len(self._slots) < self._most:
            self._slots.append(CacheSlot(self._config, self._capacity, self._dtype))
            return self._slots[-1]
        return min(self._slots, key=lambda slot: slot.used_at)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the run that both start with."""
    length = min(len(left), len(right))
    return next((place for place in range(length) if left[place] != right[place]), length)

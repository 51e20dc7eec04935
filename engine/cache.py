"""The prefix cache: keys and values of committed positions, kept between requests. Knows ids and positions, no text and no model.

    ids      p0 p1 p2 … p41 │            committed: their keys and values are those of a causal reading
    keys     k0 k1 k2 … k41 │ x42 … x49  beyond the mark: a block being denoised, overwritten at will

A request takes the slot whose ids share the longest run with its own from the start, and everything after that run is given up.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.config import DenseConfig

# Lengths of what is attended to are multiples of this: the CPU's library compiles a product for every length it meets, at 1 ms and
# 1.2 MB each (Zen 5 server core, 2026-11-30), and every key typed is another length.
_LENGTH_STEP = 128


class CacheSlot:
    """One sequence's keys and values. `ids` are the committed ones; their positions are 0…len(ids)−1."""

    def __init__(self, config: DenseConfig, capacity: int, dtype: torch.dtype) -> None:
        self.capacity = self.rounded(capacity)
        self.ids: list[int] = []
        self.used_at = 0
        self.head: int | None = None  # ids from the start that may serve again; None: all
        self._config, self._dtype = config, dtype
        # Taken when first asked for, in the layout of the path that asks; a slot is used by one path only.
        self._held: tuple[Tensor, Tensor] | None = None

    @staticmethod
    def rounded(capacity: int) -> int:
        """What a slot that is asked to hold so many positions has room for."""
        return -(-capacity // _LENGTH_STEP) * _LENGTH_STEP

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write rows' keys and values [rows, kv_heads, head_dim] behind the mark; returns views of all up to them, and a little beyond.

        Shapes returned: [kv_heads, committed + rows rounded up, head_dim]; what lies beyond the rows is finite. `ids` stay as they are.
        """
        start, end = len(self.ids), len(self.ids) + len(keys)
        length = -(-end // _LENGTH_STEP) * _LENGTH_STEP
        held_keys, held_values = self._memory(self._config.kv_heads, self.capacity)
        held_keys[layer, :, start:end] = keys.transpose(0, 1)
        held_values[layer, :, start:end] = values.transpose(0, 1)
        return held_keys[layer, :, :length], held_values[layer, :, :length]

    def pages(self, size: int, spare: int) -> tuple[Tensor, Tensor]:
        """Keys and values of all layers, for a path that writes them by itself: [layers, pages, kv_heads, size, head_dim].

        Position p lies on page p // size. There is room for `spare` positions beyond the capacity.
        """
        return self._memory(-(-(self.capacity + spare) // size), self._config.kv_heads, size)

    def table(self, count: int) -> Sequence[int]:
        """The first `count` pages of the sequence, as numbers of the memory's pages. After `pages` only."""
        return range(count)

    def _memory(self, *shape: int) -> tuple[Tensor, Tensor]:
        if self._held is None:
            whole = (self._config.layers, *shape, self._config.head_dim)
            self._held = torch.zeros(whole, dtype=self._dtype), torch.zeros(whole, dtype=self._dtype)
        return self._held

    def commit(self, ids: Sequence[int]) -> None:
        """Say that the first rows last written are `ids`, read causally: they are committed from now on."""
        assert len(self.ids) + len(ids) <= self.capacity
        self.ids += ids

    def copy(self, other: CacheSlot, length: int) -> None:
        """Hold the first `length` ids of `other` too, their keys and values copied. This slot holds nothing yet."""
        assert not self.ids and length <= min(self.capacity, len(other.ids))
        if other._held is None:
            return
        for own, held in zip(self._memory(self._config.kv_heads, self.capacity), other._held, strict=True):
            own[:, :, :length] = held[:, :, :length]
        self.ids = other.ids[:length]

    def resize(self, capacity: int) -> None:
        """Make room for `capacity` positions; what is committed stays."""
        assert capacity >= len(self.ids)
        self.capacity = self.rounded(capacity)
        held, self._held = self._held, None
        if held is not None and self.ids:
            for own, before in zip(self._memory(self._config.kv_heads, self.capacity), held, strict=True):
                own[:, :, : len(self.ids)] = before[:, :, : len(self.ids)]

    def release(self) -> None:
        """Give the memory back. The slot is not used again."""
        self._held = None

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

    def match(self, ids: Sequence[int], head: int | None = None) -> CacheSlot:
        """The slot to use for `ids`, holding exactly the run of them that it already knew (`len(slot.ids)` of them).

        Changes the slot: what it held beyond that run is gone. A slot is taken over from another sequence only when less than half of
        what it holds would be lost, or when no slot is free. Of `ids` the first `head` may serve again (None: all), the others are no loss.
        """
        self._clock += 1
        slot = self._choose(ids)
        slot.truncate(common(slot.ids, ids))
        slot.used_at, slot.head = self._clock, head
        return slot

    def _choose(self, ids: Sequence[int]) -> CacheSlot:
        best = max(self._slots, key=lambda slot: common(slot.ids, ids), default=None)
        if best is not None:
            worth = len(best.ids) if best.head is None else min(best.head, len(best.ids))
            if common(best.ids, ids) * 2 >= worth > 0:
                return best
        if len(self._slots) < self._most:
            self._slots.append(CacheSlot(self._config, self._capacity, self._dtype))
            return self._slots[-1]
        return min(self._slots, key=lambda slot: slot.used_at)


def common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the run that both start with."""
    length = min(len(left), len(right))
    return next((place for place in range(length) if left[place] != right[place]), length)

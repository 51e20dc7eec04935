"""Keys and values of many sequences within a bound: who holds how much, what is found again, what is given up. Knows ids, no request.

busy    a request writes in it                 idle    kept for the next request that begins alike, the least recently used given up
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from engine.cache import CacheSlot, common
from engine.config import DenseConfig
from engine.pages import PagePool, PooledSlot

# A run that another slot holds is copied from so many ids on: below that it is read as fast.
_WORTH_COPYING = 32
# No slot has less room, so that there are not more of them than a pool has spare pages for.
_LEAST = 128


class ServingCache:
    """Slots of various capacities, `tokens` positions in all."""

    def __init__(self, config: DenseConfig, dtype: torch.dtype, tokens: int, *, paged: bool) -> None:
        """`paged`: the slots' memory is a pool of pages, for a model that keeps them so."""
        self.tokens = tokens
        self._config, self._dtype = config, dtype
        self._pool = PagePool(config, dtype, tokens, slots=tokens // _LEAST) if paged else None
        self._busy: list[CacheSlot] = []
        self._idle: list[CacheSlot] = []
        self._clock = 0

    @property
    def held(self) -> int:
        """Positions there is memory for now."""
        return sum(slot.capacity for slot in (*self._busy, *self._idle))

    def take(self, ids: Sequence[int], capacity: int) -> CacheSlot | None:
        """A slot with room for `capacity` that holds the first of `ids` as far as any slot knows them; None while others hold too much.

        An idle slot is taken over where little of what it holds is lost; else the run is copied.
        """
        best = max((*self._idle, *self._busy), key=lambda slot: common(slot.ids, ids), default=None)
        run = 0 if best is None else common(best.ids, ids)
        if best is not None and best in self._idle and run * 2 >= len(best.ids):
            return self._taken_over(best, run, capacity)
        slot = self._fresh(capacity, keep=best)
        if slot is not None and best is not None and run >= _WORTH_COPYING and (best in self._idle or best in self._busy):
            slot.copy(best, run)
        return slot

    def give(self, slot: CacheSlot) -> None:
        """The request is done with `slot`; what it holds may serve another."""
        self._busy.remove(slot)
        if self._pool is not None:  # else what it holds would have to be copied
            slot.resize(max(len(slot.ids), 1))
        self._clock += 1
        slot.used_at = self._clock
        self._idle.append(slot)

    def _taken_over(self, slot: CacheSlot, run: int, capacity: int) -> CacheSlot | None:
        self._idle.remove(slot)
        self._busy.append(slot)
        more = max(0, CacheSlot.rounded(capacity) - slot.capacity)
        if not self._has_room(more, keep=None):
            self._busy.remove(slot)
            self._idle.append(slot)
            return None
        slot.truncate(run)
        if more:
            slot.resize(capacity)
        return slot

    def _fresh(self, capacity: int, keep: CacheSlot | None) -> CacheSlot | None:
        if not self._has_room(CacheSlot.rounded(max(capacity, _LEAST)), keep):
            return None
        room = max(capacity, _LEAST)
        slot = CacheSlot(self._config, room, self._dtype) if self._pool is None else PooledSlot(self._pool, room)
        self._busy.append(slot)
        return slot

    def _has_room(self, more: int, keep: CacheSlot | None) -> bool:
        """Whether so many positions more fit, for which idle slots are given up, the least recently used first and `keep` the last."""
        for given_up in sorted(self._idle, key=lambda each: (each is keep, each.used_at)):
            if self.held + more <= self.tokens:
                break
            self._idle.remove(given_up)
            given_up.release()
        return self.held + more <= self.tokens

"""Lays ids out as the rows of one forward: which id stands where, and which of the other new rows it sees. Knows no model and no schedule.

positions   …41 │ 42      43  44  45                cached: seen by every row
clean           │ anchor  d0  d1  d2                causal
block at 42     │ anchor  ▒   ▒   ▒                 sees the clean rows before its anchor, and itself in both directions
block at 44     │             d1  ▒   ▒   ▒         the same, one that goes on from d1 if d0 and d1 should hold
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

# Row counts that a forward may have; the rows laid out are filled up to the next one. The CPU's libraries compile a product for every
# shape they meet, in about 0.6 ms and 0.6 MB each (Zen 5 server core, 2026-11-30), and a GPU's graphs are captured for one shape each.
# 8 is a block with its anchor, 12 the same with a draft of five ids. Beside 8 and 16 alone, 12 between takes 0.96 of the time for five
# lines and 0.99 for one, 12 and 16 alone 1.00 of both (7 holes, least of 3 in turns in one process, 2026-12-01).
_ROW_COUNTS = (1, 8, 12, 16, 24, 32, 64, 128)


class Rows(NamedTuple):
    """The new rows of one forward. Every one of them sees all that is cached; those from `laid` on are filling."""

    ids: Tensor  # [rows]
    positions: Tensor  # [rows]
    seen: Tensor  # [rows, rows], True where a row sees another
    laid: int


def filled(count: int) -> int:
    """How many rows a forward over so many has."""
    return next((size for size in _ROW_COUNTS if size >= count), count)


def clean_and_blocks(clean: Sequence[int], start: int, anchors: Sequence[int] = (), slots: int = 0, mask_id: int = 0) -> Rows:
    """`clean` ids at `start`… read causally, and behind them a masked block of `slots` off each of `anchors` (places in `clean`)."""
    ids, positions = list(clean), list(range(start, start + len(clean)))
    for place in anchors:
        ids += [clean[place], *[mask_id] * (slots - 1)]
        positions += range(start + place, start + place + slots)
    seen = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    seen[: len(clean), : len(clean)] = torch.ones(len(clean), len(clean), dtype=torch.bool).tril()
    for number, place in enumerate(anchors):
        rows = slice(len(clean) + number * slots, len(clean) + (number + 1) * slots)
        seen[rows, :place] = True
        seen[rows, rows] = True
    return _filled(torch.tensor(ids), torch.tensor(positions), seen)


def block_alone(ids: Tensor, start: int) -> Rows:
    """A block, partly committed, at positions `start`…: all its rows see each other."""
    return _filled(ids, torch.arange(start, start + len(ids)), torch.ones(len(ids), len(ids), dtype=torch.bool))


def _filled(ids: Tensor, positions: Tensor, seen: Tensor) -> Rows:
    """Rows filled up with copies of the last id and position, which nothing sees and which see the last row only."""
    count = len(ids)
    more = filled(count) - count
    if more == 0:
        return Rows(ids, positions, seen, count)
    wide = functional.pad(seen, (0, more, 0, more))
    wide[count:, count - 1] = True
    return Rows(torch.cat((ids, ids[-1:].expand(more))), torch.cat((positions, positions[-1:].expand(more))), wide, count)

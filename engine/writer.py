"""Greedy text written on the device, several tokens a forward and no host between the forwards. Knows ids, no text and no cache policy.

A forward's rows never change their places, so that it can be captured: the clean ids, and a masked block at each of them. Rows cost a GPU
next to nothing, so wherever the agreement ends there hangs a block for the next draft (`kernels.verify`).

    clean   anchor d1 d2 │ block at the anchor │ block at d1    │ block at d2
    sees    causally     │ itself              │ anchor, itself │ anchor, d1, itself
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.canvas import clean_and_blocks
from engine.launches import Launches
from kernels.choice import Listed, allow_all_but
from kernels.graphs import repeatable
from kernels.ops import Ops
from kernels.stack import Stack, forward
from kernels.streams import Cached, seen_bits
from kernels.verify import COUNT, FORWARDS, GOING, HEADER, begin, new_text

# 7 + 7 · 7 = 56 rows: the most that one tile of 64 holds. Not measured on a GPU yet.
SLOTS = 7
# Rows that a forward may write behind the mark, all of them filled up.
ROWS = SLOTS * (SLOTS + 1)


class Told:
    """What is written so far, as the host knows it."""

    def __init__(self, told: Tensor) -> None:
        count, room = int(told[COUNT]), (len(told) - HEADER) // 2
        self.going = bool(told[GOING])
        self.forwards = int(told[FORWARDS])
        self.ids: list[int] = told[HEADER : HEADER + count].tolist()
        self.confidence: list[float] = told[HEADER + room :].view(torch.float32)[:count].tolist()


class Writer:
    """Writes behind what one cache holds. All its memory is taken once; `launches` run so many forwards each."""

    def __init__(
        self,
        stack: Stack,
        ops: Ops,
        caches: Sequence[Cached],
        banned: Tensor,
        mask_id: int,
        *,
        room: int,
        times: int,
        graphs: bool,
        slots: int = SLOTS,
    ) -> None:
        """banned [n] int64, ids that are never chosen, the mask's among them. `room`: the most ids of a text."""
        self._stack, self._ops, self._caches = stack, ops, caches
        device, vocab = stack.embedding.device, stack.head.out
        self._vocab = vocab
        self._banned = torch.cat((banned.cpu(), torch.tensor([mask_id]))).unique()
        self.text = new_text(slots, room, mask_id, caches[0].lengths)
        # Laid out for the ids 0…slots − 1, which are the places of the clean ids; the mask's is the one behind them.
        rows = clean_and_blocks(range(slots), 0, range(slots), slots, slots)
        self._places = rows.ids[: rows.laid].to(device)
        self._offsets = rows.positions[: rows.laid].to(device, torch.int32)
        self._seen = seen_bits(rows.seen[: rows.laid, : rows.laid].to(device))
        self._every = torch.arange(rows.laid, dtype=torch.int32, device=device)
        self._usual = allow_all_but(self._banned, vocab).to(device)
        self._allowed = self._usual.repeat(rows.laid, 1)
        self._ends = torch.zeros(vocab, dtype=torch.int8, device=device)
        self._ends_given: Tensor | None = None
        self.launches = Launches(repeatable(self._step, device, times=times, graphs=graphs), self.text.told)

    def start(self, anchor: int, draft: Sequence[int], cached: int, most: int, ends: Tensor, not_first: Sequence[int] = ()) -> None:
        """Begin anew behind `cached` positions and the committed id `anchor`; the draft is cut to what fits.

        ends [vocab] int8, 1 for ids that end the text, which is not changed afterwards; `most`: ids to be written, no more than there is
        room for. `not_first`: ids that the first one is not.
        """
        self.launches.forget()
        begin(self.text, anchor, list(draft[: self.text.slots - 1]), cached, most)
        if ends is not self._ends_given:
            self._ends.copy_(ends)
            self._ends_given = ends
        if not_first:
            banned = torch.cat((self._banned, torch.tensor(not_first, dtype=torch.int64))).unique()
            self._allowed[0].copy_(allow_all_but(banned, self._vocab)[0])

    def _step(self) -> None:
        text, ops = self.text, self._ops
        ids, positions = text.clean.index_select(0, self._places)[None], (text.cached + self._offsets)[None]
        hidden = forward(self._stack, ops, self._caches, ids, positions, self._seen, text.left)
        ops.verify(text, ops.choose(hidden, self._stack.head, Listed(self._every, text.left), self._allowed), self._ends)
        self._allowed[0].copy_(self._usual[0])

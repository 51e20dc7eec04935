"""One answer being written, a forward at a time: says which rows it wants computed, and is told what came of them.

The steps are those of `engine.decode`, turned inside out, so that the rows of many answers can share a forward. Knows ids, no text, no
other answer, and no schedule.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows, clean_and_blocks
from engine.decode import NOTHING, PREFILL_CHUNK, READ_ALONG, SLOTS, Decoder, Forward, Limits, Source, cut, expected, from_text, likely_ends
from engine.repeats import Repeats
from engine.serving.choice import Boundary, Chooser, Pick

# In a crowd a draft is verified where so many of its ids may be expected to hold: any draft costs eight rows, being filled up to them.
_WORTH_ITS_ROWS = 4.0
# A piece of a prompt times what is cached before it comes to this at most: the attention of one way to compute takes memory for that.
_MOST_PAIRS = 1 << 22


class Ask(NamedTuple):
    """Rows to compute against the answer's slot; of those from `first` on the hidden states and logits are wanted, of none where None."""

    rows: Rows
    first: int | None


def _chunk(cached: int) -> int:
    """How many ids of a prompt are read at once behind so many: a power of two, as the rows of a forward are filled up to some."""
    return min(PREFILL_CHUNK, 1 << max(4, (_MOST_PAIRS // (cached + 1)).bit_length() - 1))


class Step(NamedTuple):
    """What a forward committed, and the draft that stands behind it on the canvas."""

    picks: list[Pick]
    forced: int  # of the picks, that a grammar left no choice for
    draft: list[int]
    denoised: bool
    ended: bool  # by the model or the grammar


class Generation:
    """Writes on after `prompt` in `slot`, which holds the first ids of it, never the last one."""

    def __init__(
        self,
        decoder: Decoder,
        slot: CacheSlot,
        prompt: Sequence[int],
        chooser: Chooser,
        limits: Limits,
        sources: Sequence[Source] = (),
        boundary: Boundary | None = None,
    ) -> None:
        self.slot = slot
        self._decoder, self._chooser, self._limits, self._boundary = decoder, chooser, limits, boundary
        self._opening = chooser.forced()  # what a grammar forces at once is read with the prompt
        self._prompt = [*prompt, *(pick.index for pick in self._opening)]
        self.committed = len(self._opening)
        self._sources: tuple[Source, ...] = ()
        self._given = sources
        self._pending: list[int] = []  # committed, and not yet read into the slot
        self._draft, self._favour = NOTHING, 0.0
        self._anchors: list[int] = []
        self._chunk: Sequence[int] = ()

    @property
    def unread(self) -> int:
        """Ids of the prompt to be read before the first block."""
        return 0 if self._pending else max(0, len(self._prompt) - READ_ALONG - len(self.slot.ids))

    @property
    def full(self) -> bool:
        """Whether no id more may be committed."""
        return self.committed >= self._limits.tokens

    def ask(self, room: int, *, crowded: bool = False) -> Ask:
        """The rows of the next forward; of a prompt `room` at most.

        `crowded`: many answers share the forward, so that each row costs, while the forward itself hardly does. Then there is no block, and
        a draft only where it promises much. What is committed stays the same, in more forwards.
        """
        if self.unread:
            start = len(self.slot.ids)
            self._chunk = self._prompt[start : start + min(self.unread, room, _chunk(start))]
            return Ask(clean_and_blocks(self._chunk, start), None)
        if not self._pending:
            self._begin()
        if crowded and not self._favour and expected(self._draft) < _WORTH_ITS_ROWS:
            self._draft = NOTHING
        layout, last = self._decoder.layout, len(self._pending) - 1
        clean = [*self._pending, *self._draft.ids]
        ends = [] if crowded else [last + place for place in likely_ends(self._draft.confidence)]
        self._anchors = [place for place in ends if not (place > last and clean[place] == layout.end_id)]
        return Ask(clean_and_blocks(clean, len(self.slot.ids), self._anchors, self._slots, layout.mask_id), last)

    def take(self, hidden: Tensor | None, logits: Tensor | None) -> Step | None:
        """What the forward of the last `ask` says: hidden [rows, width] and logits [rows, vocab] from its `first` on. None for a prompt."""
        if hidden is None or logits is None:
            self.slot.commit(self._chunk)
            return None
        opening, self._opening = self._opening, []
        ended = self._boundary is not None and self._boundary.ended
        if ended or self.full:
            return Step(opening, len(opening), [], False, ended)
        draft, favour = self._draft.ids, self._favour
        if favour:
            logits[range(len(draft)), draft] += favour
        if not self.committed:
            logits[0, list(self._limits.not_first)] = -torch.inf
        picks = self._chooser.choose(logits, draft, self._limits.tokens - self.committed)
        agreeing = len(picks) - 1
        self.slot.commit([*self._pending, *draft][: len(self._pending) + agreeing])
        ended = picks[-1].index == self._decoder.layout.end_id
        forced = [] if ended else self._chooser.forced()
        self.committed += len(picks) + len(forced)
        ended = ended or (self._boundary is not None and self._boundary.ended)
        if not ended:
            self._draft_next(hidden, logits, picks, forced)
        return Step([*opening, *picks, *forced], len(opening) + len(forced), self._draft.ids, bool(self._anchors), ended)

    @property
    def _slots(self) -> int:
        return min(SLOTS, self._decoder.layout.block)

    def _begin(self) -> None:
        self._pending = list(self._prompt[len(self.slot.ids) :])
        self._sources = (Repeats(self._prompt), *self._given)
        self._draft, self._favour = self._from_text()

    def _draft_next(self, hidden: Tensor, logits: Tensor, picks: Sequence[Pick], forced: Sequence[Pick]) -> None:
        """The draft that the next forward verifies."""
        agreeing, last, drafted = len(picks) - 1, len(self._pending) - 1, len(self._draft.ids)
        ids = [pick.index for pick in (*picks, *forced)]
        for index, source in itertools.product(ids, self._sources):
            source.add(index)
        self._pending = [picks[-1].index, *(pick.index for pick in forced)]
        self._draft, self._favour = self._from_text()
        if last + agreeing in self._anchors and not self._favour and not forced:
            # The block's first slot guessed what is now known; the rest goes on from that.
            first = drafted + 1 + self._anchors.index(last + agreeing) * self._slots
            rest = slice(first + 1, first + self._slots)
            denoised = self._decoder.draft(hidden[rest], logits[rest], ids[-1])
            block = cut(denoised.ids.tolist(), denoised.confidence.tolist(), self._decoder.layout.end_id, self._limits)
            self._draft = max(self._allowed(block), self._draft, key=expected)

    def _from_text(self) -> tuple[Forward, float]:
        draft, favour = from_text(self._sources, self._decoder, self._limits)
        certain = [] if self._boundary is None else self._boundary.certain()
        if certain:
            return self._allowed(Forward(certain, [1.0] * len(certain), False)), 0.0
        return self._allowed(draft), favour

    def _allowed(self, draft: Forward) -> Forward:
        """A draft without what the grammar refuses: masked again from there on."""
        if self._boundary is None or not draft.ids:
            return draft
        held = self._boundary.held(draft.ids)
        return Forward(draft.ids[:held], draft.confidence[:held], draft.denoised)

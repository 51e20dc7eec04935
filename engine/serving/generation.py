"""One answer being written, a forward at a time: says which rows it wants computed, and is told what came of them.

It is `engine.decode` turned inside out, so that the rows of many answers can share a forward. Knows ids, no text, no
other answer, and no schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows, clean_and_blocks
from engine.decode import PREFILL_CHUNK, READ_ALONG
from engine.drafting import Decoder, Draft, Drafting, Limits, Source
from engine.serving.choice import Boundary, Chooser, Pick

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
        self._end_id, self._chooser, self._most, self._boundary = decoder.layout.end_id, chooser, limits.tokens, boundary
        self._opening = chooser.forced()  # what a grammar forces at once is read with the prompt
        self._prompt = [*prompt, *(pick.index for pick in self._opening)]
        self.committed = len(self._opening)
        if self._opening:
            limits = limits._replace(not_first=())
        known = () if boundary is None else (_Certain(boundary),)
        self._drafting = Drafting(decoder, limits, (*known, *sources), self._allowed)
        self._chunk: Sequence[int] = ()

    @property
    def unread(self) -> int:
        """Ids of the prompt to be read before the first block."""
        return 0 if self._drafting.begun else max(0, len(self._prompt) - READ_ALONG - len(self.slot.ids))

    @property
    def full(self) -> bool:
        """Whether no id more may be committed."""
        return self.committed >= self._most

    def ask(self, room: int, *, crowded: bool = False) -> Ask:
        """The rows of the next forward; of a prompt `room` at most.

        `crowded`: as `Drafting.lay` has it.
        """
        if self.unread:
            start = len(self.slot.ids)
            self._chunk = self._prompt[start : start + min(self.unread, room, _chunk(start))]
            return Ask(clean_and_blocks(self._chunk, start), None)
        if not self._drafting.begun:
            self._drafting.begin(self._prompt, len(self._prompt) - len(self.slot.ids))
        return Ask(*self._drafting.lay(len(self.slot.ids), crowded=crowded))

    def take(self, hidden: Tensor | None, logits: Tensor | None) -> Step | None:
        """What the forward of the last `ask` says: hidden [rows, width] and logits [rows, vocab] from its `first` on. None for a prompt."""
        if hidden is None or logits is None:
            self.slot.commit(self._chunk)
            return None
        opening, self._opening = self._opening, []
        ended = self._boundary is not None and self._boundary.ended
        if ended or self.full:
            return Step(opening, len(opening), [], False, ended)
        drafting, denoised = self._drafting, self._drafting.denoises
        drafting.lean(logits)
        picks = self._chooser.choose(logits, drafting.ids, self._most - self.committed)
        self.slot.commit(drafting.read(len(picks) - 1))
        ended = picks[-1].index == self._end_id
        forced = [] if ended else self._chooser.forced()
        self.committed += len(picks) + len(forced)
        ended = ended or (self._boundary is not None and self._boundary.ended)
        if not ended:
            drafting.go_on(hidden, logits, [pick.index for pick in picks], [pick.index for pick in forced])
        return Step([*opening, *picks, *forced], len(opening) + len(forced), drafting.ids, denoised, ended)

    def _allowed(self, draft: Draft) -> Draft:
        """A draft without what the grammar refuses: masked again from there on."""
        if self._boundary is None or not draft.ids:
            return draft
        held = self._boundary.held(draft.ids)
        return Draft(draft.ids[:held], draft.confidence[:held])


class _Certain:
    """What a grammar knows to come, as a source of drafts. What has come it knows by itself."""

    favour = 0.0

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary

    def add(self, index: int) -> None:
        pass

    def draft(self, most: int) -> tuple[list[int], list[float]]:
        ids = self._boundary.certain()[:most]
        return ids, [1.0] * len(ids)

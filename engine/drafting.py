"""What stands on the canvas between two forwards: the draft, what the next forward is to read of it, and what its result drafts next.

Knows ids and rows; who chooses among a forward's logits, and who runs it, is the caller's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows, clean_and_blocks, filled
from engine.config import InfillLayout
from engine.models.transformer import Transformer
from engine.repeats import Repeats
from kernels.chain import chain_ids
from kernels.confidence import Best, best_ids, text_logits

# A draft is cut where it is less likely than this to hold so far, and blocks of so many slots hang at so many of its likeliest ends.
# CPU time a token on 50 whole lines of repositories never trained on (two cores with AVX512-BF16, one thread, an adapter with a chain
# head, 2026-11-30): slots 8 14.2 ms, 7 13.0, 6 13.2, 5 12.8, 4 13.0, while tokens a forward fall from 2.31 to 2.09; 2 anchors cost
# 2–15 % more than one. Where rows cost nothing both want more.
_LEAST_LIKELY = 0.05
_ANCHORS = 1
_SLOTS = 6
# The longest draft that is read at once: of a text that is copied, what a forward's cost of rows allows.
_LONGEST_DRAFT = 40
# Rows of a forward that reads on in a text that is copied. Rows are filled up to 64 from 33 on, so those up to there cost nothing.
_COPIED_ROWS = 64
# Ids of the first draft of a text that is copied, and as many more as fill the rows: often it ends at once, since nothing is to change.
_FIRST_DRAFT = 16
# In a crowd a draft is verified where so many of its ids may be expected to hold: any draft costs eight rows, being filled up to them.
_WORTH_ITS_ROWS = 4.0

Ended = Literal["end", "line", "length"]


class Decoder(NamedTuple):
    """A model with what decoding must know of its ids."""

    transformer: Transformer
    layout: InfillLayout
    banned: Tensor  # ids that are never text nor the end of the middle
    chain: tuple[Tensor, Tensor] | None = None  # the chain head's inward and outward map, where the adapter has one

    def read(self, slot: CacheSlot, rows: Rows, first: int = 0) -> tuple[Tensor, Tensor]:
        """One forward; hidden states [n, width] and text logits [n, vocab] of the rows from `first` on."""
        hidden = self.transformer.forward(rows, slot)[first:]
        return hidden, text_logits(hidden, self.transformer.head, self.banned)

    def draft(self, hidden: Tensor, logits: Tensor, before: int) -> Best:
        """Ids of a masked block's slots, the id before the first of them being known."""
        if self.chain is None:
            return best_ids(logits)
        return chain_ids(hidden, logits, before, self.transformer.embedding, *self.chain)


class Limits(NamedTuple):
    """When a decoding ends of itself."""

    tokens: int
    line_ends: Callable[[int], bool]  # whether an id ends the draft by its text; the id itself is still committed
    text_ends: Callable[[Sequence[int]], bool]  # whether all that is committed does; asked after each id, of drafts not
    verify: bool
    not_first: Sequence[int] = ()  # ids that the first one is not
    may_stay: bool = False  # to end at once leaves a text that is copied as it is, and is favoured as much as that


class Source(Protocol):
    """Drafts that come from text, not from the model. It is told of every committed id."""

    favour: float  # what is added to the logits of its draft's ids: above 0, what is decoded leans towards that text

    def add(self, index: int) -> None: ...

    def draft(self, most: int) -> tuple[list[int], list[float]]: ...


class Draft(NamedTuple):
    """Ids that may follow, and how likely each is if those before it hold."""

    ids: list[int]
    confidence: list[float]


class Drawn(NamedTuple):
    """The draft that was taken of several; what its ids are favoured by, and so is the one after them in its text, where there is one."""

    draft: Draft
    favour: float = 0.0
    beyond: Sequence[int] = ()


_NOTHING = Draft([], [])


class Drafting:
    """The canvas of one text. By turns `lay` says what a forward is to read, and `go_on` is told what was committed of it."""

    def __init__(
        self, decoder: Decoder, limits: Limits, sources: Sequence[Source], allowed: Callable[[Draft], Draft] = lambda draft: draft
    ) -> None:
        """`allowed`: a draft without what may not stand in the text."""
        self._decoder, self._limits, self._given, self._allowed = decoder, limits, sources, allowed
        self._sources: tuple[Source, ...] = ()
        self._pending: list[int] = []  # committed, and not read yet
        self._draft, self._favour, self._beyond = Drawn(_NOTHING)
        self._anchors: list[int] = []
        self._is_first = True

    @property
    def begun(self) -> bool:
        return bool(self._pending)

    @property
    def ids(self) -> list[int]:
        """The draft that the next forward verifies, or the last one did."""
        return self._draft.ids

    @property
    def denoises(self) -> bool:
        """Whether a block was laid."""
        return bool(self._anchors)

    def begin(self, prompt: Sequence[int], unread: int) -> None:
        """Its last `unread` ids, one at least, are read along with the first draft."""
        self._pending = list(prompt[len(prompt) - unread :])
        self._sources = (Repeats(prompt), *self._given)
        self._draw(filled(unread + _FIRST_DRAFT) - unread)

    def lay(self, start: int, *, crowded: bool = False) -> tuple[Rows, int]:
        """The rows of the next forward at `start`…, and the first of them whose result is wanted.

        `crowded`: many texts share the forward, so that each row costs, while the forward itself hardly does. Then there is no block, and
        a draft only where it promises much. What is committed stays the same, in more forwards.
        """
        if crowded and not self._favour and expected(self._draft) < _WORTH_ITS_ROWS:
            self._draft = _NOTHING
        last, end_id = len(self._pending) - 1, self._decoder.layout.end_id
        clean = [*self._pending, *self._draft.ids]
        # Behind a text that is copied comes more of it, or what it was left for: no block that hangs there would be looked at.
        ends = [] if crowded or (self._favour and self._draft.ids) else [last + place for place in likely_ends(self._draft.confidence)]
        self._anchors = [place for place in ends if not (place > last and ended_by(clean[place], 0, end_id, self._limits))]
        return clean_and_blocks(clean, start, self._anchors, self._slots, self._decoder.layout.mask_id), last

    def lean(self, logits: Tensor) -> None:
        """Have the wanted rows' logits [rows, vocab] favour what is copied, and leave out what may not come first."""
        if self._favour:
            copied = [*self._draft.ids, *self._beyond]
            logits[range(len(copied)), copied] += self._favour
            if self._is_first and self._limits.may_stay:
                logits[0, self._decoder.layout.end_id] += self._favour
        if self._is_first:
            logits[0, list(self._limits.not_first)] = -torch.inf
        self._is_first = False

    def read(self, agreeing: int) -> list[int]:
        """What the forward read that holds: all that was pending, and so many ids of the draft."""
        return [*self._pending, *self._draft.ids[:agreeing]]

    def go_on(self, hidden: Tensor, logits: Tensor, chosen: Sequence[int], forced: Sequence[int] = ()) -> None:
        """What was committed: the ids chosen, all but the last the draft's own, and those that followed without a choice.

        hidden [rows, width] and logits [rows, vocab] of the wanted rows.
        """
        for index, source in itertools.product((*chosen, *forced), self._sources):
            source.add(index)
        agreeing, last, drafted = len(chosen) - 1, len(self._pending) - 1, len(self._draft.ids)
        self._pending = [chosen[-1], *forced]
        self._draw(_COPIED_ROWS - 1)
        if last + agreeing in self._anchors and not self._favour and not forced:
            # The block's first slot guessed what is now known; the rest goes on from that.
            first = drafted + 1 + self._anchors.index(last + agreeing) * self._slots
            rest = slice(first + 1, first + self._slots)
            denoised = self._decoder.draft(hidden[rest], logits[rest], chosen[-1])
            block = cut(denoised.ids.tolist(), denoised.confidence.tolist(), self._decoder.layout.end_id, self._limits)
            self._draft = max(self._allowed(block), self._draft, key=expected)

    @property
    def _slots(self) -> int:
        return min(_SLOTS, self._decoder.layout.block)

    def _draw(self, most: int) -> None:
        self._draft, self._favour, self._beyond = from_text(self._sources, self._decoder.layout.end_id, self._limits, most, self._allowed)


def from_text(
    sources: Sequence[Source],
    end_id: int,
    limits: Limits,
    most: int = _LONGEST_DRAFT,
    allowed: Callable[[Draft], Draft] = lambda draft: draft,
) -> Drawn:
    """The most promising draft of all sources; one that is favoured goes before the others.

    `most`: ids of one that is favoured.
    """
    return max((_drawn(source, end_id, limits, most, allowed) for source in sources), key=_promise, default=Drawn(_NOTHING))


def _drawn(source: Source, end_id: int, limits: Limits, most: int, allowed: Callable[[Draft], Draft]) -> Drawn:
    if not source.favour:
        return Drawn(allowed(cut(*source.draft(_LONGEST_DRAFT), end_id, limits)))
    ids, confidence = source.draft(most + 1)
    draft = allowed(cut(ids[:most], confidence[:most], end_id, limits))
    ends = bool(draft.ids) and bool(ended_by(draft.ids[-1], 0, end_id, limits))
    return Drawn(draft, source.favour, () if ends else ids[len(draft.ids) :][:1])


def _promise(drawn: Drawn) -> tuple[float, float]:
    return bool(drawn.draft.ids) * drawn.favour, expected(drawn.draft)


def agreement(draft: Sequence[int], chosen: Sequence[int]) -> int:
    """How many ids of a draft are those that were chosen, from the first on."""
    return next((place for place, index in enumerate(draft) if chosen[place] != index), len(draft))


def expected(draft: Draft) -> float:
    """How many ids of a draft may be expected to agree."""
    return sum(itertools.accumulate(draft.confidence, float.__mul__))


def likely_ends(confidence: Sequence[float]) -> list[int]:
    """The likeliest numbers of draft ids that will agree, the likeliest first, at most `_ANCHORS`."""
    hold = [1.0, *itertools.accumulate(confidence, float.__mul__)]  # that so many agree at least
    exactly = [here - after for here, after in itertools.pairwise([*hold, 0.0])]
    return sorted(range(len(exactly)), key=lambda place: -exactly[place])[:_ANCHORS]


def cut(ids: list[int], confidence: list[float], end_id: int, limits: Limits) -> Draft:
    """A draft without what follows its end or is too unlikely to hold."""
    hold = 1.0
    for place, (index, sure) in enumerate(zip(ids, confidence, strict=True)):
        hold *= sure
        if hold < _LEAST_LIKELY:
            return Draft(ids[:place], confidence[:place])
        if ended_by(index, 0, end_id, limits):
            return Draft(ids[: place + 1], confidence[: place + 1])
    return Draft(ids, confidence)


def ended_by(index: int, count: int, end_id: int, limits: Limits) -> Ended | None:
    """Whether `index`, as the `count`th id of a text, ends it."""
    if index == end_id:
        return "end"
    if limits.line_ends(index):
        return "line"
    return "length" if count == limits.tokens else None

"""The decode loop: draft blocks by denoising, verify them causally, commit what agrees. Knows ids and positions, no text and no prompt.

With verification one forward does both: it reads the draft causally, and denoises the next block off the places where the draft may end.

    clean   anchor d0  d1  d2   →  p0 p1 p2 p3          what the model itself would write after each
    commit  p0 p1 p2            as far as d agrees with p, and the first p that does not
    draft   the block that hangs where the agreement ended, if one was laid there
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows, block_alone, clean_and_blocks, filled
from engine.config import InfillLayout
from engine.models.transformer import Transformer
from engine.remask import commit_confident
from engine.repeats import Repeats
from kernels.chain import chain_ids
from kernels.confidence import Best, best_ids, text_logits

# Without verification a block is denoised until every position was committed at this confidence or as the surest of a step.
# Measured by the first adapter's calibration: slots above 0.9 are right in 96 %.
_UNVERIFIED_THRESHOLD = 0.9
# A prefill chunk: long enough that the products run at full speed, short enough that a stop is seen within tens of milliseconds.
PREFILL_CHUNK = 128
# So many of the prompt's last ids are read along with the first block instead of in a forward of their own.
READ_ALONG = 16
# A draft is cut where it is less likely than this to hold so far, and blocks of so many slots hang at so many of its likeliest ends.
# CPU time a token on 50 whole lines of repositories never trained on (two cores with AVX512-BF16, one thread, an adapter with a chain
# head, 2026-11-30): slots 8 14.2 ms, 7 13.0, 6 13.2, 5 12.8, 4 13.0, while tokens a forward fall from 2.31 to 2.09; 2 anchors cost
# 2–15 % more than one. Where rows cost nothing both want more.
_LEAST_LIKELY = 0.05
_ANCHORS = 1
SLOTS = 6
# The longest draft that is read at once: of a text that is copied, what a forward's cost of rows allows.
_LONGEST_DRAFT = 40
# Rows of a forward that reads on in a text that is copied. Rows are filled up to 64 from 33 on, so those up to there cost nothing.
_COPIED_ROWS = 64
# Ids of the first draft of a text that is copied, and as many more as fill the rows: often it ends at once, since nothing is to change.
_FIRST_DRAFT = 16
# Ids at the end of a prompt that may be read along with the first block, where that leaves the rest in chunks that need no filling.
_MOST_ALONG = 40

Ended = Literal["end", "line", "length"]
Interrupt = Literal["deadline", "stopped"]
Interrupted = Callable[[], Interrupt | None]


class Decoder(NamedTuple):
    """A model with what the loop must know of its ids."""

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


class Decoded(NamedTuple):
    """What was committed, in order, the ending id included, with each token's probability."""

    ids: list[int]
    confidence: list[float]
    denoise_steps: int
    forwards: int
    ended: Ended | Interrupt
    seconds: float = 0.0  # that the forwards took


class Forward(NamedTuple):
    """What one forward committed."""

    ids: list[int]
    confidence: list[float]
    denoised: bool


NOTHING = Forward([], [], False)


def prefill(decoder: Decoder, slot: CacheSlot, ids: Sequence[int], interrupted: Interrupted) -> Interrupt | None:
    """Bring the slot to hold `ids`, of which it holds the first ones already. What was done by an interruption stays done."""
    while len(slot.ids) < len(ids):
        if reason := interrupted():
            return reason
        chunk = ids[len(slot.ids) : len(slot.ids) + PREFILL_CHUNK]
        decoder.transformer.forward(clean_and_blocks(chunk, len(slot.ids)), slot)
        slot.commit(chunk)
    return None


def decode(
    decoder: Decoder,
    slot: CacheSlot,
    prompt: Sequence[int],
    limits: Limits,
    interrupted: Interrupted,
    sources: Sequence[Source] = (),
) -> Decoded:
    """Write on after `prompt`, of which the slot holds the first ids, never the last one.

    Drafts come from the model, from what repeats in the prompt, and from `sources`; whichever promises most is verified.
    Before every forward the interruption is asked; what is committed by then is the result. The slot afterwards holds prompt and result
    but for the last id, or goes on beyond the result where the forward that ended it went on.
    """
    ids: list[int] = []
    confidence: list[float] = []
    steps = forwards = 0
    reason = prefill(decoder, slot, prompt[: len(prompt) - read_along(len(prompt) - len(slot.ids))], interrupted)
    started = time.perf_counter()
    forward = _verified(decoder, slot, prompt, limits, (Repeats(prompt), *sources)) if limits.verify else _unverified(decoder, slot, prompt)
    ended: Ended | None
    while not (reason := reason or interrupted()):
        committed = next(forward)
        steps, forwards = steps + committed.denoised, forwards + 1
        for index, probability in zip(committed.ids, committed.confidence, strict=True):
            ids.append(index)
            confidence.append(probability)
            if ended := ended_by(index, len(ids), decoder.layout.end_id, limits) or ("line" if limits.text_ends(ids) else None):
                return Decoded(ids, confidence, steps, forwards, ended, time.perf_counter() - started)
    return Decoded(ids, confidence, steps, forwards, reason, time.perf_counter() - started)


def read_along(unread: int) -> int:
    """How many of a prompt's unread ids go along with the first block: those that leave the fewest rows to read before, filling counted."""
    return min(range(1, min(unread, _MOST_ALONG) + 1), key=lambda along: (_filled_rows(unread - along), along), default=0)


def _filled_rows(count: int) -> int:
    whole, rest = divmod(count, PREFILL_CHUNK)
    return whole * PREFILL_CHUNK + (filled(rest) if rest else 0)


def decode_causally(decoder: Decoder, slot: CacheSlot, prompt: Sequence[int], limits: Limits) -> Decoded:
    """Greedy decoding token by token: what verified decoding must equal. Slow; for tests and comparison."""
    ids: list[int] = []
    confidence: list[float] = []
    prefill(decoder, slot, prompt[:-1], lambda: None)
    anchor = prompt[-1]
    while True:
        best = best_ids(decoder.read(slot, clean_and_blocks([anchor], len(slot.ids)))[1])
        slot.commit([anchor])
        anchor = int(best.ids[0])
        ids.append(anchor)
        confidence.append(float(best.confidence[0]))
        if ended := ended_by(anchor, len(ids), decoder.layout.end_id, limits) or ("line" if limits.text_ends(ids) else None):
            return Decoded(ids, confidence, 0, len(ids), ended)


def ended_by(index: int, count: int, end_id: int, limits: Limits) -> Ended | None:
    if index == end_id:
        return "end"
    if limits.line_ends(index):
        return "line"
    return "length" if count == limits.tokens else None


# ------------------------------------------------------------------------------------------------ with verification


def _verified(decoder: Decoder, slot: CacheSlot, prompt: Sequence[int], limits: Limits, sources: Sequence[Source]) -> Iterator[Forward]:
    """Forwards that each verify the draft before and denoise the next one."""
    end_id, slots, mask_id = decoder.layout.end_id, min(SLOTS, decoder.layout.block), decoder.layout.mask_id
    pending = list(prompt[len(slot.ids) :])
    draft, favour = from_text(sources, decoder, limits, filled(len(pending) + _FIRST_DRAFT) - len(pending))
    not_first = list(limits.not_first)
    is_first = True
    while True:
        last = len(pending) - 1
        clean = [*pending, *draft.ids]
        # Behind a text that is copied comes more of it, or what it was left for: no block that hangs there would be looked at.
        anchors = [] if favour and draft.ids else [last + place for place in likely_ends(draft.confidence)]
        anchors = [place for place in anchors if not (place > last and ended_by(clean[place], 0, end_id, limits))]
        hidden, logits = decoder.read(slot, clean_and_blocks(clean, len(slot.ids), anchors, slots, mask_id), first=last)
        if favour:
            logits[range(len(draft.ids)), draft.ids] += favour
            if is_first and limits.may_stay:
                logits[0, end_id] += favour
        logits[0, not_first] = -torch.inf
        not_first, is_first = [], False
        best = best_ids(logits[: len(draft.ids) + 1])
        chosen = best.ids.tolist()
        agreeing = next((place for place, index in enumerate(draft.ids) if chosen[place] != index), len(draft.ids))
        slot.commit(clean[: last + 1 + agreeing])
        yield Forward(chosen[: agreeing + 1], best.confidence[: agreeing + 1].tolist(), bool(anchors))
        for index, source in itertools.product(chosen[: agreeing + 1], sources):
            source.add(index)
        pending, (draft, favour) = [chosen[agreeing]], from_text(sources, decoder, limits, _COPIED_ROWS - 1)
        if last + agreeing in anchors and not favour:
            # The block's first slot guessed what is now known; the rest goes on from that.
            first = len(best.ids) + anchors.index(last + agreeing) * slots
            rest = slice(first + 1, first + slots)
            denoised = decoder.draft(hidden[rest], logits[rest], pending[0])
            draft = max(cut(denoised.ids.tolist(), denoised.confidence.tolist(), end_id, limits), draft, key=expected)


def from_text(sources: Sequence[Source], decoder: Decoder, limits: Limits, most: int = _LONGEST_DRAFT) -> tuple[Forward, float]:
    """The most promising draft of all sources, and what it is favoured by; one that is favoured goes before the others.

    `most`: ids of one that is favoured.
    """
    lengths = [most if source.favour else _LONGEST_DRAFT for source in sources]
    drafts = [
        (cut(*source.draft(length), decoder.layout.end_id, limits), source.favour) for source, length in zip(sources, lengths, strict=True)
    ]
    return max(drafts, key=lambda pair: (bool(pair[0].ids) * pair[1], expected(pair[0])), default=(NOTHING, 0.0))


def expected(draft: Forward) -> float:
    """How many ids of a draft may be expected to agree."""
    return sum(itertools.accumulate(draft.confidence, float.__mul__))


def likely_ends(confidence: Sequence[float]) -> list[int]:
    """The likeliest numbers of draft ids that will agree, the likeliest first, at most `_ANCHORS`."""
    hold = [1.0, *itertools.accumulate(confidence, float.__mul__)]  # that so many agree at least
    exactly = [here - after for here, after in itertools.pairwise([*hold, 0.0])]
    return sorted(range(len(exactly)), key=lambda place: -exactly[place])[:_ANCHORS]


def cut(ids: list[int], confidence: list[float], end_id: int, limits: Limits) -> Forward:
    """A draft without what follows its end or is too unlikely to hold."""
    hold = 1.0
    for place, (index, sure) in enumerate(zip(ids, confidence, strict=True)):
        hold *= sure
        if hold < _LEAST_LIKELY:
            return Forward(ids[:place], confidence[:place], True)
        if ended_by(index, 0, end_id, limits):
            return Forward(ids[: place + 1], confidence[: place + 1], True)
    return Forward(ids, confidence, True)


# ------------------------------------------------------------------------------------------------ without


def _unverified(decoder: Decoder, slot: CacheSlot, prompt: Sequence[int]) -> Iterator[Forward]:
    """Forwards that denoise a block until nothing in it is masked, then one that reads it causally into the cache."""
    layout = decoder.layout
    prefill(decoder, slot, prompt[:-1], lambda: None)
    anchor = prompt[-1]
    while True:
        block = torch.full((layout.block,), layout.mask_id)
        block[0] = anchor
        masked = torch.ones(layout.block - 1, dtype=torch.bool)  # by slot, whether the token after it is still masked
        sure = torch.zeros(layout.block - 1)
        done = 0  # committed from the left without a gap
        while done < len(masked):
            logits = decoder.read(slot, block_alone(block, len(slot.ids)))[1][:-1]  # the last slot's token lies beyond the block
            best = Best(*(part.cpu() for part in best_ids(logits)))
            chosen = commit_confident(best.confidence, masked, _UNVERIFIED_THRESHOLD)
            block[1:] = best.ids.where(chosen, block[1:])
            sure = best.confidence.where(chosen, sure)
            masked &= ~chosen
            before, done = done, int(masked.int().argmax()) if masked.any() else len(masked)
            yield Forward(block[1 + before : 1 + done].tolist(), sure[before:done].tolist(), True)
        clean = block[:-1].tolist()
        decoder.transformer.forward(clean_and_blocks(clean, len(slot.ids)), slot)
        slot.commit(clean)
        anchor = int(block[-1])
        yield Forward([], [], False)

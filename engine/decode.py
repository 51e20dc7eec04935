"""The decode loop: draft blocks by denoising, verify them causally, commit what agrees. Knows ids and positions, no text and no prompt.

With verification one forward does both: it reads the draft causally, and denoises the next block off the places where the draft may end.

    clean   anchor d0  d1  d2   →  p0 p1 p2 p3          what the model itself would write after each
    commit  p0 p1 p2            as far as d agrees with p, and the first p that does not
    draft   the block that hangs where the agreement ended, if one was laid there
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import torch

from engine.cache import CacheSlot
from engine.canvas import block_alone, clean_and_blocks, filled
from engine.drafting import Decoder, Drafting, Ended, Limits, Source, agreement, ended_by
from engine.remask import commit_confident
from kernels.confidence import Best, best_ids

# Without verification a block is denoised until every position was committed at this confidence or as the surest of a step.
# Measured by the first adapter's calibration: slots above 0.9 are right in 96 %.
_UNVERIFIED_THRESHOLD = 0.9
# A prefill chunk: long enough that the products run at full speed, short enough that a stop is seen within tens of milliseconds.
PREFILL_CHUNK = 128
# So many of the prompt's last ids are read along with the first block instead of in a forward of their own.
READ_ALONG = 16
# Ids at the end of a prompt that may be read along with the first block, where that leaves the rest in chunks that need no filling.
_MOST_ALONG = 40

Interrupt = Literal["deadline", "stopped"]
Interrupted = Callable[[], Interrupt | None]


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
    forward = _verified(decoder, slot, prompt, limits, sources) if limits.verify else _unverified(decoder, slot, prompt)
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


# ------------------------------------------------------------------------------------------------ with verification


def _verified(decoder: Decoder, slot: CacheSlot, prompt: Sequence[int], limits: Limits, sources: Sequence[Source]) -> Iterator[Forward]:
    """Forwards that each verify the draft before and denoise the next one."""
    drafting = Drafting(decoder, limits, sources)
    drafting.begin(prompt, len(prompt) - len(slot.ids))
    while True:
        rows, first = drafting.lay(len(slot.ids))
        hidden, logits = decoder.read(slot, rows, first)
        drafting.lean(logits)
        best = best_ids(logits[: len(drafting.ids) + 1])
        chosen: list[int] = best.ids.tolist()
        agreeing = agreement(drafting.ids, chosen)
        slot.commit(drafting.read(agreeing))
        yield Forward(chosen[: agreeing + 1], best.confidence[: agreeing + 1].tolist(), drafting.denoises)
        drafting.go_on(hidden, logits, chosen[: agreeing + 1])


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

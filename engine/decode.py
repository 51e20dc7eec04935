"""The decode loop: draft a block by denoising, verify it causally, commit what agrees. Knows ids and positions, no text and no prompt.

positions   … 41 │ 42      43    44    45            slot i predicts the token at the position after it
denoise          │ anchor  mask  mask  mask          all see each other and everything before the anchor
verify           │ anchor  d0    d1    d2            the same weights, causal: p0 p1 p2 p3
commit                     p0    p1    p2            as far as d agrees with p, and the first p that does not
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.config import InfillLayout
from engine.models.dense import DenseTransformer
from engine.remask import commit_confident
from kernels.confidence import Best, best_ids

# Without verification a block is denoised until every position was committed at this confidence or as the surest of a step.
# Measured by the first adapter's calibration: slots above 0.9 are right in 96 %.
_UNVERIFIED_THRESHOLD = 0.9
# A prefill chunk: long enough that the products run at full speed, short enough that a stop is seen within tens of milliseconds.
_PREFILL_CHUNK = 128

Interrupt = Literal["deadline", "stopped"]
Interrupted = Callable[[], Interrupt | None]


class Decoder(NamedTuple):
    """A model with what the loop must know of its ids."""

    transformer: DenseTransformer
    layout: InfillLayout
    banned: Tensor  # ids that are never text nor the end of the middle


class Limits(NamedTuple):
    """When a decoding ends of itself."""

    tokens: int
    line_ends: Callable[[int], bool]  # whether an id ends the draft by its text; the id itself is still committed
    verify: bool


class Decoded(NamedTuple):
    """What was committed, in order, the ending id included, with each token's probability."""

    ids: list[int]
    confidence: list[float]
    denoise_steps: int
    forwards: int
    ended: Literal["end", "line", "length", "deadline", "stopped"]


class _Block(NamedTuple):
    ids: list[int]
    confidence: list[float]
    steps: int
    forwards: int


def prefill(decoder: Decoder, slot: CacheSlot, ids: Sequence[int], interrupted: Interrupted) -> Interrupt | None:
    """Bring the slot to hold `ids`, of which it holds the first ones already. What was done by an interruption stays done."""
    while len(slot.ids) < len(ids):
        if reason := interrupted():
            return reason
        chunk = ids[len(slot.ids) : len(slot.ids) + _PREFILL_CHUNK]
        decoder.transformer.forward(torch.tensor(chunk), slot, len(slot.ids), causal=True)
        slot.commit(chunk)
    return None


def decode(decoder: Decoder, slot: CacheSlot, anchor: int, limits: Limits, interrupted: Interrupted) -> Decoded:
    """Write on from `anchor`, the last id of the prompt, whose keys and values are not in the slot yet.

    Between steps the interruption is asked; what is committed by then is the result. The slot afterwards holds the prompt and what was
    committed: all but the last id, or more than the result where the block that ended it went on.
    """
    ids: list[int] = []
    confidence: list[float] = []
    steps = forwards = 0
    write = _write_verified if limits.verify else _write_unverified
    while len(ids) < limits.tokens:
        if reason := interrupted():
            return Decoded(ids, confidence, steps, forwards, reason)
        block = write(decoder, slot, anchor, interrupted)
        steps, forwards = steps + block.steps, forwards + block.forwards
        for index, probability in zip(block.ids, block.confidence, strict=True):
            ids.append(index)
            confidence.append(probability)
            if index == decoder.layout.end_id:
                return Decoded(ids, confidence, steps, forwards, "end")
            if limits.line_ends(index):
                return Decoded(ids, confidence, steps, forwards, "line")
            if len(ids) == limits.tokens:
                break
        anchor = ids[-1] if ids else anchor
    return Decoded(ids, confidence, steps, forwards, "length")


def decode_causally(decoder: Decoder, slot: CacheSlot, anchor: int, limits: Limits) -> Decoded:
    """Greedy decoding token by token: what verified decoding must equal. Slow; for tests and comparison."""
    ids: list[int] = []
    confidence: list[float] = []
    while len(ids) < limits.tokens:
        best = _read_causally(decoder, slot, [anchor])
        slot.commit([anchor])
        anchor = int(best.ids[0])
        ids.append(anchor)
        confidence.append(float(best.confidence[0]))
        if anchor == decoder.layout.end_id:
            return Decoded(ids, confidence, 0, len(ids), "end")
        if limits.line_ends(anchor):
            return Decoded(ids, confidence, 0, len(ids), "line")
    return Decoded(ids, confidence, 0, len(ids), "length")


def _write_verified(decoder: Decoder, slot: CacheSlot, anchor: int, interrupted: Interrupted) -> _Block:
    draft = _denoise(decoder, slot, anchor, threshold=0.0, interrupted=interrupted)
    if interrupted():
        return _Block([], [], draft.steps, draft.forwards)  # an unverified draft is not committed
    best = _read_causally(decoder, slot, [anchor, *draft.ids[:-1]])
    chosen = best.ids.tolist()
    agreeing = next((place for place, index in enumerate(chosen) if index != draft.ids[place]), len(chosen) - 1)
    slot.commit([anchor, *chosen[:agreeing]])
    return _Block(chosen[: agreeing + 1], best.confidence[: agreeing + 1].tolist(), draft.steps, draft.forwards + 1)


def _write_unverified(decoder: Decoder, slot: CacheSlot, anchor: int, interrupted: Interrupted) -> _Block:
    block = _denoise(decoder, slot, anchor, threshold=_UNVERIFIED_THRESHOLD, interrupted=interrupted)
    ids, confidence = block.ids[:-1], block.confidence[:-1]  # the last slot's token lies beyond the block: not denoised
    if not ids:
        return block
    decoder.transformer.forward(torch.tensor([anchor, *ids[:-1]]), slot, len(slot.ids), causal=True)
    slot.commit([anchor, *ids[:-1]])
    return _Block(ids, confidence, block.steps, block.forwards + 1)


def _denoise(decoder: Decoder, slot: CacheSlot, anchor: int, *, threshold: float, interrupted: Interrupted) -> _Block:
    """Denoise one block hanging off `anchor` until nothing in it is masked.

    Returns as many ids as the block has slots: its committed positions and the last slot's prediction. On an interruption the ids up to
    the first position still masked.
    """
    layout = decoder.layout
    block = torch.full((layout.block,), layout.mask_id)
    block[0] = anchor
    masked = torch.ones(layout.block, dtype=torch.bool)  # by slot: whether the token after it is still to be chosen
    sure = torch.zeros(layout.block)
    written = block.roll(-1)  # written[i] is the token after slot i
    steps = 0
    while masked.any():
        if steps and interrupted():
            break
        hidden = decoder.transformer.forward(block, slot, len(slot.ids), causal=False)
        best = best_ids(hidden, decoder.transformer.head, decoder.banned)
        steps += 1
        chosen = commit_confident(best.confidence, masked, threshold)
        written, sure, masked = best.ids.where(chosen, written), best.confidence.where(chosen, sure), masked & ~chosen
        block[1:] = written[:-1].where(~masked[:-1], layout.mask_id)
    done = int(masked.int().argmax()) if masked.any() else layout.block
    return _Block(written[:done].tolist(), sure[:done].tolist(), steps, steps)


def _read_causally(decoder: Decoder, slot: CacheSlot, ids: list[int]) -> Best:
    hidden = decoder.transformer.forward(torch.tensor(ids), slot, len(slot.ids), causal=True)
    return best_ids(hidden, decoder.transformer.head, decoder.banned)

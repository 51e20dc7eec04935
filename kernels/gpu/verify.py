"""Agreement and commit of a verified draft, in one program. The twin, which defines it, is `kernels.verify.verify`."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from kernels.choice import Choice
from kernels.gpu.tiles import power
from kernels.gpu.turn import wait_turn
from kernels.launch import Gpu
from kernels.verify import COUNT, FORWARDS, GOING, HEADER, MOST, Text

_COUNT, _FORWARDS, _GOING, _MOST, _HEADER = (tl.constexpr(place) for place in (COUNT, FORWARDS, GOING, MOST, HEADER))


@triton.jit(do_not_specialize=["slots", "room"])
def verify_draft(
    clean: tl.tensor,
    cached: tl.tensor,
    left: tl.tensor,
    told: tl.tensor,
    chosen_ids: tl.tensor,
    confidence: tl.tensor,
    ends: tl.tensor,
    slots: tl.tensor,
    room: tl.tensor,
    SLOTS: tl.constexpr,  # filled up to a power of two
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if tl.load(told + _GOING) == 0:
        return
    count, most, forwards = tl.load(told + _COUNT), tl.load(told + _MOST), tl.load(told + _FORWARDS)
    slot = tl.arange(0, SLOTS)
    there = slot < slots
    chosen = tl.load(chosen_ids + slot, mask=there, other=0)
    sure = tl.load(confidence + slot, mask=there, other=0.0)
    draft = tl.load(clean + slot + 1, mask=slot < slots - 1, other=-1)
    first_other = tl.min(tl.where(chosen == draft, SLOTS, slot), axis=0)
    ending = there & (slot <= first_other) & (tl.load(ends + chosen, mask=there, other=0) != 0)
    first_end = tl.min(tl.where(ending, slot, SLOTS), axis=0)
    committed = tl.minimum(tl.minimum(first_other, first_end) + 1, most - count)
    going = (first_end == SLOTS) & (count + committed < most)
    kept = slot < committed
    tl.store(told + _HEADER + count + slot, chosen, mask=kept)
    tl.store(told + _HEADER + room + count + slot, sure.to(tl.int32, bitcast=True), mask=kept)
    anchor = tl.sum(tl.where(slot == committed - 1, chosen, 0), axis=0)
    following = tl.load(chosen_ids + slots * committed + slot, mask=there & (slot > 0), other=0)
    tl.store(clean + slot, tl.where(slot == 0, anchor, following), mask=there)
    tl.store(told + _COUNT, count + committed)
    tl.store(told + _FORWARDS, forwards + 1)
    tl.store(told + _GOING, going.to(tl.int32))
    tl.store(cached, tl.load(cached) + committed)
    tl.store(left, tl.where(going, slots * (slots + 1), 0))


def verify(gpu: Gpu, text: Text, choice: Choice, ends: Tensor) -> None:
    """See the twin."""
    assert all(part.is_contiguous() for part in (*text, choice.ids, choice.confidence, ends))
    # One warp: what it stores into `clean` it has read before.
    gpu.launch(verify_draft, (1,), *text, choice.ids, choice.confidence, ends, text.slots, text.room, power(text.slots), num_warps=1)

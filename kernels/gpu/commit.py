"""Commit and remask without the host: a program a block, its slots in registers. The twin, which defines it, is `kernels.commit`."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.choice import Choice, Listed
from kernels.commit import Blocks, Rule
from kernels.gpu.tiles import power
from kernels.gpu.turn import wait_turn
from kernels.launch import Gpu

# Slots of all blocks that are listed at a time.
_LIST_TILE = 1024


@triton.jit(do_not_specialize=["slots", "mask_id", "at_least"])
def commit_block(
    ids: tl.tensor,
    sure: tl.tensor,
    chosen_ids: tl.tensor,
    confidences: tl.tensor,
    slots: tl.tensor,
    mask_id: tl.tensor,
    threshold: tl.tensor,
    factor: tl.tensor,
    at_least: tl.tensor,
    keep: tl.tensor,
    SLOTS: tl.constexpr,  # filled up to a power of two
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    slot = tl.arange(0, SLOTS)
    there = slot < slots
    place = tl.program_id(0) * slots + slot
    held = tl.load(ids + place, mask=there, other=0)
    held_sure = tl.load(sure + place, mask=there, other=0.0)
    masked = there & (held == mask_id)
    confidence = tl.where(masked, tl.load(confidences + place, mask=masked, other=-1.0), -1.0)
    rank = _rank(-confidence, SLOTS)
    tempted = masked & ((rank + 2).to(tl.float32) * (1.0 - confidence) < factor)
    reach = tl.max(tl.where(tempted, rank, -1), axis=0)
    commits = masked & ((confidence >= threshold) | (rank <= reach) | (rank < at_least))
    doubted = there & (held != mask_id) & (held_sure < keep)
    spare = tl.sum(commits.to(tl.int32), axis=0) - 1
    again = doubted & (_rank(tl.where(doubted, held_sure, float("inf")), SLOTS) < spare)
    chosen = tl.load(chosen_ids + place, mask=commits, other=0)
    tl.store(ids + place, tl.where(commits, chosen, mask_id), mask=commits | again)
    tl.store(sure + place, confidence, mask=commits)


@triton.jit
def _rank(keys: tl.tensor, SLOTS: tl.constexpr) -> tl.tensor:
    """Each entry's place in ascending order, equal ones in theirs: how many go before it."""
    slot = tl.arange(0, SLOTS)
    earlier = (keys[None, :] < keys[:, None]) | ((keys[None, :] == keys[:, None]) & (slot[None, :] < slot[:, None]))
    return tl.sum(earlier.to(tl.int32), axis=1)


@triton.jit(do_not_specialize=["total", "mask_id"])
def list_slots(
    ids: tl.tensor,
    total: tl.tensor,
    mask_id: tl.tensor,
    rows: tl.tensor,
    count: tl.tensor,
    TILE: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    found = 0
    for first in range(0, total, TILE):
        slot = first + tl.arange(0, TILE)
        masked = (tl.load(ids + slot, mask=slot < total, other=0) == mask_id) & (slot < total)
        place = found + tl.cumsum(masked.to(tl.int32), axis=0) - 1
        tl.store(rows + place, slot, mask=masked)
        found += tl.sum(masked.to(tl.int32), axis=0)
    tl.store(count, found)


def commit(gpu: Gpu, blocks: Blocks, choice: Choice, rule: Rule, mask_id: int) -> None:
    """See the twin."""
    assert blocks.ids.is_contiguous() and blocks.sure.is_contiguous()
    count, slots = blocks.ids.shape
    gpu.launch(
        commit_block,
        (count,),
        *blocks,
        choice.ids,
        choice.confidence,
        slots,
        mask_id,
        *rule,
        power(slots),
        num_warps=1 if slots <= 32 else 4,
    )


def list_masked(gpu: Gpu, ids: Tensor, mask_id: int) -> Listed:
    """See the twin. One program: the order of a list that many wrote would change from run to run."""
    assert ids.is_contiguous()
    listed = Listed(*(torch.empty(size, dtype=torch.int32, device=ids.device) for size in (ids.numel(), 1)))
    gpu.launch(list_slots, (1,), ids, ids.numel(), mask_id, *listed, _LIST_TILE, num_warps=4)
    return listed

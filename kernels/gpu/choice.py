"""The head's product and the choice of ids in one pass over the vocabulary. The twin, which defines it, is `kernels.choice.choose`.

    head_tiles     a program a tile of the vocabulary: its logits live in registers, and six numbers a row leave it
    merge_choices  a program a row: the tiles' numbers become one choice

Logits are never written: at 152 thousand ids and 32 rows they would be 20 MB written and read several times over.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.choice import Choice, Listed
from kernels.gpu.product import product, row_scaled
from kernels.gpu.tiles import Tiles, power, tiles
from kernels.gpu.turn import wait_turn
from kernels.launch import Gpu
from kernels.noise import Noise
from kernels.weight import Weight

# What a tile says of a row, as planes of one float32 workspace [plane, tile, entry]; ids lie in one of int32.
_TOP = tl.constexpr(0)  # largest logit
_SECOND = tl.constexpr(1)  # second largest
_MASS = tl.constexpr(2)  # Σ exp(logit − top)
_SPREAD = tl.constexpr(3)  # Σ exp(logit − top) · (logit − top)
_NOISY = tl.constexpr(4)  # largest logit / temperature + noise
_DRAWN = tl.constexpr(5)  # the logit of that id


@triton.jit(do_not_specialize=["allowed_stride", "entries", "vocab"])
def head_tiles(
    hidden: tl.tensor,
    hidden_stride: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    listed: tl.tensor,
    count: tl.tensor,
    allowed: tl.tensor,
    allowed_stride: tl.tensor,
    noise: tl.tensor,
    temperature: tl.tensor,
    planes: tl.tensor,
    ids: tl.tensor,
    entries: tl.tensor,
    vocab: tl.tensor,
    width: tl.tensor,
    KIND: tl.constexpr,
    EVEN: tl.constexpr,
    BOUNDED: tl.constexpr,
    NOISY: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    tile, tile_count = tl.program_id(1), tl.num_programs(1)
    entry = tl.program_id(0) * TILE_R + tl.arange(0, TILE_R)
    listed_count = tl.load(count)
    if tl.program_id(0) * TILE_R >= listed_count:
        return
    row = tl.load(listed + entry, mask=entry < listed_count, other=0)
    n = tile * TILE_N + tl.arange(0, TILE_N)
    stored = tl.minimum(n, vocab - 1)
    logits, _ = product(weight, scale, stored, hidden, row, hidden_stride, width, 0, width, KIND, False, EVEN, TILE_N, TILE_R, TILE_K)
    logits = row_scaled(logits, scale, stored, KIND)
    in_bounds = (n < vocab)[:, None]
    if BOUNDED:
        words = tl.load(allowed + row[None, :] * allowed_stride + stored[:, None] // 32)
        in_bounds = in_bounds & ((words >> (stored[:, None] % 32) & 1) != 0)
    logits = tl.where(in_bounds, logits, -float("inf"))

    top = tl.max(logits, axis=0)
    best = tl.min(tl.where(logits == top[None, :], stored[:, None], vocab), axis=0)
    second = tl.max(tl.where(stored[:, None] == best[None, :], -float("inf"), logits), axis=0)
    shifted = tl.where(in_bounds, logits - tl.where(top == -float("inf"), 0.0, top)[None, :], -float("inf"))
    grown = tl.exp(shifted)
    plane = tile_count * entries
    place = tile * entries + entry
    kept = entry < listed_count
    tl.store(planes + _TOP * plane + place, top, mask=kept)
    tl.store(planes + _SECOND * plane + place, second, mask=kept)
    tl.store(planes + _MASS * plane + place, tl.sum(grown, axis=0), mask=kept)
    tl.store(planes + _SPREAD * plane + place, tl.sum(tl.where(in_bounds, grown * shifted, 0.0), axis=0), mask=kept)
    tl.store(ids + place, best, mask=kept)
    if NOISY:
        noisy = logits / temperature + _gumbel(noise, row, n, TILE_N, TILE_R)
        highest = tl.max(noisy, axis=0)
        drawn = tl.min(tl.where(noisy == highest[None, :], stored[:, None], vocab), axis=0)
        tl.store(planes + _NOISY * plane + place, highest, mask=kept)
        said = tl.max(tl.where(stored[:, None] == drawn[None, :], logits, -float("inf")), axis=0)
        tl.store(planes + _DRAWN * plane + place, said, mask=kept)
        tl.store(ids + plane + place, drawn, mask=kept)


@triton.jit
def _gumbel(state: tl.tensor, row: tl.tensor, n: tl.tensor, TILE_N: tl.constexpr, TILE_R: tl.constexpr) -> tl.tensor:
    """The noise of `kernels.noise.gumbel`, [TILE_N, TILE_R]."""
    by_id = tl.broadcast_to(n[:, None], (TILE_N, TILE_R))
    by_row = tl.broadcast_to(row[None, :], (TILE_N, TILE_R))
    step = tl.zeros((TILE_N, TILE_R), tl.int32) + tl.load(state + 1)
    word, _, _, _ = tl.philox(tl.load(state), by_id, by_row, step, tl.zeros((TILE_N, TILE_R), tl.int32))
    return -tl.log(-tl.log(tl.random.uint_to_uniform_float(word)))


@triton.jit(do_not_specialize=["entries", "tile_count"])
def merge_choices(
    listed: tl.tensor,
    count: tl.tensor,
    planes: tl.tensor,
    ids: tl.tensor,
    entries: tl.tensor,
    tile_count: tl.tensor,
    chosen: tl.tensor,
    confidence: tl.tensor,
    entropy: tl.tensor,
    margin: tl.tensor,
    NOISY: tl.constexpr,
    TILES: tl.constexpr,  # all of them, filled up to a power of two
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    entry = tl.program_id(0)
    if entry >= tl.load(count):
        return
    row = tl.load(listed + entry)
    tile = tl.arange(0, TILES)
    there = tile < tile_count
    place = tile * entries + entry
    plane = tile_count * entries
    tops = tl.load(planes + _TOP * plane + place, mask=there, other=-float("inf"))
    top = tl.max(tops, axis=0)
    first = tl.min(tl.where(tops == top, tile, TILES), axis=0)
    seconds = tl.load(planes + _SECOND * plane + place, mask=there, other=-float("inf"))
    second = tl.max(tl.where(tile == first, seconds, tops), axis=0)
    moved = tl.where(there & (tops != -float("inf")), tops - top, 0.0)
    factor = tl.where(there & (tops != -float("inf")), tl.exp(moved), 0.0)
    masses = tl.load(planes + _MASS * plane + place, mask=there, other=0.0)
    spreads = tl.load(planes + _SPREAD * plane + place, mask=there, other=0.0)
    mass = tl.sum(factor * masses, axis=0)
    spread = tl.sum(factor * (spreads + moved * masses), axis=0)
    said = top
    source = ids + first * entries + entry
    if NOISY:
        noisy = tl.load(planes + _NOISY * plane + place, mask=there, other=-float("inf"))
        drawn = tl.min(tl.where(noisy == tl.max(noisy, axis=0), tile, TILES), axis=0)
        said = tl.load(planes + _DRAWN * plane + drawn * entries + entry)
        source = ids + plane + drawn * entries + entry
    tl.store(chosen + row, tl.load(source))
    tl.store(confidence + row, tl.exp(said - top) / mass)
    tl.store(entropy + row, tl.log(mass) - spread / mass)
    tl.store(margin + row, (1.0 - tl.exp(second - top)) / mass)


def choose(
    gpu: Gpu,
    hidden: Tensor,
    head: Weight,
    listed: Listed,
    allowed: Tensor | None = None,
    noise: Noise | None = None,
    *,
    cut: Tiles | None = None,
) -> Choice:
    """See the twin. Rows that are not listed keep whatever the memory held."""
    assert hidden.stride(1) == 1 and head.data.is_contiguous() and (allowed is None or allowed.stride(1) == 1)
    entries, device = listed.rows.shape[0], hidden.device
    cut = cut or tiles(gpu, head, entries, n=128 if entries <= 32 else 64)
    tile_count = cut.up(head.out, cut.n)
    planes = torch.empty((6 if noise else 4, tile_count, entries), dtype=torch.float32, device=device)
    ids = torch.empty((2 if noise else 1, tile_count, entries), dtype=torch.int32, device=device)
    found = Choice(
        torch.empty(len(hidden), dtype=torch.int32, device=device),
        *(torch.empty(len(hidden), dtype=torch.float32, device=device) for _ in range(3)),
    )
    gpu.launch(
        head_tiles,
        (cut.up(entries, cut.r), tile_count),
        hidden,
        hidden.stride(0),
        head.data,
        head.scale,
        listed.rows,
        listed.total,
        allowed,
        0 if allowed is None or len(allowed) == 1 else allowed.stride(0),
        None if noise is None else noise.state,
        1.0 if noise is None else noise.temperature,
        planes,
        ids,
        entries,
        head.out,
        head.into,
        head.kind,
        head.into % cut.k == 0,
        allowed is not None,
        noise is not None,
        cut.n,
        cut.r,
        cut.k,
        num_warps=cut.warps,
        num_stages=cut.stages,
    )
    gpu.launch(
        merge_choices,
        (entries,),
        listed.rows,
        listed.total,
        planes,
        ids,
        entries,
        tile_count,
        *found,
        noise is not None,
        power(tile_count),
        num_warps=4,
    )
    return found

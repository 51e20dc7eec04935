"""A product added to what came in, its columns split among programs. The twin, which defines it, is `kernels.mlp.project`.

projected    a program a tile of the output and a share of the columns
add_shares   where columns are split: a program a piece of the output adds the shares up, always in the same order
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.gpu.product import product, row_scaled
from kernels.gpu.tiles import Tiles, tiles
from kernels.gpu.turn import idle, wait_turn
from kernels.launch import Gpu
from kernels.weight import Weight

_MOST_SHARES = 8
_ADD_TILE = 1024


@triton.jit(do_not_specialize=["rows"])
def projected(
    x: tl.tensor,
    x_stride: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    residual: tl.tensor,
    residual_stride: tl.tensor,
    result: tl.tensor,  # [rows, out], or where columns are split float32 [shares, rows, out]
    rows: tl.tensor,
    out: tl.tensor,
    into: tl.tensor,
    share: tl.tensor,  # columns of a program, a multiple of TILE_K
    live: tl.tensor,
    KIND: tl.constexpr,
    EVEN: tl.constexpr,
    SPLIT: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    column = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    n = tl.minimum(column, out - 1)
    row = tl.program_id(0) * TILE_R + tl.arange(0, TILE_R)
    r = tl.minimum(row, rows - 1)
    first = tl.program_id(2) * share
    last = tl.minimum(first + share, into)
    sums, _ = product(weight, scale, n, x, r, x_stride, into, first, last, KIND, False, EVEN, TILE_N, TILE_R, TILE_K)
    sums = row_scaled(sums, scale, n, KIND)
    kept = (row < rows)[None, :] & (column < out)[:, None]
    to = result + r[None, :] * out + n[:, None]
    if SPLIT:
        tl.store(to + tl.program_id(2) * rows * out, sums, mask=kept)
    else:
        sums += tl.load(residual + r[None, :] * residual_stride + n[:, None]).to(tl.float32)
        tl.store(to, sums.to(result.dtype.element_ty), mask=kept)


@triton.jit(do_not_specialize=["total"])
def add_shares(
    shares: tl.tensor,
    residual: tl.tensor,
    residual_stride: tl.tensor,
    result: tl.tensor,
    total: tl.tensor,  # rows · out
    out: tl.tensor,
    live: tl.tensor,
    SHARES: tl.constexpr,
    TILE: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    place = tl.program_id(0) * TILE + tl.arange(0, TILE)
    kept = place < total
    sums = tl.zeros((TILE,), tl.float32)
    for share in tl.static_range(SHARES):
        sums += tl.load(shares + share * total + place, mask=kept, other=0.0)
    sums += tl.load(residual + place // out * residual_stride + place % out, mask=kept, other=0.0).to(tl.float32)
    tl.store(result + place, sums.to(result.dtype.element_ty), mask=kept)


def project(gpu: Gpu, x: Tensor, weight: Weight, residual: Tensor, live: Tensor | None = None, *, cut: Tiles | None = None) -> Tensor:
    """See the twin."""
    assert x.stride(1) == residual.stride(1) == 1
    rows, out, into = len(x), weight.out, weight.into
    cut = cut or tiles(gpu, weight, rows, n=64)
    share, shares = _shares(gpu, cut, rows, out, into)
    result = torch.empty((rows, out), dtype=x.dtype, device=x.device)
    parts = result if shares == 1 else torch.empty((shares, rows, out), dtype=torch.float32, device=x.device)
    gpu.launch(
        projected,
        (cut.up(rows, cut.r), cut.up(out, cut.n), shares),
        x,
        x.stride(0),
        weight.data,
        weight.scale,
        residual,
        residual.stride(0),
        parts,
        rows,
        out,
        into,
        share,
        live,
        weight.kind,
        into % cut.k == 0,
        shares > 1,
        cut.n,
        cut.r,
        cut.k,
        num_warps=cut.warps,
        num_stages=cut.stages,
    )
    if shares > 1:
        grid = (cut.up(rows * out, _ADD_TILE),)
        gpu.launch(add_shares, grid, parts, residual, residual.stride(0), result, rows * out, out, live, shares, _ADD_TILE, num_warps=4)
    return result


def _shares(gpu: Gpu, cut: Tiles, rows: int, out: int, into: int) -> tuple[int, int]:
    """Columns of a share, and how many shares: enough for a program a multiprocessor, each with eight turns of the loop or more.

    Not measured on a GPU yet. A power of two, so that few kernels are compiled.
    """
    tile_count = cut.up(rows, cut.r) * cut.up(out, cut.n)
    shares = 1
    while shares < _MOST_SHARES and tile_count * shares < gpu.processors and into // (2 * shares) >= 8 * cut.k:
        shares *= 2
    share = cut.up(into, shares * cut.k) * cut.k
    return share, cut.up(into, share)

"""The loop that every op with a weight shares: a tile of weight rows times a tile of activations, summed over the columns.

The weights are the first operand of the matrix instruction and the activations the second: with 8 to 64 activation rows Hopper's wide
instruction (WGMMA, 64 rows at least) is only to be had this way round.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def product(
    weight: tl.tensor,
    scale: tl.tensor,
    n: tl.tensor,  # [TILE_N] weight rows, any that exist
    x: tl.tensor,
    r: tl.tensor,  # [TILE_R] activation rows, any that exist
    x_stride: tl.tensor,
    into: tl.tensor,
    first: tl.tensor,  # columns first..last, first a multiple of TILE_K
    last: tl.tensor,
    KIND: tl.constexpr,
    NORM: tl.constexpr,
    EVEN: tl.constexpr,  # last − first is a multiple of TILE_K
    TILE_N: tl.constexpr,
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,
) -> tl.tensor:
    """Σ weight[n, k] · x[r, k], float32 [TILE_N, TILE_R], without the row scales; and with NORM Σ x[r, k]², [TILE_R]."""
    if KIND == "int4":
        return _product_int4(weight, scale, n, x, r, x_stride, into, first, last, NORM, TILE_N, TILE_R, TILE_K)
    sums = tl.zeros((TILE_N, TILE_R), tl.float32)
    squares = tl.zeros((TILE_R,), tl.float32)
    columns = tl.arange(0, TILE_K)
    weight_rows = weight + n.to(tl.int64)[:, None] * into + columns[None, :]
    x_rows = x + r[None, :] * x_stride + columns[:, None]
    for k in range(first, last, TILE_K):
        if EVEN:
            w = tl.load(weight_rows + k)
            a = tl.load(x_rows + k)
        else:
            w = tl.load(weight_rows + k, mask=columns[None, :] < last - k, other=0.0)
            a = tl.load(x_rows + k, mask=columns[:, None] < last - k, other=0.0)
        sums = tl.dot(w.to(a.dtype), a, sums)
        if NORM:
            squares += tl.sum(a.to(tl.float32) * a.to(tl.float32), axis=0)
    return sums, squares


@triton.jit
def _product_int4(
    weight: tl.tensor,
    scale: tl.tensor,
    n: tl.tensor,
    x: tl.tensor,
    r: tl.tensor,
    x_stride: tl.tensor,
    into: tl.tensor,
    first: tl.tensor,
    last: tl.tensor,
    NORM: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,  # a stretch of the format: two halves, each with its scale
) -> tl.tensor:
    HALF: tl.constexpr = TILE_K // 2
    sums = tl.zeros((TILE_N, TILE_R), tl.float32)
    squares = tl.zeros((TILE_R,), tl.float32)
    columns = tl.arange(0, HALF)
    weight_rows = weight + n.to(tl.int64)[:, None] * (into // 2) + columns[None, :]
    scale_rows = scale + n.to(tl.int64) * (into // HALF)
    x_rows = x + r[None, :] * x_stride + columns[:, None]
    for k in range(first, last, TILE_K):
        packed = tl.load(weight_rows + k // 2)
        low_scale = tl.load(scale_rows + k // HALF)
        high_scale = tl.load(scale_rows + k // HALF + 1)
        low = tl.load(x_rows + k)
        high = tl.load(x_rows + k + HALF)
        sums = tl.dot(_nibbles(packed & 15, low_scale, low.dtype), low, sums)
        sums = tl.dot(_nibbles(packed >> 4, high_scale, high.dtype), high, sums)
        if NORM:
            squares += tl.sum(low.to(tl.float32) * low.to(tl.float32) + high.to(tl.float32) * high.to(tl.float32), axis=0)
    return sums, squares


@triton.jit
def _nibbles(nibbles: tl.tensor, scale: tl.tensor, dtype: tl.constexpr) -> tl.tensor:
    """Nibbles [TILE_N, HALF] with 8 for zero, times their rows' scale, in `dtype`."""
    return ((nibbles.to(tl.int32) - 8).to(tl.float32) * scale.to(tl.float32)[:, None]).to(dtype)


@triton.jit
def row_scaled(sums: tl.tensor, scale: tl.tensor, n: tl.tensor, KIND: tl.constexpr) -> tl.tensor:
    """A finished product with the row scales of int8 and fp8."""
    if KIND == "int8" or KIND == "fp8":
        sums = sums * tl.load(scale + n)[:, None]
    return sums

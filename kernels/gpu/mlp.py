"""Norm, gate and up product and SwiGLU in one kernel. The twin, which defines it, is `kernels.mlp.gate_up`."""

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


@triton.jit(do_not_specialize=["rows"])
def gated(
    x: tl.tensor,
    x_stride: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    result: tl.tensor,
    rows: tl.tensor,
    mlp: tl.tensor,
    width: tl.tensor,
    eps: tl.tensor,
    live: tl.tensor,
    KIND: tl.constexpr,
    EVEN: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    HALF: tl.constexpr = TILE_N // 2
    tile = tl.arange(0, TILE_N)
    # A gate's row and its up row side by side in one tile, so that a split parts them.
    unit = tl.minimum(tl.program_id(1) * HALF + tile // 2, mlp - 1)
    n = tile % 2 * mlp + unit
    row = tl.program_id(0) * TILE_R + tl.arange(0, TILE_R)
    r = tl.minimum(row, rows - 1)
    sums, squares = product(weight, scale, n, x, r, x_stride, width, 0, width, KIND, True, EVEN, TILE_N, TILE_R, TILE_K)
    sums = row_scaled(sums, scale, n, KIND) * (1.0 / tl.sqrt(squares / width + eps))[None, :]
    gate, up = tl.split(tl.permute(tl.reshape(sums, (HALF, 2, TILE_R)), (0, 2, 1)))
    mixed = gate * tl.sigmoid(gate) * up
    column = tl.program_id(1) * HALF + tl.arange(0, HALF)
    to = result + r[None, :] * mlp + column[:, None]
    tl.store(to, mixed.to(result.dtype.element_ty), mask=(row < rows)[None, :] & (column < mlp)[:, None])


def gate_up(gpu: Gpu, x: Tensor, weight: Weight, eps: float, live: Tensor | None = None, *, cut: Tiles | None = None) -> Tensor:
    """See the twin."""
    assert x.stride(1) == 1
    rows, mlp = len(x), weight.out // 2
    cut = cut or tiles(gpu, weight, rows, n=128)
    result = torch.empty((rows, mlp), dtype=x.dtype, device=x.device)
    gpu.launch(
        gated,
        (cut.up(rows, cut.r), cut.up(mlp, cut.n // 2)),
        x,
        x.stride(0),
        weight.data,
        weight.scale,
        result,
        rows,
        mlp,
        weight.into,
        eps,
        live,
        weight.kind,
        weight.into % cut.k == 0,
        cut.n,
        cut.r,
        cut.k,
        num_warps=cut.warps,
        num_stages=cut.stages,
    )
    return result

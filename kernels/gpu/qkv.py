"""Norm, product, rotary and cache write in one kernel, a program a head. The twin, which defines it, is `kernels.qkv.qkv`."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.gpu.product import product, row_scaled
from kernels.gpu.tiles import tiles
from kernels.gpu.turn import idle, wait_turn
from kernels.launch import Gpu
from kernels.qkv import Qkv, Turns
from kernels.streams import Cached


@triton.jit(do_not_specialize=["rows", "total", "page_stream"])
def qkv_head(
    x: tl.tensor,
    x_stride: tl.tensor,
    weight: tl.tensor,
    scale: tl.tensor,
    bias: tl.tensor,
    norms: tl.tensor,
    cos: tl.tensor,
    sin: tl.tensor,
    lengths: tl.tensor,
    queries: tl.tensor,  # [streams · rows, HEADS, HEAD_DIM]
    keys: tl.tensor,
    values: tl.tensor,
    cache_stream: tl.tensor,  # strides
    cache_head: tl.tensor,
    cache_position: tl.tensor,
    pages: tl.tensor,  # [streams, pages of a stream], None without
    page_stream: tl.tensor,
    rows: tl.tensor,  # of a stream
    total: tl.tensor,  # of all
    width: tl.tensor,
    eps: tl.tensor,
    key_factor: tl.tensor,
    value_factor: tl.tensor,
    live: tl.tensor,
    HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    KIND: tl.constexpr,
    EVEN: tl.constexpr,
    BIASED: tl.constexpr,
    NORMED: tl.constexpr,
    PAGE: tl.constexpr,  # positions of a page; 0 without pages
    TILE_R: tl.constexpr,
    TILE_K: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    head = tl.program_id(1)
    HALF: tl.constexpr = HEAD_DIM // 2
    tile = tl.arange(0, HEAD_DIM)
    # The two elements that rotary turns into each other lie side by side, so that a split parts them.
    n = head * HEAD_DIM + tile % 2 * HALF + tile // 2
    row = tl.program_id(0) * TILE_R + tl.arange(0, TILE_R)
    kept = row < total
    r = tl.minimum(row, total - 1)
    sums, squares = product(weight, scale, n, x, r, x_stride, width, 0, width, KIND, True, EVEN, HEAD_DIM, TILE_R, TILE_K)
    sums = row_scaled(sums, scale, n, KIND) * (1.0 / tl.sqrt(squares / width + eps))[None, :]
    if BIASED:
        sums += tl.load(bias + n).to(tl.float32)[:, None]
    left, right = tl.split(tl.permute(tl.reshape(sums, (HALF, 2, TILE_R)), (0, 2, 1)))  # [HALF, TILE_R] each
    pair = tl.arange(0, HALF)
    if head < HEADS + KV_HEADS:
        if NORMED:
            length = tl.sum(left * left + right * right, axis=0) / HEAD_DIM
            gain = norms + (head >= HEADS).to(tl.int32) * HEAD_DIM
            left *= tl.load(gain + pair).to(tl.float32)[:, None] / tl.sqrt(length + eps)[None, :]
            right *= tl.load(gain + HALF + pair).to(tl.float32)[:, None] / tl.sqrt(length + eps)[None, :]
        c = tl.load(cos + r[None, :] * HALF + pair[:, None])
        s = tl.load(sin + r[None, :] * HALF + pair[:, None])
        left, right = left * c - right * s, right * c + left * s
    if head < HEADS:
        to = queries + (r[None, :] * HEADS + head) * HEAD_DIM + pair[:, None]
        tl.store(to, left.to(queries.dtype.element_ty), mask=kept[None, :])
        tl.store(to + HALF, right.to(queries.dtype.element_ty), mask=kept[None, :])
    else:
        stream = r // rows
        position = tl.load(lengths + stream) + r % rows
        kv_head = (head - HEADS) % KV_HEADS
        if PAGE > 0:
            stream = tl.load(pages + stream * page_stream + position // PAGE)
            position = position % PAGE
        place = stream.to(tl.int64) * cache_stream + position.to(tl.int64) * cache_position + kv_head * cache_head
        within = place[None, :] + pair[:, None]
        if head < HEADS + KV_HEADS:
            tl.store(keys + within, (left * key_factor).to(keys.dtype.element_ty), mask=kept[None, :])
            tl.store(keys + within + HALF, (right * key_factor).to(keys.dtype.element_ty), mask=kept[None, :])
        else:
            tl.store(values + within, (left * value_factor).to(values.dtype.element_ty), mask=kept[None, :])
            tl.store(values + within + HALF, (right * value_factor).to(values.dtype.element_ty), mask=kept[None, :])


def qkv(gpu: Gpu, x: Tensor, layer: Qkv, turns: Turns, cached: Cached, live: Tensor | None = None) -> Tensor:
    """See the twin."""
    streams, rows, width = x.shape
    kv_heads, head_dim = cached.keys.shape[1], cached.keys.shape[3]
    assert x.is_contiguous() and turns.cos.is_contiguous() and turns.sin.is_contiguous()
    assert cached.keys.stride() == cached.values.stride() and cached.keys.stride(3) == 1
    cut = tiles(gpu, layer.weight, streams * rows, n=head_dim)
    queries = torch.empty((streams, rows, layer.heads, head_dim), dtype=x.dtype, device=x.device)
    gpu.launch(
        qkv_head,
        (cut.up(streams * rows, cut.r), layer.heads + 2 * kv_heads),
        x,
        width,
        layer.weight.data,
        layer.weight.scale,
        layer.bias,
        layer.norms,
        *turns,
        cached.lengths,
        queries,
        cached.keys,
        cached.values,
        *cached.keys.stride()[:3],
        cached.pages,
        0 if cached.pages is None else cached.pages.stride(0),
        rows,
        streams * rows,
        width,
        layer.eps,
        1 / cached.key_scale,
        1 / cached.value_scale,
        live,
        layer.heads,
        kv_heads,
        head_dim,
        layer.weight.kind,
        width % cut.k == 0,
        layer.bias is not None,
        layer.norms is not None,
        cached.page,
        cut.r,
        cut.k,
        num_warps=cut.warps,
        num_stages=cut.stages,
    )
    return queries

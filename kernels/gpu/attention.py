"""New rows over their streams' caches, split by position. The twin, which defines it, is `kernels.streams.attend`.

    attend_chunk   a program a chunk of positions, a key-value head, a tile of queries and a stream: a part of the softmax
    merge_chunks   a program a row and head: the parts become one

A group's heads are packed into the query tile's rows (row · group + member), so that a key is read once for all of them. What a row
sees is asked only in the tiles that hold the new rows' own keys. Chunks end at fixed positions, so that a row's sums, to the last bit,
do not depend on how much is cached behind what it sees.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels.gpu.tiles import power
from kernels.gpu.turn import idle, wait_turn
from kernels.launch import Gpu
from kernels.streams import Cached, Seen

_MOST_CHUNKS = 32


@triton.jit(do_not_specialize=["seen_stream", "seen_row", "rows", "chunks", "page_stream"])
def attend_chunk(
    query: tl.tensor,
    query_stream: tl.tensor,  # strides
    query_row: tl.tensor,
    query_head: tl.tensor,
    keys: tl.tensor,
    values: tl.tensor,
    cache_stream: tl.tensor,
    cache_head: tl.tensor,
    cache_position: tl.tensor,
    pages: tl.tensor,  # [streams, pages of a stream], None without
    page_stream: tl.tensor,
    lengths: tl.tensor,
    seen: tl.tensor,
    seen_stream: tl.tensor,
    seen_row: tl.tensor,
    parts: tl.tensor,  # [streams, chunks, rows, heads, HEAD_DIM] float32, or where there is one chunk the result
    weights: tl.tensor,  # [streams, chunks, rows, heads] float32, log2 of each part's sum of exponentials
    rows: tl.tensor,
    chunks: tl.tensor,
    chunk: tl.tensor,  # positions of a chunk, a multiple of TILE_N
    factor: tl.tensor,  # of the scores, for exponentials of base 2
    value_scale: tl.tensor,
    live: tl.tensor,
    GROUP: tl.constexpr,
    HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    MASKED: tl.constexpr,
    SINGLE: tl.constexpr,  # one chunk
    PAGE: tl.constexpr,  # positions of a page, a multiple of TILE_N; 0 without pages
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    stream = tl.program_id(2).to(tl.int64)
    kv_head = tl.program_id(1) % (HEADS // GROUP)
    packed = tl.program_id(1) // (HEADS // GROUP) * TILE_M + tl.arange(0, TILE_M)
    row, head = packed // GROUP, kv_head * GROUP + packed % GROUP
    kept = row < rows
    cached = tl.load(lengths + stream)
    first = tl.program_id(0) * chunk
    last = tl.minimum(first + chunk, cached + rows)
    place = ((stream * chunks + tl.program_id(0)) * rows + row) * HEADS + head
    if first >= last:
        tl.store(weights + place, tl.full((TILE_M,), -float("inf"), tl.float32), mask=kept)
        return
    d = tl.arange(0, HEAD_DIM)
    q_place = query + stream * query_stream + row[:, None] * query_row + head[:, None] * query_head + d[None, :]
    q = tl.load(q_place, mask=kept[:, None], other=0.0)
    place_of_head = kv_head.to(tl.int64) * cache_head
    top = tl.full((TILE_M,), -float("inf"), tl.float32)
    mass = tl.zeros((TILE_M,), tl.float32)
    mixed = tl.zeros((TILE_M, HEAD_DIM), tl.float32)
    for start in range(first, last, TILE_N):
        position = start + tl.arange(0, TILE_N)
        there = position < cached + rows
        if PAGE == 0:
            within, at = place_of_head + stream * cache_stream, position
        else:
            page = tl.load(pages + stream * page_stream + start // PAGE)
            within, at = place_of_head + page.to(tl.int64) * cache_stream, position % PAGE
        k_place = keys + within + at[None, :] * cache_position + d[:, None]
        k = tl.load(k_place, mask=there[None, :], other=0.0).to(q.dtype)
        sees = there[None, :] & kept[:, None]
        if MASKED and start + TILE_N > cached:
            sees = sees & _sees(seen + stream * seen_stream + row * seen_row, start - cached, kept, TILE_N)
        scores = tl.where(sees, tl.dot(q, k) * factor, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, axis=1))
        base = tl.where(higher == -float("inf"), 0.0, higher)  # a row that has seen nothing yet
        p = tl.exp2(scores - base[:, None])
        shrink = tl.exp2(top - base)
        v_place = values + within + at[:, None] * cache_position + d[None, :]
        v = tl.load(v_place, mask=there[:, None], other=0.0).to(q.dtype)
        mass = mass * shrink + tl.sum(p, axis=1)
        mixed = tl.dot(p.to(q.dtype), v, mixed * shrink[:, None])
        top = higher
    some = mass > 0.0
    result = mixed * (value_scale / tl.where(some, mass, 1.0))[:, None]
    if SINGLE:
        tl.store(parts + place[:, None] * HEAD_DIM + d[None, :], result.to(parts.dtype.element_ty), mask=kept[:, None])
    else:
        tl.store(parts + place[:, None] * HEAD_DIM + d[None, :], result, mask=kept[:, None])
        tl.store(weights + place, tl.where(some, top + tl.log2(tl.where(some, mass, 1.0)), -float("inf")), mask=kept)


@triton.jit
def _sees(words: tl.tensor, own: tl.tensor, kept: tl.tensor, TILE_N: tl.constexpr) -> tl.tensor:
    """Whether rows see the TILE_N ≤ 64 new rows from number `own` on, which may be as low as −63: up to 0 lies what is cached."""
    word, shift = (own + 64) // 32, ((own + 64) % 32).to(tl.uint64)
    low = tl.load(words + word, mask=kept, other=0).to(tl.uint32, bitcast=True).to(tl.uint64)
    middle = tl.load(words + word + 1, mask=kept, other=0).to(tl.uint32, bitcast=True).to(tl.uint64)
    high = tl.load(words + word + 2, mask=kept, other=0).to(tl.uint32, bitcast=True).to(tl.uint64)
    window = ((low | middle << 32) >> shift) | ((high << 32) << (32 - shift))
    return ((window[:, None] >> tl.arange(0, TILE_N).to(tl.uint64)[None, :]) & 1) != 0


@triton.jit(do_not_specialize=["plane", "chunks"])
def merge_chunks(
    parts: tl.tensor,
    weights: tl.tensor,
    result: tl.tensor,
    plane: tl.tensor,
    chunks: tl.tensor,
    live: tl.tensor,
    CHUNKS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    DEPENDENT: tl.constexpr,
) -> None:
    wait_turn(DEPENDENT)
    if idle(live):
        return
    place = tl.program_id(1).to(tl.int64) * chunks * plane + tl.program_id(0)  # of chunk 0; plane = rows · heads
    chunk, d = tl.arange(0, CHUNKS), tl.arange(0, HEAD_DIM)
    weight = tl.load(weights + place + chunk * plane, mask=chunk < chunks, other=-float("inf"))
    share = tl.exp2(weight - tl.max(weight, axis=0))
    used = (weight != -float("inf"))[:, None]
    part = tl.load(parts + (place + chunk * plane)[:, None] * HEAD_DIM + d[None, :], mask=used, other=0.0)
    mixed = tl.sum(part * share[:, None], axis=0) / tl.sum(share, axis=0)
    to = result + (tl.program_id(1).to(tl.int64) * plane + tl.program_id(0)) * HEAD_DIM + d
    tl.store(to, mixed.to(result.dtype.element_ty))


class _Cut(NamedTuple):
    """How the work is cut."""

    m: int  # packed queries of a tile
    n: int  # positions a turn
    row_tiles: int
    chunk: int
    chunks: int
    warps: int


def attend(gpu: Gpu, query: Tensor, cached: Cached, seen: Seen | None = None, live: Tensor | None = None) -> Tensor:
    """See the twin. Keys and values of one stride, head_dim a power of two of 16 or more."""
    streams, rows, heads, head_dim = query.shape
    kv_heads = cached.keys.shape[1]
    assert cached.keys.stride() == cached.values.stride() and cached.keys.stride(3) == query.stride(3) == 1
    assert head_dim == power(head_dim) >= 16 and (seen is None or seen.words.is_contiguous())
    cut = _cut(gpu, streams, rows, heads // kv_heads, kv_heads, head_dim, cached.capacity)
    assert cached.page % cut.n == 0, "a tile lies on one page"
    single, device = cut.chunks == 1, query.device
    result = torch.empty((streams, rows, heads * head_dim), dtype=query.dtype, device=device)
    parts = result if single else torch.empty((streams, cut.chunks, rows, heads, head_dim), dtype=torch.float32, device=device)
    weights = torch.empty((streams, cut.chunks, rows, heads), dtype=torch.float32, device=device)
    gpu.launch(
        attend_chunk,
        (cut.chunks, kv_heads * cut.row_tiles, streams),
        query,
        *query.stride()[:3],
        cached.keys,
        cached.values,
        *cached.keys.stride()[:3],
        cached.pages,
        0 if cached.pages is None else cached.pages.stride(0),
        cached.lengths,
        None if seen is None else seen.words,
        0 if seen is None or seen.words.dim() == 2 else seen.words.stride(0),
        0 if seen is None else seen.words.shape[-1],
        parts,
        weights,
        rows,
        cut.chunks,
        cut.chunk,
        cached.key_scale * head_dim**-0.5 * 1.4426950408889634,
        cached.value_scale,
        live,
        heads // kv_heads,
        heads,
        head_dim,
        seen is not None,
        single,
        cached.page,
        cut.m,
        cut.n,
        num_warps=cut.warps,
        num_stages=3,
    )
    if not single:
        grid = (rows * heads, streams)
        gpu.launch(merge_chunks, grid, parts, weights, result, rows * heads, cut.chunks, live, _MOST_CHUNKS, head_dim, num_warps=4)
    return result


def _cut(gpu: Gpu, streams: int, rows: int, group: int, kv_heads: int, head_dim: int, capacity: int) -> _Cut:
    """Not measured on a GPU yet.

    What a row's sums go by, its chunks and turns, follows from capacity and streams: not from what is cached, nor from the rows up to 127.
    """
    wide = gpu.capability in (90, 100)  # their matrix instruction takes 64 rows at least
    m = min(max(power(rows * group), 64 if wide else 16), 128 if wide else 64)
    n = 64 if wide and head_dim <= 64 else 32  # more, and registers run out
    row_tiles = -(-rows * group // m)
    wanted = max(1, min(_MOST_CHUNKS, 2 * gpu.processors // (streams * kv_heads * max(1, rows // 64))))
    chunk = -(-capacity // (wanted * n)) * n
    warps = 8 if m == 128 or (m == 64 and not wide) else 4
    return _Cut(m, n, row_tiles, chunk, -(-capacity // chunk), warps)

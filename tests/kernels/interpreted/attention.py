"""Attention over caches against a float64 softmax written out."""

from __future__ import annotations

import pytest
import torch
from interpreter import CHIP, EPSILON, fresh
from torch import Tensor

from kernels.gpu.attention import attend
from kernels.launch import Gpu
from kernels.streams import Cached, seen_bits
from kernels.streams import attend as twin

NARROW = torch.float8_e4m3fn


def exactly(query: Tensor, cached: Cached, seen: Tensor | None) -> Tensor:
    streams, rows, heads, head_dim = query.shape
    group = heads // cached.keys.shape[1]
    result = torch.zeros(streams, rows, heads, head_dim, dtype=torch.float64)
    for stream, length in enumerate(cached.lengths.tolist()):
        keys = cached.keys[stream, :, : length + rows].double() * cached.key_scale
        values = cached.values[stream, :, : length + rows].double() * cached.value_scale
        for row in range(rows):
            sees = torch.ones(length + rows, dtype=torch.bool)
            if seen is not None:
                sees[length:] = (seen if seen.dim() == 2 else seen[stream])[row]
            for head in range(heads):
                scores = keys[head // group, sees] @ query[stream, row, head].double() / head_dim**0.5
                result[stream, row, head] = torch.softmax(scores, dim=0) @ values[head // group, sees]
    return result.view(streams, rows, -1)


def caches(streams: int, kv_heads: int, capacity: int, head_dim: int, dtype: torch.dtype, generator: torch.Generator) -> list[Tensor]:
    """Keys and values with room around them, everything beyond a stream's own rows poisoned by the caller."""
    whole = torch.randn(2, streams, kv_heads + 1, capacity, head_dim + 16, generator=generator).to(dtype)
    return [part[:, 1:, :, :head_dim] for part in whole]


CASES = [
    # rows, heads, kv_heads, head_dim, capacity, lengths, seen, dtype, cache
    (1, 1, 1, 16, 64, [0], None, torch.bfloat16, torch.bfloat16),
    (1, 2, 1, 16, 64, [1], "causal", torch.float16, torch.float16),
    (8, 6, 2, 32, 200, [0, 1, 63], "causal", torch.bfloat16, torch.bfloat16),
    (5, 9, 3, 64, 320, [65], "streams", torch.bfloat16, torch.bfloat16),
    (33, 14, 2, 16, 192, [130], None, torch.bfloat16, torch.bfloat16),
    (16, 4, 4, 32, 256, [127, 128], "any", torch.bfloat16, torch.bfloat16),
    (8, 4, 2, 32, 256, [100, 200], None, torch.bfloat16, NARROW),
    (65, 2, 1, 16, 256, [150], "causal", torch.float16, NARROW),
]


def mask(kind: str | None, streams: int, rows: int, generator: torch.Generator) -> Tensor | None:
    if kind is None:
        return None
    if kind == "causal":
        return torch.ones(rows, rows, dtype=torch.bool).tril()
    seen = torch.rand(*((streams,) if kind == "streams" else ()), rows, rows, generator=generator) < 0.5
    return seen | torch.eye(rows, dtype=torch.bool)


@pytest.mark.parametrize(("rows", "heads", "kv_heads", "head_dim", "capacity", "lengths", "kind", "dtype", "stored"), CASES)
def test_what_is_seen_is_mixed(
    rows: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    capacity: int,
    lengths: list[int],
    kind: str | None,
    dtype: torch.dtype,
    stored: torch.dtype,
) -> None:
    generator = fresh("attention")
    streams = len(lengths)
    query = torch.randn(streams, rows, heads, head_dim + 8, generator=generator).to(dtype)[..., :head_dim]
    keys, values = caches(streams, kv_heads, capacity, head_dim, stored, generator)
    for stream, length in enumerate(lengths):
        keys[stream, :, length + rows :] = torch.nan
        values[stream, :, length + rows :] = torch.nan
    scales = (0.5, 3.0) if stored == NARROW else (1.0, 1.0)
    cached = Cached(keys, values, torch.tensor(lengths, dtype=torch.int32), *scales)
    seen = mask(kind, streams, rows, generator)
    bits = None if seen is None else seen_bits(seen)
    found = attend(CHIP, query, cached, bits)
    assert found.dtype == dtype and found.shape == (streams, rows, heads * head_dim)
    expected = exactly(query, cached, seen)
    # Each share is rounded to the dtype once, and the result once; shares sum to 1.
    allowed = EPSILON[dtype] * 2 * cached.value_scale * 2
    assert float((found.double() - expected).abs().max()) < allowed
    assert float((twin(query, cached, bits).double() - expected).abs().max()) < 3 * allowed


def test_a_row_depends_on_what_it_sees_only() -> None:
    """To the last bit: neither on the rows beside it nor on what lies behind them. What verification rests on."""
    generator = fresh("alone")
    keys, values = caches(1, 2, 512, 128, torch.bfloat16, generator)
    query = torch.randn(1, 70, 4, 128, generator=generator).to(torch.bfloat16)
    causal = torch.ones(70, 70, dtype=torch.bool).tril()
    together = attend(CHIP, query, Cached(keys, values, torch.tensor([180], dtype=torch.int32)), seen_bits(causal))
    for row in (0, 9, 69):
        alone = attend(CHIP, query[:, row : row + 1], Cached(keys, values, torch.tensor([180 + row], dtype=torch.int32)))
        assert torch.equal(alone[0, 0], together[0, row])


@pytest.mark.parametrize("processors", [1, 8, 200])
def test_any_number_of_chunks_gives_the_same(processors: int) -> None:
    generator = fresh("chunks")
    keys, values = caches(1, 1, 700, 16, torch.float16, generator)
    query = torch.randn(1, 4, 2, 16, generator=generator).to(torch.float16)
    cached = Cached(keys, values, torch.tensor([500], dtype=torch.int32))
    found = attend(Gpu(80, processors), query, cached)
    assert float((found.double() - exactly(query, cached, None)).abs().max()) < 2 * EPSILON[torch.float16]


@pytest.mark.parametrize(("lengths", "stored"), [([0, 70, 250], torch.bfloat16), ([127, 128], NARROW)])
def test_pages_are_read_as_one_piece_is(lengths: list[int], stored: torch.dtype) -> None:
    """To the last bit: the tiles are the same. Pages lie in any order, and what is in nobody's is poisoned."""
    generator = fresh("pages")
    streams, rows, page, count = len(lengths), 6, 64, 5
    query = torch.randn(streams, rows, 4, 32, generator=generator).to(torch.bfloat16)
    whole = [torch.randn(streams, 2, page * count, 32, generator=generator).to(stored) for _ in range(2)]
    pages = torch.randperm(streams * count + 3, generator=generator)[: streams * count].view(streams, count).to(torch.int32)
    memory = [torch.full((streams * count + 3, 2, page, 32), torch.nan).to(stored) for _ in range(2)]
    for part, held in zip(memory, whole, strict=True):
        part[pages.long()] = held.view(streams, 2, count, page, 32).transpose(1, 2)
    ends = torch.tensor(lengths, dtype=torch.int32)
    seen = seen_bits(torch.ones(rows, rows, dtype=torch.bool).tril())
    paged, plain = Cached(*memory, ends, 0.5, 2.0, pages), Cached(*whole, ends, 0.5, 2.0)
    for way in (lambda cached: attend(CHIP, query, cached, seen), lambda cached: twin(query, cached, seen)):
        assert torch.equal(way(paged), way(plain))

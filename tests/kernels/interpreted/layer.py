"""The fused halves of a layer against float64, from weights in every form."""

from __future__ import annotations

import pytest
import torch
from interpreter import CHIP, EPSILON, fresh
from torch import Tensor

from kernels.gpu.attention import attend
from kernels.gpu.mlp import gate_up
from kernels.gpu.projection import project
from kernels.gpu.qkv import qkv
from kernels.launch import Gpu
from kernels.mlp import gate_up as gate_up_twin
from kernels.mlp import project as project_twin
from kernels.qkv import Qkv, Turns, folded
from kernels.qkv import qkv as qkv_twin
from kernels.streams import Cached
from kernels.weight import Kind, Weight, dense, narrowed

EPS = 1e-5
BF16, FP16, NARROW = torch.bfloat16, torch.float16, torch.float8_e4m3fn


def exact(weight: Weight) -> Tensor:
    return dense(weight._replace(scale=None if weight.scale is None else weight.scale.double()), torch.float64)


def random_weight(out: int, into: int, kind: Kind, dtype: torch.dtype, generator: torch.Generator) -> Weight:
    return narrowed((torch.randn(out, into, generator=generator) / into**0.5).to(dtype), kind)


def normed(x: Tensor) -> Tensor:
    return x.double() / torch.sqrt(x.double().square().mean(dim=-1, keepdim=True) + EPS)


# An int4 weight is rounded to the dtype first: so many roundings of a sum of squares of 1 are five deviations and more.
INT4_ROUNDINGS = 2.5


def assert_near(found: Tensor, expected: Tensor, kind: Kind, reach: Tensor | float = 1.0) -> None:
    """One rounding of the result, sums in float32, and with int4 that of the weights, which `reach` carries into the result."""
    allowed = EPSILON[found.dtype] * 0.5 * expected.abs() + 4e-5
    if kind == "int4":
        allowed = allowed + EPSILON[found.dtype] * INT4_ROUNDINGS * reach
    assert bool(((found.double() - expected).abs() <= allowed).all())


PRODUCTS: list[tuple[int, int, int, Kind, torch.dtype]] = [
    # rows, out, into
    (1, 3, 8, "plain", BF16),
    (7, 130, 200, "plain", FP16),
    (33, 64, 328, "plain", BF16),
    (66, 70, 1100, "plain", BF16),
    (8, 65, 256, "int8", BF16),
    (17, 64, 72, "fp8", BF16),
    (16, 66, 576, "int4", BF16),
    (5, 40, 256, "int4", FP16),
]


@pytest.mark.parametrize(("rows", "out", "into", "kind", "dtype"), PRODUCTS)
@pytest.mark.parametrize("processors", [1, 50])  # columns whole, and split
def test_projection(rows: int, out: int, into: int, kind: Kind, dtype: torch.dtype, processors: int) -> None:
    generator = fresh("projection")
    x = torch.randn(rows, into + 5, generator=generator).to(dtype)[:, :into]
    residual = torch.randn(rows, out + 2, generator=generator).to(dtype)[:, :out]
    weight = random_weight(out, into, kind, dtype, generator)
    expected = residual.double() + x.double() @ exact(weight).T
    assert_near(project(Gpu(90, processors), x, weight, residual), expected, kind)
    torch.testing.assert_close(project_twin(x, weight, residual).double(), expected, rtol=4 * EPSILON[dtype], atol=8 * EPSILON[dtype])


@pytest.mark.parametrize(("rows", "out", "into", "kind", "dtype"), PRODUCTS)
def test_gate_and_up(rows: int, out: int, into: int, kind: Kind, dtype: torch.dtype) -> None:
    generator = fresh("gate and up")
    x = torch.randn(rows, into + 3, generator=generator).to(dtype)[:, :into] * 3
    weight = random_weight(2 * out, into, kind, dtype, generator)
    gate, up = (normed(x) @ exact(weight).T).chunk(2, dim=1)
    expected = gate * torch.sigmoid(gate) * up
    assert_near(gate_up(CHIP, x, weight, EPS), expected, kind, (1 + gate.abs()) * (1 + up.abs()))
    torch.testing.assert_close(gate_up_twin(x, weight, EPS).double(), expected, rtol=8 * EPSILON[dtype], atol=16 * EPSILON[dtype])


LAYERS: list[tuple[int, int, int, int, int, int, Kind, torch.dtype, bool, bool]] = [
    # streams, rows, heads, kv_heads, head_dim, width, kind, cache's dtype, bias, norms
    (1, 1, 1, 1, 16, 24, "plain", BF16, False, False),
    (3, 5, 6, 2, 32, 136, "plain", BF16, True, False),
    (1, 33, 3, 3, 64, 64, "plain", BF16, False, True),
    (2, 8, 4, 2, 16, 128, "int8", NARROW, True, True),
    (1, 9, 2, 1, 32, 96, "fp8", NARROW, False, False),
    (1, 4, 3, 1, 64, 192, "int4", BF16, True, False),
]


@pytest.mark.parametrize(("streams", "rows", "heads", "kv_heads", "head_dim", "width", "kind", "stored", "biased", "with_norms"), LAYERS)
def test_queries_and_the_cache(
    streams: int,
    rows: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    width: int,
    kind: Kind,
    stored: torch.dtype,
    biased: bool,
    with_norms: bool,
) -> None:
    generator = fresh("qkv")
    out = (heads + 2 * kv_heads) * head_dim
    x = torch.randn(streams, rows, width, generator=generator).to(BF16) * 2
    bias = torch.randn(out, generator=generator).to(BF16) if biased else None
    norms = (torch.rand(2, head_dim, generator=generator) + 0.5).to(BF16) if with_norms else None
    layer = Qkv(random_weight(out, width, kind, BF16, generator), heads, EPS, bias, norms)
    angles = torch.rand(streams, rows, head_dim // 2, generator=generator) * 6
    turns = Turns(angles.cos(), angles.sin())
    lengths = torch.randperm(20, generator=generator)[:streams].to(torch.int32)
    scales = (0.25, 0.5) if stored == NARROW else (1.0, 1.0)
    blank = torch.full((2, streams, kv_heads, 20 + rows, head_dim + 8), 7.0).to(stored)
    ours, theirs = (Cached(*(part[..., :head_dim] for part in blank.clone()), lengths, *scales) for _ in range(2))

    found = normed(x) @ exact(layer.weight).T + (0 if bias is None else bias.double())
    q, k, v = found.view(streams, rows, -1, head_dim).split((heads, kv_heads, kv_heads), dim=2)
    if norms is not None:
        q, k = normed(q) * norms[0].double(), normed(k) * norms[1].double()
    turn = torch.polar(torch.ones_like(angles, dtype=torch.float64), angles.double())[:, :, None]

    def turned(part: Tensor) -> Tensor:
        product = torch.complex(*part.chunk(2, dim=-1)) * turn
        return torch.cat((product.real, product.imag), dim=-1)

    queries = qkv(CHIP, x, layer, turns, ours)
    assert_near(queries, turned(q), kind)
    torch.testing.assert_close(qkv_twin(x, layer, turns, theirs).double(), turned(q), rtol=0.05, atol=0.1)
    for cache in (ours, theirs):
        for part, scale, expected in ((cache.keys, cache.key_scale, turned(k)), (cache.values, cache.value_scale, v)):
            step = 2**-3 if stored == NARROW else EPSILON[BF16] * (1 if cache is ours else 8)
            for stream, length in enumerate(lengths.tolist()):
                written = part[stream, :, length : length + rows].double() * scale
                meant = expected[stream].transpose(0, 1)
                assert bool(
                    (
                        (written - meant).abs() <= step * (meant.abs() + (INT4_ROUNDINGS if kind == "int4" or cache is theirs else 1e-2))
                    ).all()
                )
                before, after = part[stream, :, :length], part[stream, :, length + rows :]
                assert bool((before.float() == 7).all()) and bool((after.float() == 7).all())


def test_a_gain_in_the_columns_is_a_gain_of_the_norm() -> None:
    generator = fresh("gain")
    x, gain, weight = torch.randn(3, 40, generator=generator), torch.rand(40, generator=generator), torch.randn(6, 40, generator=generator)
    expected = torch.nn.functional.rms_norm(x, (40,), gain, EPS) @ weight.T
    torch.testing.assert_close(project_twin(normed(x).float(), narrowed(folded(weight, gain), "plain"), torch.zeros(3, 6)), expected)


@pytest.mark.parametrize("op", ["qkv", "attend", "gate_up", "project", "project split"])
def test_nothing_is_done_where_nothing_lives(op: str) -> None:
    """Memory stays what it was: poisoned where it is the result's, and the cache as it is."""
    generator = fresh("nothing lives")
    none, some = (torch.full((1,), count, dtype=torch.int32) for count in (0, 3))
    x = torch.randn(5, 1100 if op == "project split" else 64, generator=generator).to(BF16)
    blank = torch.zeros(2, 1, 2, 40, 16, dtype=BF16)
    cached = Cached(blank[0], blank[1], torch.tensor([4], dtype=torch.int32))
    turns = Turns(torch.ones(1, 5, 8), torch.zeros(1, 5, 8))

    def run(live: Tensor) -> Tensor:
        if op == "qkv":
            return qkv(CHIP, x[None], Qkv(random_weight(128, 64, "plain", BF16, generator), 4, EPS), turns, cached, live)
        if op == "attend":
            return attend(CHIP, x.view(1, 5, 4, 16), cached, None, live)
        if op == "gate_up":
            return gate_up(CHIP, x, random_weight(64, 64, "plain", BF16, generator), EPS, live)
        return project(Gpu(90, 50), x, random_weight(70, x.shape[1], "plain", BF16, generator), torch.zeros(5, 70, dtype=BF16), live)

    assert bool(run(none).isnan().all()) and not bool(blank.any())
    assert not bool(run(some).isnan().any()) and bool(blank.any()) == (op == "qkv")


def test_pages_are_written_where_the_table_says() -> None:
    """Across the end of a page, in two streams; nothing else changes."""
    generator = fresh("written pages")
    x = torch.randn(2, 9, 64, generator=generator).to(BF16)
    layer = Qkv(random_weight(128, 64, "plain", BF16, generator), 4, EPS)
    angles = torch.rand(2, 9, 8, generator=generator)
    turns, lengths = Turns(angles.cos(), angles.sin()), torch.tensor([60, 3], dtype=torch.int32)
    pages = torch.tensor([[4, 1, 2], [0, 5, 3]], dtype=torch.int32)
    plain = Cached(*torch.full((2, 2, 2, 192, 16), 7.0).to(BF16), lengths)
    query = qkv(CHIP, x, layer, turns, plain)
    for run in (lambda cached: qkv(CHIP, x, layer, turns, cached), lambda cached: qkv_twin(x, layer, turns, cached)):
        paged = Cached(*torch.full((2, 6, 2, 64, 16), 7.0).to(BF16), lengths, pages=pages)
        torch.testing.assert_close(run(paged), query, rtol=0.02, atol=0.02)
        for stream in range(2):
            for part, whole in ((paged.keys, plain.keys), (paged.values, plain.values)):
                torch.testing.assert_close(paged.held(part, stream, 192), whole[stream], rtol=0.02, atol=0.02)

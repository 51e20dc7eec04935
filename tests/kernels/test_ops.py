"""Each op against its definition written the slow way in float64, on odd shapes."""

from __future__ import annotations

import math

import pytest
import torch

from kernels.attention import block_attention
from kernels.chain import chain_ids
from kernels.confidence import best_ids, likeliest, text_logits
from kernels.linear import pack
from kernels.rotary import rotary_table, rotate

# The distance from 1 to the next number of the dtype.
EPSILON = {torch.float32: 2**-23, torch.bfloat16: 2**-8}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("rows", "heads", "kv_heads", "head_dim", "length"), [(1, 3, 1, 8, 1), (5, 6, 2, 16, 5), (7, 9, 3, 64, 261), (33, 4, 4, 24, 40)]
)
def test_attention(rows: int, heads: int, kv_heads: int, head_dim: int, length: int, causal: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(rows * length)
    query = torch.randn(rows, heads, head_dim, dtype=dtype)
    capacity = torch.randn(2, kv_heads, length + 3, head_dim, dtype=dtype)  # a cache longer than what is used of it
    keys, values = capacity[0], capacity[1]
    expected = torch.zeros(rows, heads, head_dim, dtype=torch.float64)
    for row in range(rows):
        seen = length - rows + row + 1 if causal else length
        for head in range(heads):
            k, v = keys[head // (heads // kv_heads), :seen].double(), values[head // (heads // kv_heads), :seen].double()
            weights = torch.softmax(k @ query[row, head].double() / math.sqrt(head_dim), dim=0)
            expected[row, head] = weights @ v
    seen = torch.ones(rows, rows, dtype=torch.bool)
    actual = block_attention(query, keys, values, seen.tril() if causal else seen, cached=length - rows)
    assert actual.dtype == dtype
    assert float((actual.double() - expected.view(rows, -1)).abs().max()) < 4 * EPSILON[dtype]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("rows", "into", "out"), [(1, 64, 96), (8, 576, 960), (3, 40, 7), (130, 72, 33)])
def test_packed_products(rows: int, into: int, out: int, dtype: torch.dtype) -> None:
    torch.manual_seed(rows + out)
    x, weight = torch.randn(rows, into, dtype=dtype), torch.randn(out, into, dtype=dtype)
    expected = x.double() @ weight.double().T
    packed = pack(weight.clone())(x)
    assert packed.shape == (rows, out) and packed.dtype == dtype
    # A float32 sum's rounding grows with the sum of magnitudes, and the result is rounded once to its own dtype.
    allowed = EPSILON[torch.float32] * math.sqrt(into) * (x.double().abs() @ weight.double().abs().T) + EPSILON[dtype] * expected.abs()
    assert bool(((packed.double() - expected).abs() <= allowed).all())


@pytest.mark.parametrize(("into", "out"), [(576, 960), (1536, 576), (40, 7)])
def test_a_rows_packed_product_does_not_depend_on_its_neighbours(into: int, out: int) -> None:
    torch.manual_seed(into)
    weight, x = torch.randn(out, into, dtype=torch.bfloat16), torch.randn(130, into, dtype=torch.bfloat16)
    product = pack(weight.clone())
    together = product(x)
    for rows in (1, 2, 3, 8, 17, 64):
        for first in range(0, 130 - rows, 13):
            assert_same(product(x[first : first + rows]), together[first : first + rows])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("length", [20, 261, 700])
def test_a_rows_attention_does_not_depend_on_its_neighbours(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(length)
    query, keys, values = torch.randn(16, 9, 64, dtype=dtype), *torch.randn(2, 3, length, 64, dtype=dtype)
    together = block_attention(query, keys, values, torch.ones(16, 16, dtype=torch.bool).tril(), cached=length - 16)
    for first, rows in ((0, 1), (3, 1), (0, 8), (5, 7), (8, 8), (15, 1), (2, 4)):
        end, seen = length - 16 + first + rows, torch.ones(rows, rows, dtype=torch.bool).tril()
        part = block_attention(query[first : first + rows], keys[:, :end], values[:, :end], seen, cached=end - rows)
        if dtype == torch.bfloat16:
            assert_same(part, together[first : first + rows])
        else:
            torch.testing.assert_close(part, together[first : first + rows], rtol=1e-5, atol=1e-6)


def assert_same(part: torch.Tensor, whole: torch.Tensor) -> None:
    """Bit for bit, but for one element in a thousand that may be the next number: another CPU may sum in another order."""
    differing = part != whole
    assert float(differing.float().mean()) <= max(0.001, 1 / part.numel())
    assert bool(((part.float() - whole.float()).abs() <= 2**-7 * whole.float().abs())[differing].all())


@pytest.mark.parametrize(("rows", "vocab", "width"), [(1, 11, 4), (7, 4097, 24), (33, 513, 8), (2, 3, 5), (6, 64, 4), (9, 1280, 12)])
def test_confidence(rows: int, vocab: int, width: int) -> None:
    torch.manual_seed(vocab)
    hidden, weight = torch.randn(rows, width), torch.randn(vocab, width) * 2
    plain = hidden.double() @ weight.double().T
    banned = plain.argmax(-1)[: rows // 2 + 1].unique()  # what would be best in half of the rows
    plain[:, banned] = -math.inf
    probabilities = torch.softmax(plain, dim=-1)
    best = best_ids(text_logits(hidden, pack(weight), banned))
    assert torch.equal(best.ids, probabilities.argmax(-1))
    assert not set(best.ids.tolist()) & set(banned.tolist())
    torch.testing.assert_close(best.confidence.double(), probabilities.amax(-1), rtol=1e-5, atol=0)


@pytest.mark.parametrize(("rows", "vocab", "count"), [(5, 64 * 40, 16), (1, 64 * 16, 16), (3, 64 * 15, 16), (4, 64 * 3, 1), (2, 65, 3)])
def test_the_likeliest(rows: int, vocab: int, count: int) -> None:
    torch.manual_seed(vocab)
    logits = torch.randn(rows, vocab)
    logits[:, torch.randperm(vocab)[: vocab // 3]] = -math.inf
    logits[0, :count] = 9 + torch.arange(float(count))  # all of them in one tile
    values, ids = likeliest(logits, count)
    assert torch.equal(values, logits.sort(dim=-1, descending=True).values[:, :count])
    assert torch.equal(logits.gather(1, ids), values)


def test_of_equal_logits_in_several_tiles_the_lowest_id_is_best() -> None:
    logits = torch.zeros(2, 64 * 5)
    logits[0, [70, 75, 200]] = logits[1, [319, 130]] = 2.0
    assert best_ids(logits).ids.tolist() == [70, 130]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_of_equal_logits_the_lowest_id_is_best(dtype: torch.dtype) -> None:
    hidden, weight = torch.ones(2, 3, dtype=dtype), torch.zeros(9, 3, dtype=dtype)
    weight[[0, 1, 5]] = 1
    best = best_ids(text_logits(hidden, pack(weight), torch.tensor([0])))
    assert best.ids.tolist() == [1, 1]
    torch.testing.assert_close(best.confidence, torch.full((2,), 1 / (2 + 6 * math.exp(-3))))


def test_rotary_is_a_rotation_by_the_position() -> None:
    """Checked as complex numbers, which is how the paper writes it."""
    positions, head_dim, theta = 37, 10, 1000.0
    torch.manual_seed(3)
    x = torch.randn(positions, 3, head_dim, dtype=torch.float64)
    cos, sin = rotary_table(positions, head_dim, theta)
    turned = rotate(x.float(), cos, sin).double()
    half = head_dim // 2
    pairs = torch.complex(x[..., :half], x[..., half:])
    for position in range(positions):
        for pair in range(half):
            angle = position * theta ** (-2 * pair / head_dim)
            expected = pairs[position, :, pair] * complex(math.cos(angle), math.sin(angle))
            assert torch.allclose(turned[position, :, pair], expected.real, atol=1e-5)
            assert torch.allclose(turned[position, :, half + pair], expected.imag, atol=1e-5)


@pytest.mark.parametrize("vocab", [40, 64 * 20])
def test_the_chain_head_sees_the_id_before(vocab: int) -> None:
    torch.manual_seed(5)
    slots, width, inner = 6, 12, 7
    hidden, embedding = torch.randn(slots, width), torch.randn(vocab, width)
    inward, outward = torch.randn(inner, 2 * width) * 0.3, torch.randn(width, inner) * 0.3
    logits = hidden @ embedding.T
    before, expected = 3, []
    for slot in range(slots):
        one = embedding[before] / embedding[before].square().mean().sqrt()
        x = inward @ torch.cat([hidden[slot], one])
        scores = logits[slot] + embedding @ (outward @ (x * torch.sigmoid(x)))
        allowed = logits[slot].topk(16).indices
        before = int(allowed[scores[allowed].argmax()])
        # An id that is no candidate keeps the weight that the logits gave it.
        weights = logits[slot].exp().index_put((allowed,), scores[allowed].exp())
        expected.append((before, float(weights[before] / weights.sum())))
    best = chain_ids(hidden, logits, 3, embedding, inward, outward)
    assert best.ids.tolist() == [index for index, _ in expected]
    torch.testing.assert_close(best.confidence, torch.tensor([sure for _, sure in expected]), rtol=1e-4, atol=1e-5)
    plain = chain_ids(hidden, logits, 3, embedding, inward, torch.zeros_like(outward))
    torch.testing.assert_close(plain, best_ids(logits))

"""Each op against its definition written the slow way in float64, on odd shapes."""

from __future__ import annotations

import math

import pytest
import torch

from kernels.attention import block_attention
from kernels.confidence import best_ids
from kernels.linear import Linear, pack
from kernels.rotary import rotary_table, rotate

# The distance from 1 to the next number of the dtype.
EPSILON = {torch.float32: 2**-23, torch.bfloat16: 2**-8}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("rows", "heads", "kv_heads", "head_dim", "length"), [(1, 3, 1, 8, 1), (5, 6, 2, 16, 5), (7, 9, 3, 64, 261), (33, 4, 4, 24, 40)])
def test_attention(rows: int, heads: int, kv_heads: int, head_dim: int, length: int, causal: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(rows * length)
    query = torch.randn(rows, heads, head_dim, dtype=dtype)
    capacity = torch.randn(2, kv_heads, length + 3, head_dim, dtype=dtype)  # a cache longer than what is used of it
    keys, values = capacity[0, :, :length], capacity[1, :, :length]
    expected = torch.zeros(rows, heads, head_dim, dtype=torch.float64)
    for row in range(rows):
        seen = length - rows + row + 1 if causal else length
        for head in range(heads):
            k, v = keys[head // (heads // kv_heads), :seen].double(), values[head // (heads // kv_heads), :seen].double()
            weights = torch.softmax(k @ query[row, head].double() / math.sqrt(head_dim), dim=0)
            expected[row, head] = weights @ v
    actual = block_attention(query, keys, values, causal=causal)
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


@pytest.mark.parametrize(("rows", "vocab", "width"), [(1, 11, 4), (7, 4097, 24), (33, 513, 8)])
def test_confidence(rows: int, vocab: int, width: int) -> None:
    torch.manual_seed(vocab)
    hidden, weight = torch.randn(rows, width), torch.randn(vocab, width) * 2
    plain = hidden.double() @ weight.double().T
    banned = plain.argmax(-1)[: rows // 2 + 1].unique()  # what would be best in half of the rows
    plain[:, banned] = -math.inf
    probabilities = torch.softmax(plain, dim=-1)
    best = best_ids(hidden, Linear(weight), banned)
    assert torch.equal(best.ids, probabilities.argmax(-1))
    assert not set(best.ids.tolist()) & set(banned.tolist())
    torch.testing.assert_close(best.confidence.double(), probabilities.amax(-1), rtol=1e-5, atol=0)


def test_of_equal_logits_the_lowest_id_is_best() -> None:
    hidden, weight = torch.ones(2, 3), torch.ones(9, 3)
    best = best_ids(hidden, Linear(weight), torch.tensor([0]))
    assert best.ids.tolist() == [1, 1]
    torch.testing.assert_close(best.confidence, torch.full((2,), 1 / 8))


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

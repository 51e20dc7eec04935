"""The head with its choice against a float64 twin."""

from __future__ import annotations

import math

import pytest
import torch
from interpreter import CHIP, EPSILON, fresh
from torch import Tensor

from kernels.choice import Choice, Listed, allow_all_but
from kernels.choice import choose as twin
from kernels.gpu.choice import choose
from kernels.noise import Noise
from kernels.weight import Weight, dense, narrowed


def listed(rows: int, count: int, generator: torch.Generator) -> Listed:
    return Listed(torch.randperm(rows, generator=generator).to(torch.int32), torch.tensor([count], dtype=torch.int32))


def exact(hidden: Tensor, head: Weight, allowed: Tensor | None) -> Tensor:
    """Logits in float64, the twin's bits read one by one."""
    logits = hidden.double() @ dense(head._replace(scale=None if head.scale is None else head.scale.double()), torch.float64).T
    if allowed is not None:
        for row in range(len(logits)):
            words = allowed[row % len(allowed)].tolist()
            logits[row, [index for index in range(head.out) if not words[index // 32] >> index % 32 & 1]] = -math.inf
    return logits


def assert_right(found: Choice, logits: Tensor, rows: Tensor, slack: float) -> None:
    """The id is the best but for `slack`, and the figures follow from logits that are off by no more."""
    chances = torch.softmax(logits, dim=-1)
    for row in rows.tolist():
        index = int(found.ids[row])
        best = logits[row].topk(2)
        assert logits[row, index] >= best.values[0] - 2 * slack
        if best.values[0] - best.values[1] > 2 * slack:
            assert index == int(best.indices[0])
        assert float(found.confidence[row]) == pytest.approx(float(chances[row, index]), rel=2 * slack + 1e-5)
        entropy = -float(torch.special.xlogy(chances[row], chances[row]).sum())
        assert float(found.entropy[row]) == pytest.approx(entropy, abs=4 * slack * (1 + entropy) + 1e-4)
        top = chances[row].topk(2).values
        assert float(found.margin[row]) == pytest.approx(float(top[0] - top[1]), abs=4 * slack + 1e-5)


CASES = [
    # rows, listed, vocab, width, kind, dtype, allowed rows (0: all ids)
    (1, 1, 3, 8, "plain", torch.bfloat16, 0),
    (7, 5, 300, 72, "plain", torch.bfloat16, 1),
    (33, 33, 257, 64, "plain", torch.float16, 33),
    (20, 0, 130, 32, "plain", torch.bfloat16, 1),
    (66, 40, 200, 40, "plain", torch.bfloat16, 1),
    (5, 3, 261, 128, "int8", torch.bfloat16, 5),
    (9, 9, 128, 96, "fp8", torch.float16, 1),
    (4, 4, 190, 192, "int4", torch.bfloat16, 1),
]


@pytest.mark.parametrize(("rows", "count", "vocab", "width", "kind", "dtype", "masks"), CASES)
def test_the_best_id_and_how_sure_it_is(rows: int, count: int, vocab: int, width: int, kind: str, dtype: torch.dtype, masks: int) -> None:
    generator = fresh("choice")
    hidden = torch.randn(rows, width + 3, generator=generator).to(dtype)[:, :width]  # rows apart by more than their width
    head = narrowed((torch.randn(vocab, width, generator=generator) / width**0.5 * 3).to(dtype), kind)  # type: ignore[arg-type]
    allowed = torch.randint(-(2**31), 2**31, (masks, -(-vocab // 32)), generator=generator).to(torch.int32) if masks else None
    slots = listed(rows, count, generator)
    found = choose(CHIP, hidden, head, slots, allowed)
    # Products are summed in float32, int4 weights are rounded to the dtype first.
    slack = EPSILON[dtype] * 4 if kind == "int4" else 1e-4
    picked = slots.rows[:count].long()
    assert_right(found, exact(hidden, head, allowed), picked, slack)
    untouched = torch.ones(rows, dtype=torch.bool).index_fill(0, picked, False)
    assert bool(found.confidence[untouched].isnan().all())
    theirs = twin(hidden, head, slots, allowed)
    torch.testing.assert_close(found.confidence[picked], theirs.confidence[picked], rtol=8 * EPSILON[dtype], atol=1e-5)


def test_of_equal_logits_the_lowest_allowed_id_is_best() -> None:
    hidden, weight = torch.ones(2, 16, dtype=torch.bfloat16), torch.zeros(400, 16, dtype=torch.bfloat16)
    weight[[3, 140, 141, 399]] = 1
    allowed = allow_all_but(torch.tensor([3]), 400)
    slots = Listed(torch.tensor([0, 1], dtype=torch.int32), torch.tensor([2], dtype=torch.int32))
    found = choose(CHIP, hidden, narrowed(weight, "plain"), slots, allowed)
    assert found.ids.tolist() == [140, 140]
    torch.testing.assert_close(found.margin, torch.zeros(2))
    torch.testing.assert_close(found.confidence, torch.full((2,), 1 / (3 + 396 * math.exp(-16))))


@pytest.mark.parametrize("temperature", [0.3, 1.7])
def test_what_is_drawn_is_what_the_twin_draws(temperature: float) -> None:
    generator = fresh("drawn")
    hidden = torch.randn(12, 32, generator=generator).to(torch.bfloat16)
    head = narrowed((torch.randn(333, 32, generator=generator) / 4).to(torch.bfloat16), "plain")
    slots, allowed = listed(12, 12, generator), allow_all_but(torch.arange(0, 333, 7), 333)
    drawn = []
    for step in range(3):
        noise = Noise(torch.tensor([int(torch.randint(-(2**31), 2**31, (1,), generator=generator)), step], dtype=torch.int32), temperature)
        ours = choose(CHIP, hidden, head, slots, allowed, noise)
        theirs = twin(hidden.float(), Weight(head.data.float(), None, "plain"), slots, allowed, noise)
        assert torch.equal(ours.ids, theirs.ids)
        torch.testing.assert_close(ours.confidence, theirs.confidence, rtol=1e-3, atol=1e-6)
        assert not set(ours.ids.tolist()) & set(range(0, 333, 7))
        drawn.append(ours.ids)
    assert not torch.equal(drawn[0], drawn[1])

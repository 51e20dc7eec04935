"""The two streams: who sees whom, what is predicted, and that the written-out gradients are those of the definition."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from tiny import NOISE, base, rows

from engine.training.attention import dense_attention, row_attention, row_mask, visible
from engine.training.base import Base, fresh_adapter
from engine.training.blocks import Batch, NoiseRules, Row, draw_anchors, pack
from engine.training.elementwise import swiglu, swiglu_backward
from engine.training.evaluate import _committed
from engine.training.objective import Objective, ObjectiveRules

EAGER = ObjectiveRules(compiled=False)


@pytest.fixture(scope="module")
def tiny() -> Base:
    return base(torch.float64)


def adapter_of(tiny: Base, seed: int = 1) -> dict[str, torch.Tensor]:
    """An adapter whose every tensor matters."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: torch.randn(value.shape, generator=generator).to(tiny.norm.dtype) * 0.1 for name, value in fresh_adapter(tiny, seed).items()
    }


def packed(*lengths: int, noise: NoiseRules = NOISE, seed: int = 0) -> Batch:
    return pack(rows(*lengths, seed=seed), noise, random.Random(seed))


# 1 and 2: a block without clean context, a slice of the clean stream with one query.
@pytest.mark.parametrize("lengths", [(300, 40, 129), (10,), (128, 128)])
def test_attention_row_by_row_is_the_definition(lengths: tuple[int, ...]) -> None:
    batch = packed(*lengths)
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(len(batch.ids), heads, 8, generator=generator, dtype=torch.float64, requires_grad=True) for heads in (4, 2, 2))
    scores = torch.einsum("qhd,khd->hqk", q, k.repeat_interleave(2, 1)).masked_fill(~visible(batch), -torch.inf)
    meant = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v.repeat_interleave(2, 1)).flatten(1)
    found = row_attention(q, k, v, batch)
    grad = torch.randn(meant.shape, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(found, meant)
    for ours, theirs in zip(torch.autograd.grad(found, (q, k, v), grad), torch.autograd.grad(meant, (q, k, v), grad), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)  # keys and values are summed up in float32


def test_attention_with_a_dense_mask_is_the_definition() -> None:
    batch = packed(60, 60, noise=replace(NOISE, sizes=(6,)))
    size, seen = batch.spans[0].end, visible(batch)
    mask = row_mask(batch)
    for row in range(2):
        own = slice(row * size, (row + 1) * size)
        assert torch.equal(mask[row, 0], seen[own, own])
    q, k, v = (torch.randn(len(batch.ids), heads, 8, dtype=torch.float64) for heads in (4, 2, 2))
    torch.testing.assert_close(dense_attention(q, k, v, mask), row_attention(q, k, v, batch))


def test_gradients_are_those_of_the_loss(tiny: Base) -> None:
    batch, adapter = packed(40, 33), adapter_of(tiny)
    leaves = {name: value.requires_grad_() for name, value in adapter.items()}
    objective = Objective(tiny, EAGER)
    objective(leaves, batch).total.backward()
    for name in ("special", "layers.0.qkv.A", "layers.1.gu.B", "layers.0.dn.A", "layers.1.o.B", "chain.in", "chain.out"):
        grad = leaves[name].grad
        assert grad is not None
        place = divmod(int(grad.abs().argmax()), grad.shape[1])
        moved = []
        for step in (1e-3, -1e-3):
            changed = {key: value.detach().clone() for key, value in leaves.items()}
            changed[name][place] += step
            moved.append(_plain_loss(objective, changed, batch, leaves))
        # The teacher is held still, as it is in training; the residual stream is float32, which leaves a percent to a difference.
        assert (moved[0] - moved[1]) / 2e-3 == pytest.approx(float(grad[place]), rel=0.01), name


def _plain_loss(objective: Objective, adapter: dict[str, torch.Tensor], batch: Batch, teacher: dict[str, torch.Tensor]) -> float:
    """The loss in so many words, from the states; ids 1..16 have no share in any distribution."""

    def logits(weights: dict[str, torch.Tensor], *, noisy: bool) -> torch.Tensor:
        head = torch.cat([weights["special"][:1], objective.base.embedding[17:]])
        hidden = objective.hidden(weights, batch)
        return (objective.noisy_states(weights, batch, hidden) if noisy else hidden[batch.clean_at]) @ head.T

    with torch.no_grad():
        clean_target, noisy_target = ((target - 16).clamp(min=0) for target in (batch.clean_target, batch.noisy_target))
        clean = F.cross_entropy(logits(adapter, noisy=False), clean_target, reduction="none")
        noisy = logits(adapter, noisy=True)
        soft = logits(teacher, noisy=False).softmax(-1)[batch.noisy_twin]
        mixed = 0.5 * F.cross_entropy(noisy, noisy_target, reduction="none") + 0.5 * F.cross_entropy(noisy, soft, reduction="none")
        clean_weight, noisy_weight = (weight / weight.sum() for weight in (batch.clean_weight, batch.noisy_weight))
    return float((clean * clean_weight).sum() + (mixed * noisy_weight).sum())


def test_a_noisy_slot_sees_no_clean_token_from_its_anchor_on(tiny: Base) -> None:
    row = rows(60)[0]
    noise = replace(NOISE, sizes=(4,), fully_masked=1.0)
    objective, adapter = Objective(tiny, EAGER), adapter_of(tiny)
    before = pack([row], noise, random.Random(3))
    for anchor in before.anchors.tolist():
        later = list(row.ids)
        later[anchor + 1 : -1] = [17 + (index - 17 + 5) % 256 for index in later[anchor + 1 : -1]]
        after = pack([replace(row, ids=tuple(later))], noise, random.Random(3))
        assert torch.equal(before.anchors, after.anchors)
        first = 60 + before.anchors.tolist().index(anchor) * 4
        with torch.no_grad():
            old, new = objective.hidden(adapter, before), objective.hidden(adapter, after)
        torch.testing.assert_close(new[first : first + 4], old[first : first + 4])
        torch.testing.assert_close(new[: anchor + 1], old[: anchor + 1])
        assert not torch.allclose(new[anchor + 1], old[anchor + 1])


def test_a_block_serves_as_it_trains(tiny: Base) -> None:
    """A fully masked block in the packed batch gives what a block on its own gives after its clean context."""
    row = rows(50)[0]
    objective, adapter = Objective(tiny, EAGER), adapter_of(tiny)
    noise = replace(NOISE, sizes=(8,), fully_masked=1.0)
    batch = pack([row], noise, random.Random(1))
    anchor = row.start - 1
    first = 50 + batch.anchors.tolist().index(anchor) * 8
    assert batch.ids[first : first + 8].tolist() == [row.ids[anchor], *[16] * 7]
    assert batch.positions[first : first + 8].tolist() == list(range(anchor, anchor + 8))
    alone = pack([replace(row, ids=row.ids[: anchor + 2], start=anchor + 1)], noise, random.Random(1))
    at = len(alone.ids) - 8 * (len(alone.anchors) - alone.anchors.tolist().index(anchor))
    with torch.no_grad():
        torch.testing.assert_close(objective.hidden(adapter, alone)[at : at + 8], objective.hidden(adapter, batch)[first : first + 8])


def test_targets_follow_their_slots_and_are_never_special() -> None:
    row = Row(ids=(6, 20, 21, 11, 30, 31, 32, 33, 34, 12, 40, 41, 42, 43, 44, 45, 0), start=12)
    for seed in range(30):
        batch = pack([row], NOISE, random.Random(seed))
        for at, target, slot in zip(batch.noisy_at.tolist(), batch.noisy_target.tolist(), batch.noisy_slot.tolist(), strict=True):
            place = int(batch.positions[at])
            assert row.ids[place + 1] == target and (target == 0 or target >= 17)
            assert not set(row.ids[place - slot + 1 : place + 1]) & set(range(17))  # nothing is predicted across a part's edge
        assert torch.equal(batch.clean_target[batch.noisy_twin], batch.noisy_target)
        assert torch.equal(batch.positions[batch.clean_at[batch.noisy_twin]], batch.positions[batch.noisy_at])
        noisy = zip(batch.ids[17:].tolist(), batch.positions[17:].tolist(), strict=True)
        assert all(index == (row.ids[place] if place < 17 else 16) or index == 16 for index, place in noisy)  # nothing follows the end


def test_the_first_block_of_the_middle_is_always_there() -> None:
    for seed in range(20):
        row = rows(80, seed=seed)[0]
        anchors = draw_anchors(row, 5, NOISE, random.Random(seed))
        assert row.start - 1 in anchors and len(anchors) == 5 == len(set(anchors))


def test_the_joined_gradient_of_swiglu_is_its_own() -> None:
    gate_up = torch.randn(5, 8, requires_grad=True)
    grad = torch.randn(5, 4)
    (meant,) = torch.autograd.grad(swiglu(gate_up), gate_up, grad)
    torch.testing.assert_close(torch.cat(swiglu_backward(gate_up.detach(), grad), dim=-1), meant)


def test_a_round_commits_what_agrees_and_one_more() -> None:
    """Blocks along the middle of a row, with what the clean stream would have said put in by hand."""
    batch = pack(rows(60), replace(NOISE, sizes=(4,), fully_masked=1.0, along_middle=1.0), random.Random(0))
    places = batch.positions[batch.noisy_at] - batch.noisy_slot  # each slot's anchor
    agrees = (batch.noisy_slot < 2) | (places == 47)
    committed = dict(zip(sorted(set(places[places >= 47].tolist())), _committed(batch, agrees, 4).tolist(), strict=True))
    assert committed[47] == 4  # all that a block holds
    assert committed.get(50, 3) == 3
    assert committed.get(57, 2) == 2  # two tokens are left there: the text's last and the end


def test_what_a_rewriting_repeats_weighs_little_and_no_block_hangs_there() -> None:
    (plain,) = rows(60)
    copied = frozenset(range(plain.start, plain.start + 8))
    noise = replace(NOISE, sizes=(4,), along_middle=1.0)
    batch = pack([replace(plain, copied=copied)], noise, random.Random(0))
    weights = {int(place) + 1: round(float(weight), 3) for place, weight in zip(batch.clean_at, batch.clean_weight, strict=True)}
    assert {weights[place] for place in copied} == {noise.copied_weight}
    assert {weights[place] for place in range(plain.start + 8, 60)} == {1.0}
    along = [int(place) for place in batch.anchors if place >= plain.start - 1]
    assert len(along) > 2 and not any(place + 1 in copied for place in along[1:])  # the middle's first is always among them

"""The chain head: it changes nothing at first, sees the one token before its slot, travels in files, and joins a run that began without."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tiny import LAYOUT, NOISE, base, rows

from engine.checkpoints.adapter import Adapter
from engine.training.base import Base, fresh_adapter
from engine.training.blocks import Batch, pack
from engine.training.evaluate import choose_chained, evaluate
from engine.training.export import export_adapter
from engine.training.objective import Objective, ObjectiveRules
from engine.training.trainer import OptimiserRules, Trainer

EAGER = ObjectiveRules(compiled=False)
ALL_CHAINED = replace(NOISE, chained=1.0, fully_masked=1.0, sizes=(4,))


@pytest.fixture(scope="module")
def tiny() -> Base:
    return base(torch.float64)


def adapter_of(tiny: Base, **changed: torch.Tensor) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    drawn = {name: torch.randn(value.shape, generator=generator) * 0.1 for name, value in fresh_adapter(tiny, 1).items()}
    return {name: value.to(tiny.norm.dtype) for name, value in {**drawn, **changed}.items()}


def test_at_the_start_it_changes_nothing(tiny: Base) -> None:
    objective = Objective(tiny, EAGER)
    adapter = adapter_of(tiny, **{"chain.out": torch.zeros(32, 256)})
    without = {name: value for name, value in adapter.items() if not name.startswith("chain")}
    batch = pack(rows(60, 40), NOISE, random.Random(0))
    assert 0.3 < float(batch.noisy_chained.float().mean()) < 0.9
    assert torch.equal(objective(adapter, batch).noisy, objective(without, batch).noisy)
    report = evaluate(objective, adapter, rows(60, 40), NOISE, block=4)
    assert report.chained == report.marginal
    assert evaluate(objective, without, rows(60, 40), NOISE, block=4) == replace(report, chained=None)


def test_slots_that_are_not_chained_stay_as_they_are(tiny: Base) -> None:
    objective, adapter = Objective(tiny, EAGER), adapter_of(tiny)
    batch = pack(rows(60, 40), NOISE, random.Random(0))
    hidden = objective.hidden(adapter, batch)
    moved = (objective.noisy_states(adapter, batch, hidden) != hidden[batch.noisy_at]).any(1)
    assert torch.equal(moved, batch.noisy_chained)


def test_a_slot_sees_the_token_at_its_own_place_and_no_later_one(tiny: Base) -> None:
    row = rows(60)[0]
    objective, adapter = Objective(tiny, EAGER), adapter_of(tiny)
    before = pack([row], ALL_CHAINED, random.Random(3))
    for anchor in before.anchors.tolist():
        for slot in range(1, min(4, 59 - anchor)):
            ids = list(row.ids)
            ids[anchor + slot] = 17 + (ids[anchor + slot] - 12) % 256
            after = pack([replace(row, ids=tuple(ids))], ALL_CHAINED, random.Random(3))
            first = 60 + before.anchors.tolist().index(anchor) * 4
            own = (before.noisy_at >= first) & (before.noisy_at < first + 4)
            old, new = (objective.noisy_states(adapter, batch, objective.hidden(adapter, batch))[own] for batch in (before, after))
            changed = [not torch.allclose(one, other) for one, other in zip(old, new, strict=True)]
            assert changed == [place == slot for place in range(len(changed))]


def test_choices_follow_the_ones_before_them(tiny: Base) -> None:
    """Slot by slot with every id as a candidate: what each block chooses is the best after its own choice before."""
    objective, adapter = Objective(tiny, EAGER), adapter_of(tiny)
    batch = pack(rows(60, 40), ALL_CHAINED, random.Random(0))
    states = objective.hidden(adapter, batch)[batch.noisy_at]
    given = torch.full_like(batch.noisy_target, 20)
    anew, onward = choose_chained(objective, adapter, batch, states), choose_chained(objective, adapter, batch, states, first=given)
    assert (onward[batch.noisy_slot == 0] == 20).all()
    for chosen, from_slot in ((anew, 0), (onward, 1)):
        for number, slot in enumerate(batch.noisy_slot.tolist()):
            if slot >= from_slot:
                assert chosen[number] == _best_of_sixteen(objective, adapter, batch, states, number, chosen)


def _best_of_sixteen(
    objective: Objective, adapter: dict[str, torch.Tensor], batch: Batch, states: torch.Tensor, number: int, chosen: torch.Tensor
) -> int:
    embedding = objective.base.embedding.clone()
    embedding[:17] = adapter["special"]
    allowed = [0, *range(17, len(embedding))]
    previous = chosen[number - 1] if batch.noisy_slot[number] else batch.noisy_previous[number]
    row = embedding[previous]
    inner = torch.cat([states[number], row / (row.square().mean() + 1e-6).sqrt()])
    inner = adapter["chain.in"] @ inner
    moved = states[number] + adapter["chain.out"] @ (inner * inner.sigmoid())
    likely = sorted(allowed, key=lambda index: -float(embedding[index] @ states[number]))[:16]
    return max(likely, key=lambda index: float(embedding[index] @ moved))


def test_it_travels_in_the_file(tiny: Base, tmp_path: Path) -> None:
    path, adapter = tmp_path / "adapter.safetensors", adapter_of(tiny)
    export_adapter(path, adapter, tiny.shape, LAYOUT, name="tiny", base="tiny", positions=0)
    read = Adapter(path).chain
    assert read is not None
    for found, name in zip(read, ("chain.in", "chain.out"), strict=True):
        assert torch.equal(found, adapter[name].to(torch.bfloat16))
    layout = {"path_id": "6", "suffix_id": "11", "prefix_id": "12", "end_of_middle_id": "0", "mask_id": "16", "trained_tokens_per_row": "1"}
    save_file({"special": torch.zeros(17, 32)}, path, metadata=layout)
    assert Adapter(path).chain is None


def test_a_state_from_before_it_is_taken_up_and_goes_on_exactly(tmp_path: Path) -> None:
    objective = Objective(base(), EAGER)
    batches = [pack(rows(60, 40, seed=seed), NOISE, random.Random(seed)) for seed in range(6)]

    def trainer() -> Trainer:
        return Trainer(objective, fresh_adapter(base(), 0), OptimiserRules(peak=1e-2))

    begun = trainer()
    for batch in batches[:2]:
        begun.step(batch)
    begun.save(tmp_path / "new.pt")
    state = torch.load(tmp_path / "new.pt", weights_only=True)
    known = len(begun.names) - 2
    state["masters"], state["mean"] = state["masters"][:known], state["mean"][:known]
    state["optimiser"]["state"] = {number: value for number, value in state["optimiser"]["state"].items() if number < known}
    state["optimiser"]["param_groups"][0]["params"] = list(range(known))
    torch.save(state, tmp_path / "old.pt")

    whole, parted = trainer(), trainer()
    whole.load(tmp_path / "old.pt")
    fresh = fresh_adapter(base(), 0)
    for averaged in (False, True):
        taken, saved = whole.adapter(averaged=averaged), begun.adapter(averaged=averaged)
        assert all(torch.equal(taken[name], saved[name]) for name in begun.names[:known])
        assert all(torch.equal(taken[name], fresh[name]) for name in ("chain.in", "chain.out"))
    for batch in batches[2:4]:
        whole.step(batch)
    whole.save(tmp_path / "between.pt")
    parted.load(tmp_path / "between.pt")
    for batch in batches[4:]:
        whole.step(batch)
        parted.step(batch)
    for averaged in (False, True):
        one, two = whole.adapter(averaged=averaged), parted.adapter(averaged=averaged)
        assert all(torch.equal(one[name], two[name]) for name in one)
    assert whole.adapter(averaged=False)["chain.out"].abs().max() > 0

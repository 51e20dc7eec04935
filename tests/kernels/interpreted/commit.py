"""Commit and remask against the rules applied slot by slot."""

from __future__ import annotations

import pytest
import torch
from interpreter import CHIP, fresh

from kernels.choice import Choice
from kernels.commit import Blocks, Rule
from kernels.commit import commit as twin
from kernels.commit import list_masked as list_twin
from kernels.gpu.commit import commit, list_masked

MASK = 7


def slowly(ids: list[int], sure: list[float], chosen: list[int], confidence: list[float], rule: Rule) -> tuple[list[int], list[float]]:
    """One block, by the words of `Rule`."""
    ids, sure = ids.copy(), sure.copy()
    masked = sorted((slot for slot, index in enumerate(ids) if index == MASK), key=lambda slot: (-confidence[slot], slot))
    surest = max((n for n in range(1, len(masked) + 1) if (n + 1) * (1 - confidence[masked[n - 1]]) < rule.factor), default=0)
    commits = masked[: max(surest, rule.at_least)]
    commits += [slot for slot in masked if confidence[slot] >= rule.threshold and slot not in commits]
    doubted = sorted(
        (slot for slot, index in enumerate(ids) if index != MASK and sure[slot] < rule.keep), key=lambda slot: (sure[slot], slot)
    )
    for slot in doubted[: max(len(commits) - 1, 0)]:
        ids[slot] = MASK
    for slot in commits:
        ids[slot], sure[slot] = chosen[slot], confidence[slot]
    return ids, sure


RULES = [
    Rule(),
    Rule(threshold=0.75),
    Rule(factor=0.9),
    Rule(at_least=3),
    Rule(threshold=0.5, keep=0.5),
    Rule(threshold=0.25, factor=2.0, at_least=2, keep=1.1),
    Rule(threshold=0.0),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(("blocks", "slots"), [(1, 1), (3, 7), (2, 32), (1, 33)])
def test_commits_what_the_rule_says(blocks: int, slots: int, rule: Rule) -> None:
    generator = fresh("commit")
    for share in (0.0, 0.5, 1.0):  # nothing masked, some, all
        masked = torch.rand(blocks, slots, generator=generator) < share
        ids = torch.randint(20, 99, (blocks, slots), generator=generator).masked_fill(masked, MASK).to(torch.int32)
        # Eighths, so that equal confidences come up and thresholds are met exactly.
        sure, confidence = torch.randint(0, 9, (2, blocks, slots), generator=generator) / 8
        chosen = torch.randint(20, 99, (blocks, slots), generator=generator).to(torch.int32)
        choice = Choice(chosen.view(-1), confidence.masked_fill(~masked, torch.nan).view(-1), sure, sure)
        ours, theirs = (Blocks(ids.clone(), sure.clone()) for _ in range(2))
        commit(CHIP, ours, choice, rule, MASK)
        twin(theirs, choice, rule, MASK)
        for block in range(blocks):
            expected = slowly(*(part[block].tolist() for part in (ids, sure, chosen, confidence)), rule)
            assert (ours.ids[block].tolist(), ours.sure[block].tolist()) == expected
        assert torch.equal(theirs.ids, ours.ids) and torch.equal(theirs.sure, ours.sure)
        assert int((ours.ids == MASK).sum()) < int(masked.sum()) or not bool(masked.any())


@pytest.mark.parametrize(("blocks", "slots"), [(1, 1), (3, 5), (65, 32)])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_lists_masked_slots_in_order(blocks: int, slots: int, share: float) -> None:
    generator = fresh("list")
    ids = torch.where(torch.rand(blocks, slots, generator=generator) < share, MASK, 3).to(torch.int32)
    expected = (ids.view(-1) == MASK).nonzero()[:, 0].tolist()
    for listed in (list_masked(CHIP, ids, MASK), list_twin(ids, MASK)):
        assert int(listed.total) == len(expected)
        assert listed.rows[: len(expected)].tolist() == expected

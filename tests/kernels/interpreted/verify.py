"""Verification of drafts against the rule applied id by id."""

from __future__ import annotations

import pytest
import torch
from interpreter import CHIP, fresh

from kernels.choice import Choice
from kernels.gpu.verify import verify
from kernels.verify import HEADER, Text, begin, new_text
from kernels.verify import verify as twin

MASK, VOCAB, ROOM = 7, 40, 12


def slowly(clean: list[int], chosen: list[int], ends: list[int], most: int) -> tuple[list[int], bool]:
    """What is committed of a forward's ids, and whether the text goes on. `most`: ids that are still wanted."""
    committed: list[int] = []
    for slot in range(len(clean)):
        committed.append(chosen[slot])
        if ends[chosen[slot]] or len(committed) == most:
            return committed, False
        if slot + 1 == len(clean) or clean[slot + 1] != chosen[slot]:
            break
    return committed, True


@pytest.mark.parametrize("slots", [1, 2, 5, 8])
@pytest.mark.parametrize(("agrees", "end"), [(0.0, 0.0), (0.7, 0.0), (1.0, 0.0), (0.9, 0.2), (1.0, 1.0)])
def test_commits_what_agrees_until_the_end(slots: int, agrees: float, end: float) -> None:
    generator = fresh("verify")
    for _ in range(6):
        ours, theirs = (new_text(slots, ROOM, MASK, torch.zeros(1, dtype=torch.int32)) for _ in range(2))
        ends = (torch.rand(VOCAB, generator=generator) < end).to(torch.int8)
        draft = torch.randint(8, VOCAB, (slots - 1,), generator=generator).tolist()
        for text in (ours, theirs):
            begin(text, 9, draft[: slots // 2 + 1], 30, most=9)
        written: list[int] = []
        sure: list[float] = []
        going, cached, forwards = True, 30, 0
        for _ in range(8):
            clean = ours.clean[:-1].tolist()
            chosen = torch.randint(8, VOCAB, (slots * (slots + 1),), generator=generator).to(torch.int32)
            same = torch.rand(slots - 1, generator=generator) < agrees
            # A mask is no id that could be chosen: nothing agrees with it.
            chosen[: slots - 1] = torch.where(same & (ours.clean[1:slots] != MASK), ours.clean[1:slots], chosen[: slots - 1])
            confidence = torch.rand(len(chosen), generator=generator)
            choice = Choice(chosen, confidence, confidence, confidence)
            before = [part.clone() for part in ours]
            verify(CHIP, ours, choice, ends)
            twin(theirs, choice, ends)
            assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
            if not going:
                assert all(torch.equal(one, other) for one, other in zip(ours, before, strict=True))
                continue
            committed, going = slowly(clean, chosen.tolist(), ends.tolist(), 9 - len(written))
            written, sure = written + committed, sure + confidence[: len(committed)].tolist()
            cached, forwards = cached + len(committed), forwards + 1
            block = slots * len(committed)
            assert ours.told[:HEADER].tolist() == [len(written), forwards, going, 9]
            assert ours.told[HEADER : HEADER + len(written)].tolist() == written
            assert ours.told[HEADER + ROOM :].view(torch.float32)[: len(written)].tolist() == sure
            assert ours.clean.tolist() == [committed[-1], *chosen[block + 1 : block + slots].tolist(), MASK]
            assert (int(ours.cached), int(ours.left)) == (cached, len(chosen) if going else 0)


def test_a_text_that_is_not_begun_stays(slots: int = 3) -> None:
    text = new_text(slots, ROOM, MASK, torch.zeros(1, dtype=torch.int32))
    before = Text(*(part.clone() for part in text))
    chosen = torch.arange(slots * (slots + 1), dtype=torch.int32)
    verify(CHIP, text, Choice(chosen, chosen.float(), chosen.float(), chosen.float()), torch.zeros(VOCAB, dtype=torch.int8))
    assert all(torch.equal(one, other) for one, other in zip(text, before, strict=True))

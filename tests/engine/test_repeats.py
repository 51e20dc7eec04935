"""What followed the last time the same ids came."""

from __future__ import annotations

import random

from engine.repeats import Repeats


def test_what_followed_the_longest_equal_run() -> None:
    ids, likely = Repeats([1, 2, 3, 4, 9, 2, 3, 7, 1, 2, 3]).draft(3)
    assert ids == [4, 9, 2]  # after 1 2 3, not after the later 2 3
    assert likely == sorted(likely) and 0 < likely[0] < likely[-1] < 1


def test_of_equal_runs_the_latest() -> None:
    assert Repeats([5, 6, 1, 0, 5, 6, 2, 0, 5, 6]).draft(1)[0] == [2]


def test_nothing_repeats() -> None:
    assert Repeats([]).draft(4) == Repeats([7]).draft(4) == Repeats([1, 2, 3, 4]).draft(4) == ([], [])
    assert Repeats([3, 1, 2, 3]).draft(4)[0] == []  # a single id is not worth a draft


def test_a_run_may_overlap_what_it_repeats() -> None:
    assert Repeats([8, 8, 8]).draft(4)[0] == [8]


def test_ids_added_one_by_one_are_as_good_as_given_at_once() -> None:
    chance = random.Random(1)
    for _ in range(200):
        ids = [chance.randrange(4) for _ in range(chance.randrange(40))]
        cut = chance.randrange(len(ids) + 1)
        grown = Repeats(ids[:cut])
        for index in ids[cut:]:
            grown.add(index)
        assert grown.draft(8) == Repeats(ids).draft(8)


def test_the_draft_stood_after_the_same_ids_before() -> None:
    chance = random.Random(2)
    for _ in range(300):
        ids = [chance.randrange(5) for _ in range(30)]
        draft, _ = Repeats(ids).draft(4)
        runs = [place for place in range(2, 30) if ids[place - 2 : place] == ids[-2:]]
        assert any(ids[place : place + 4] == draft for place in runs) if runs else draft == []

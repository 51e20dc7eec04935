"""Figures on known inputs."""

from __future__ import annotations

import pytest

from benchmarks.figures import Bin, calibration_error, quartiles, quotient, range_of, ratio, reliability, share_of, similarity


def test_a_share_has_the_range_of_its_count() -> None:
    few, many = share_of([True, False]), share_of([True, False] * 500)
    assert few.share == many.share == 0.5
    assert (round(few.low, 3), round(few.high, 3)) == (0.095, 0.905)  # Wilson, by hand
    assert many.high - many.low < 0.07
    assert (share_of([]).low, share_of([]).high) == (0, 1)
    assert share_of([True]).high == 1


def test_similarity_counts_insertions_and_deletions() -> None:
    assert similarity("abc", "abc") == 1
    assert similarity("abc", "xyz") == 0
    assert similarity("abcd", "abd") == pytest.approx(1 - 1 / 7)
    assert similarity("", "") == 1


def test_confidence_falls_in_bins_and_is_compared_with_what_was_right() -> None:
    bins = reliability([(0.05, False), (0.85, True), (0.89, False), (1.0, True)])
    assert bins == [
        Bin(low=0.0, high=0.1, shown=1, confidence=0.05, right=0),
        Bin(low=0.8, high=0.9, shown=2, confidence=0.87, right=1),
        Bin(low=0.9, high=1.0, shown=1, confidence=1.0, right=1),
    ]
    assert calibration_error(bins) == pytest.approx((0.05 + (2 * 0.87 - 1) + 0) / 4)
    assert calibration_error([]) is None


def test_a_ratio_is_of_sums_and_its_range_is_of_pairs() -> None:
    one, other = [(1.0, 2.0), (3.0, 2.0)] * 20, [(2.0, 2.0), (6.0, 2.0)] * 20
    found = ratio(one, other)
    assert found.ratio == pytest.approx(2)
    # Twice as much in every case: which cases are drawn makes no difference, if both are drawn together.
    assert found.low == pytest.approx(2)
    assert found.high == pytest.approx(2)


def test_a_ratio_of_nothing_is_none() -> None:
    assert ratio([], []).ratio is None
    assert ratio([(0.0, 1.0)], [(1.0, 1.0)]).ratio is None
    few = ratio([(0.0, 1.0), (1.0, 1.0)], [(1.0, 1.0)] * 2)  # a quarter of the samples has nothing to divide by
    assert (few.ratio, few.low, few.high) == (2, 1, None)
    assert quotient(1, 0) is None


def test_quartiles() -> None:
    assert quartiles([1, 2, 3, 4, 5]) == (2, 3, 4)
    assert quartiles([]) == (0, 0, 0)


def test_a_range_is_that_of_the_cases() -> None:
    assert range_of([(1, 4), (1, 4)]) == (0.25, 0.25)
    assert range_of([(0, 1), (1, 1)]) == (0, 1)
    assert range_of([]) == (0, 0)

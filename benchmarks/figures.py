"""From single outcomes to figures: shares with their ranges, similarity, reliability, ratios. Knows no model and no file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from rapidfuzz import fuzz

_Z = 1.96  # a 95 % range
_RESAMPLES = 2000


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A share of `count` cases, and the 95 % range of what it would be over many (Wilson)."""

    count: int
    share: float
    low: float
    high: float


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """What was said at a confidence of `low … high`: how often, how sure on average, and how often it was right."""

    low: float
    high: float
    shown: int
    confidence: float
    right: int


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """How many times as much, and the 95 % range over resampled cases. None where there is nothing to divide by: without a bound above."""

    ratio: float | None
    low: float | None = None
    high: float | None = None


def share_of(outcomes: Iterable[bool]) -> Share:
    """The share of what is true. Of nothing it is 0, within 0 … 1."""
    seen = list(outcomes)
    count, right = len(seen), sum(seen)
    if not count:
        return Share(count=0, share=0.0, low=0.0, high=1.0)
    share = right / count
    centre = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    reach = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return Share(count=count, share=share, low=max(0.0, centre - reach), high=min(1.0, centre + reach))


def similarity(one: str, other: str) -> float:
    """Edit similarity 0..1: 1 − insertions and deletions ÷ both lengths.

    The figure that CrossCodeEval and RepoBench print is this `ratio`, which is why rapidfuzz computes it: difflib's ratio is no edit
    distance (it matches greedily, its result depends on the order of the arguments).
    """
    return fuzz.ratio(one, other) / 100


def reliability(pairs: Iterable[tuple[float, bool]], bins: int = 10) -> list[Bin]:
    """(confidence, right) by confidence, in `bins` of one width; a confidence of 1 falls in the last. Empty bins are left out."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in pairs:
        groups.setdefault(min(bins - 1, int(confidence * bins)), []).append((confidence, right))
    return [
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            shown=len(group),
            confidence=sum(confidence for confidence, _ in group) / len(group),
            right=sum(right for _, right in group),
        )
        for number, group in sorted(groups.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """How far confidence and share of right ones lie apart, on average over what was shown."""
    shown = sum(each.shown for each in bins)
    return sum(abs(each.confidence * each.shown - each.right) for each in bins) / shown if shown else None


def quotient(part: float, whole: float) -> float | None:
    """None where there is nothing to divide by."""
    return part / whole if whole else None


def ratio(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> Ratio:
    """`other`'s Σ part ÷ Σ whole over `one`'s. Both are (part, whole) of the same cases in the same order, and resampled together."""
    assert len(one) == len(other)
    if not one:
        return Ratio(ratio=None)
    cases = np.array([one, other], dtype=float)  # [2, cases, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = _ratios(cases[:, _samples(len(one))].sum(2))
        found = float(_ratios(cases.sum(1)))
    ratios = ratios[~np.isnan(ratios)]
    if not math.isfinite(found):
        return Ratio(ratio=None)
    high = float(np.quantile(ratios, 0.975, method="higher"))
    return Ratio(ratio=found, low=float(np.quantile(ratios, 0.025, method="lower")), high=high if math.isfinite(high) else None)


def range_of(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The 95 % range of Σ part ÷ Σ whole over resampled (part, whole)s; zeros of nothing."""
    if not parts:
        return 0.0, 0.0
    sums = np.array(parts, dtype=float)[_samples(len(parts))].sum(1)  # [samples, 2]
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975))
    return float(low), float(high)


def _samples(count: int) -> np.ndarray:  # [samples, count]
    """Which cases each sample has; the same ones at every call."""
    return np.random.default_rng(0).integers(0, count, (_RESAMPLES, count))


def _ratios(sums: np.ndarray) -> np.ndarray:  # [2, …, 2]
    return np.asarray((sums[1, ..., 0] / sums[1, ..., 1]) / (sums[0, ..., 0] / sums[0, ..., 1]))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The quartiles; zeros of nothing."""
    if not values:
        return 0.0, 0.0, 0.0
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float(low), float(middle), float(high)

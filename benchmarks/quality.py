"""All figures of one contender, and how two compare. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from benchmarks.figures import Bin, Ratio, ratio, reliability
from benchmarks.held_out import KINDS
from benchmarks.infilling import Outcome, Score, score
from benchmarks.typing_replay import Replay, Typing, judged, saved, typing
from mercury_lsp.settings import Settings

T = TypeVar("T")

SHOWN_FROM = Settings().min_confidence  # what the server shows when nobody set anything
THRESHOLDS = tuple(sorted({0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, SHOWN_FROM}))
_SINGLE_LINE = ("rest", "line")


class Quality(msgspec.Struct, frozen=True, kw_only=True):
    """What is recorded of a contender. Every hole counts the same, so that languages do."""

    all: Score | None
    single_line: Score | None  # rests of lines and whole lines
    kinds: dict[str, Score]
    languages: dict[str, Score]
    cells: dict[str, dict[str, Score]]  # by language and kind
    # Only of repositories on which the confidence was not fitted. Right: all of what is shown begins the middle, or the rest of the line.
    reliability_holes: list[Bin]
    reliability_single_line: list[Bin]
    reliability_typing: list[Bin]  # of whatever is shown at any threshold
    typing: list[Typing]  # by threshold
    typing_languages: dict[str, Typing]  # at the server's own threshold


class Measured(NamedTuple):
    """A contender's raw outcomes, in the order of the cases, which is the same for all."""

    label: str
    outcomes: list[Outcome]
    replays: list[Replay]
    fitted_on: frozenset[str] = frozenset()  # the repositories from which the confidence was learnt


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of two contenders."""

    figure: str
    ratio: Ratio


def summed_up(measured: Measured) -> Quality:
    """All figures."""
    outcomes, replays = measured.outcomes, measured.replays
    unseen = [each for each in outcomes if each.repository not in measured.fitted_on]
    by_language = _grouped(outcomes, lambda each: each.language)
    typed = _grouped(replays, lambda each: each.language)
    return Quality(
        all=score(outcomes) if outcomes else None,
        single_line=score(lines) if (lines := _single_line(outcomes)) else None,
        kinds={kind: score(group) for kind, group in _by_kind(outcomes).items()},
        languages={language: score(group) for language, group in by_language.items()},
        cells={language: {kind: score(cell) for kind, cell in _by_kind(group).items()} for language, group in by_language.items()},
        reliability_holes=_reliability(unseen),
        reliability_single_line=_reliability(_single_line(unseen)),
        reliability_typing=reliability(judged(replays)),
        typing=[typing(replays, threshold) for threshold in THRESHOLDS] if replays else [],
        typing_languages={language: typing(group, SHOWN_FROM) for language, group in typed.items()},
    )


def compared(one: Measured, other: Measured) -> list[Compared]:
    """How many times as much of each figure `other` has, with ranges over the cases."""
    figures: dict[str, Callable[[Measured], list[tuple[float, float]]]] = {
        "exact, all": lambda each: [(outcome.exact, 1) for outcome in each.outcomes],
        "exact, single line": lambda each: [(outcome.exact, 1) for outcome in _single_line(each.outcomes)],
        "edit similarity": lambda each: [(outcome.similarity, 1) for outcome in each.outcomes],
        "first token right": lambda each: [(outcome.first_token, 1) for outcome in each.outcomes],
        "tokens a forward": lambda each: [(outcome.tokens, outcome.forwards) for outcome in each.outcomes],
        "tokens a forward, whole lines": lambda each: [
            (outcome.tokens, outcome.forwards) for outcome in each.outcomes if outcome.kind == "line"
        ],
        "tokens a forward, unverified": lambda each: [
            (outcome.tokens_unverified, outcome.forwards_unverified) for outcome in each.outcomes
        ],
        "exact, unverified": lambda each: [(outcome.exact_unverified, 1) for outcome in each.outcomes],
        f"keys saved at {SHOWN_FROM}": lambda each: saved(each.replays, SHOWN_FROM),
        "milliseconds a draft": lambda each: [(outcome.latency_ms, 1) for outcome in each.outcomes],
    }
    return [Compared(figure=figure, ratio=ratio(parts(one), parts(other))) for figure, parts in figures.items()]


def _reliability(outcomes: Sequence[Outcome]) -> list[Bin]:
    return reliability((each.confidence, each.right) for each in outcomes if not each.empty)


def _single_line(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.kind in _SINGLE_LINE]


def _by_kind(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    groups = _grouped(outcomes, lambda each: each.kind)
    return {kind: groups[kind] for kind in KINDS if kind in groups}


def _grouped(items: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in sorted(items, key=key):
        groups.setdefault(key(item), []).append(item)
    return groups

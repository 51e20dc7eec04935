"""The tables that a quality run prints. Knows figures, asks no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.figures import Bin, Share, calibration_error
from benchmarks.held_out import KINDS
from benchmarks.human_eval import Passed
from benchmarks.infilling import Score
from benchmarks.quality import SHOWN_FROM, Compared, Quality
from benchmarks.tables import Table, number, percent, ranged, times
from benchmarks.typing_replay import Typing

_RANGES = "In brackets: 95 % range."


def of(label: str, quality: Quality) -> list[Table]:
    """What there is to say of one contender."""
    tables = []
    if quality.all is not None:
        named = _named(quality, quality.all)
        tables += [_by_kind(label, named), _cost(label, named), _by_language(label, quality, quality.all)]
    if quality.reliability_holes or quality.reliability_typing:
        tables.append(_reliability(label, quality))
    if quality.typing:
        tables.append(_typing(label, quality.typing))
    return tables


def _by_kind(label: str, named: Mapping[str, Score]) -> Table:
    columns = ("hole", "holes", "exact", "edit similarity", "first token", "still parses")
    rows = [
        [name, str(each.holes), ranged(each.exact), percent(each.similarity), percent(each.first_token), _share(each.parses)]
        for name, each in named.items()
    ]
    return Table(f"{label}: by kind of hole", columns, rows, _RANGES)


def _cost(label: str, named: Mapping[str, Score]) -> Table:
    columns = ("hole", "tokens a forward", "exact", "unverified: tokens a forward", "exact", "ms a draft, quartiles")
    rows = [
        [
            name,
            number(each.tokens_a_forward),
            percent(each.exact.share),
            number(each.tokens_a_forward_unverified),
            percent(each.exact_unverified),
            " / ".join(f"{value:.0f}" for value in each.latency_ms),
        ]
        for name, each in named.items()
    ]
    note = "Committed tokens ÷ forwards after prefill, verification included. Milliseconds are of verified drafts, prefill included."
    return Table(f"{label}: what a draft costs", columns, rows, note)


def _named(quality: Quality, everything: Score) -> dict[str, Score]:
    named = {KINDS[kind]: score for kind, score in quality.kinds.items()}
    if quality.single_line is not None:
        named["single line (first two)"] = quality.single_line
    return {**named, "all": everything}


def _by_language(label: str, quality: Quality, everything: Score) -> Table:
    columns = (
        "language", "holes", *KINDS.values(), "edit similarity", "first token", "still parses",
        "tokens a forward", "un- verified", f"keys saved at {SHOWN_FROM}",
    )  # fmt: skip
    rows = []
    for language, each in {**quality.languages, "all": everything}.items():
        kinds = quality.kinds if language == "all" else quality.cells[language]
        typed = _at_default(quality) if language == "all" else quality.typing_languages.get(language)
        rows.append(
            [
                language,
                str(each.holes),
                *(percent(kinds[kind].exact.share) if kind in kinds else "–" for kind in KINDS),
                percent(each.similarity),
                percent(each.first_token),
                _share(each.parses),
                number(each.tokens_a_forward),
                number(each.tokens_a_forward_unverified),
                percent(typed.saved) if typed else "–",
            ]
        )
    return Table(f"{label}: by language (of each kind of hole, the share filled exactly)", columns, rows)


def _reliability(label: str, quality: Quality) -> Table:
    tables = (quality.reliability_holes, quality.reliability_single_line, quality.reliability_typing)
    by_low = [{each.low: each for each in bins} for bins in tables]
    columns = ("confidence", "holes filled", "right", "single-line holes", "right", "shown while typing", "right")
    rows = [
        [f"{low:.1f}–{high:.1f}", *(text for bins in by_low for text in _bin(bins.get(low)))]
        for low, high in sorted({(each.low, each.high) for bins in tables for each in bins})
    ]
    errors = ", ".join(percent(calibration_error(bins)) for bins in tables)
    note = (
        "Right: the whole suggestion, or its first line, is what follows. Shown while typing: at any threshold. "
        f"Only repositories on which the confidence was not fitted. Calibration errors: {errors}."
    )
    return Table(f"{label}: reliability of the confidence", columns, rows, note)


def _typing(label: str, accounts: Sequence[Typing]) -> Table:
    columns = (
        "shown from",
        "keys",
        "saved",
        "without words",
        "shown",
        "right",
        "first word",
        "wrong",
        "right of shown",
        "wrong of shown",
        "asks",
    )
    rows = [
        [
            f"{each.threshold:.1f}",
            str(each.keys),
            f"{percent(each.saved)} ({100 * each.saved_range[0]:.0f}–{100 * each.saved_range[1]:.0f})",
            percent(each.saved_without_words),
            *map(str, (each.shown, each.right, each.part, each.wrong)),
            percent(each.right / each.shown if each.shown else None),
            percent(each.wrong / each.shown if each.shown else None),
            str(each.asks),
        ]
        for each in accounts
    ]
    note = (
        "Saved: keys, by a user who accepts with one key a suggestion, its first line or its first word wherever that is right; "
        "then by one who accepts no single words. In brackets: 95 % range over resampled stretches. "
        "A suggestion that is typed through counts once, and is no ask."
    )
    return Table(f"{label}: {accounts[0].stretches} stretches typed, by confidence threshold", columns, rows, note)


def comparison(labels: tuple[str, str], figures: Sequence[Compared]) -> Table:
    """How two contenders compare."""
    rows = [[each.figure, times(each.ratio)] for each in figures]
    return Table(f"{labels[1]} ÷ {labels[0]}", ("figure", "ratio"), rows, "In brackets: 95 % range over resampled holes or stretches.")


def human_eval(summaries: Mapping[str, Mapping[str, Passed]]) -> Table:
    """HumanEval-Infilling, by contender and subset."""
    columns = ("model", "subset", "tasks", "passed", "timeouts", "exact", "edit similarity", "tokens a forward")
    rows = [
        [
            label,
            subset,
            str(each.passed.count),
            ranged(each.passed),
            str(each.timeouts),
            percent(each.exact),
            percent(each.similarity),
            number(each.tokens_a_forward),
        ]
        for label, subsets in summaries.items()
        for subset, each in subsets.items()
    ]
    return Table("HumanEval-Infilling, one greedy draft a task", columns, rows, _RANGES)


def _at_default(quality: Quality) -> Typing | None:
    return next((each for each in quality.typing if each.threshold == SHOWN_FROM), None)


def _share(share: Share) -> str:
    return percent(share.share) if share.count else "–"


def _bin(bin: Bin | None) -> tuple[str, str]:
    return ("–", "–") if bin is None else (str(bin.shown), percent(bin.right / bin.shown))

"""A change that was made to two lines, as a rule for others. Knows no document.

before   log.debug("a", x)    log.debug("b", y)      →   log.debug(… , …)      the pattern, with what differs left open
after    log.info("a", x)     log.info("b", y)           debug → info          what is put where
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mercury_lsp.nextedit.alike import Pattern, common, letters
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.words import is_name, replaced, tokens

_LEAST_LETTERS = 3  # of words that a line must have in common with both
_LETTERS_LOOSE = 8  # where anything may differ
_MOST_OPEN = 4  # places that differ: to look for more takes long, and the lines are hardly alike
_LEAST_SIGNS = 2  # signs where there are no words, of neighbours: `id: number` and `name: string`
# Where the lines are alike from end to end; where only around the change, or have hardly a word in common; where anything may differ.
SURE, LESS_SURE, LEAST_SURE = chance("repeat"), chance("repeat around"), chance("repeat loose")


class Run(NamedTuple):
    """Tokens `[start, end)` of a line gave way to others."""

    start: int
    end: int
    new: tuple[str, ...]


class Changed(NamedTuple):
    """One line before, and what was done to it."""

    before: tuple[str, ...]
    runs: tuple[Run, ...]

    def gone(self, number: int) -> tuple[str, ...]:
        return self.before[self.runs[number].start : self.runs[number].end]


class Rule(NamedTuple):
    """Lines that match, all of which have `word`. `puts` are by a group's name what comes in its place: texts, in `{}` groups' names."""

    word: str
    lines: re.Pattern[str]
    puts: dict[str, str]
    confidence: float
    in_block: bool = False  # only lines that follow right below the last one

    def changes(self, match: re.Match[str]) -> list[tuple[int, int, str]]:
        """(start, end, text) of each place in a line that matched."""
        groups = {name: value or "" for name, value in match.groupdict().items()}
        return [(*match.span(name), put.format_map(groups)) for name, put in self.puts.items()]


def changed(before: str, after: str) -> Changed | None:
    """None where nothing changed."""
    old, new = tokens(before), tokens(after)
    runs = tuple(Run(low, high, tuple(new[new_low:new_high])) for low, high, new_low, new_high in replaced(old, new))
    return Changed(tuple(old), runs) if runs else None


def rules(one: Changed, other: Changed, *, neighbours: bool) -> Iterator[Rule]:
    """The strictest idea of a line like both first; none where they were not changed alike."""
    if len(one.runs) != len(other.runs):
        return
    strict = _whole(one, other, loose=False)
    if strict is not None:
        pattern, puts = strict
        if letters(pattern.same) >= _LEAST_LETTERS:
            yield Rule(pattern.longest, pattern.whole_line(), puts, SURE)
        elif neighbours and sum(not token.isspace() for token in pattern.same) >= _LEAST_SIGNS:
            yield Rule(pattern.longest, pattern.whole_line(), puts, LESS_SURE, in_block=True)
    if (around := _around(one, other)) is not None:
        yield around
    loose = _whole(one, other, loose=True)
    if loose is not None and letters(loose[0].same) >= _LETTERS_LOOSE:
        yield Rule(loose[0].longest, loose[0].whole_line(), loose[1], LEAST_SURE)


def _whole(one: Changed, other: Changed, *, loose: bool) -> tuple[Pattern, dict[str, str]] | None:
    """Both lines from end to end."""
    pattern = Pattern(loose=loose)
    pattern.both(one.before[: one.runs[0].start], other.before[: other.runs[0].start])
    names = _inner(pattern, one, other)
    pattern.both(one.before[one.runs[-1].end :], other.before[other.runs[-1].end :])
    puts = _puts(pattern, names, one, other)
    return None if puts is None or len(pattern.open) > _MOST_OPEN else (pattern, puts)


def _around(one: Changed, other: Changed) -> Rule | None:
    """Both lines right around the change, as far as they are the same."""
    left = common(one.before[: one.runs[0].start][::-1], other.before[: other.runs[0].start][::-1])[::-1]
    right = common(one.before[one.runs[-1].end :], other.before[other.runs[-1].end :])
    if not "".join(left).strip() or not "".join(right).strip():
        return None
    pattern = Pattern()
    pattern.exactly(left)
    names = _inner(pattern, one, other)
    pattern.exactly(right)
    puts = _puts(pattern, names, one, other)
    if puts is None or letters(pattern.same) <= _LEAST_LETTERS:
        return None
    start = r"(?<!\w)" if left[0][0].isalnum() else ""
    return Rule(pattern.longest, re.compile(start + pattern.text), puts, LESS_SURE)


def _inner(pattern: Pattern, one: Changed, other: Changed) -> list[str]:
    """From the first run to the last; the names of the runs' groups."""
    names = []
    for number, run in enumerate(one.runs):
        if number:
            before = one.runs[number - 1].end, other.runs[number - 1].end
            pattern.both(one.before[before[0] : run.start], other.before[before[1] : other.runs[number].start])
        gone, other_gone = one.gone(number), other.gone(number)
        if gone == other_gone:
            pattern.text += f"(?P<run{number}>"
            pattern.exactly(gone)
            pattern.text += ")"
            names.append(f"run{number}")
        else:
            names.append(pattern.leave_open("".join(gone), "".join(other_gone)))
    return names


def _puts(pattern: Pattern, names: Sequence[str], one: Changed, other: Changed) -> dict[str, str] | None:
    """What comes in the place of each run; None where it is another thing in each line and cannot be told from the line."""
    puts = {}
    for name, run, other_run in zip(names, one.runs, other.runs, strict=True):
        if len(run.new) != len(other_run.new):
            return None
        parts = [_part(pattern, name, *pair) for pair in zip(run.new, other_run.new, strict=True)]
        if any(part is None for part in parts):
            return None
        puts[name] = "".join(part for part in parts if part is not None)
    # A run that differs and gives way to the same text: what a line had there tells nothing of whether that is wanted of another.
    told = all(name.startswith("run") or "{" in puts[name] for name in names)
    return puts if told else None


def _part(pattern: Pattern, own: str, one: str, other: str) -> str | None:
    """A new token as a text, or as a piece of the line with something in front or behind."""
    if one == other:
        return one.replace("{", "{{").replace("}", "}}")
    for name in (own, *pattern.open):
        old, other_old = pattern.open.get(name, ("", ""))
        if is_name(old) and is_name(other_old) and old in one:
            head, tail = one[: one.index(old)], one[one.index(old) + len(old) :]
            if head + other_old + tail == other:
                return f"{head}{{{name}}}{tail}"
    return None

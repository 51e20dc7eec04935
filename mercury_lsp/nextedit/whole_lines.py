"""The same line put in, or lines alike taken out, at two places: the other places like them. Knows no syntax but words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mercury_lsp.nextedit.alike import Pattern, letters
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.moment import Edit, Intention, Moment, Proposal, Text
from mercury_lsp.nextedit.words import tokens

_CAUSES = 6
_LEAST_LETTERS = 3
_MOST = 30
_PUT_IN, _TAKEN_OUT = chance("line put in"), chance("line taken out")


# What is put in to look at something, and taken out all together.
_DEBUGGING = tuple(
    re.compile(rf"{call}\([^\n]*\);?")
    for call in (
        r"print",
        r"console\.(?:log|debug)",
        r"printf",
        r"fmt\.Print(?:ln|f)?",
        r"(?:dbg|println|eprintln)!",
        r"System\.out\.println",
    )
)


class _Line(NamedTuple):
    """A line that was put in or taken out, and the line that follows it."""

    intention: Intention
    text: str
    below: str


def whole_lines(moment: Moment) -> Iterator[Proposal]:
    """Of the two latest lines, where they are alike."""
    for is_in, find in ((True, _put_in), (False, _taken_out)):
        lines = [line for each in moment.intentions[-_CAUSES:] if (line := find(moment, each)) is not None]
        if len(lines) >= 2 and lines[-1].intention is moment.intentions[-1]:
            yield from _followed(moment, lines[-2], lines[-1], is_in=is_in)


def _put_in(moment: Moment, intention: Intention) -> _Line | None:
    text = moment.text(intention.document)
    if text is None or intention.bulk or intention.old.strip():
        return None
    start = text.text.rfind("\n", 0, intention.start + 1) + 1 if intention.new.startswith("\n") else intention.start
    line_end = text.text.find("\n", start)
    line = text.text[start:line_end]
    rest = text.text[intention.end :] if intention.new.endswith("\n") else text.text[intention.end + 1 :]
    whole = intention.new.strip("\n").strip() == line.strip() and line.strip() and "\n" in intention.new
    return _Line(intention, line.strip(), rest.partition("\n")[0].strip()) if whole else None


def _taken_out(moment: Moment, intention: Intention) -> _Line | None:
    gone = intention.old.strip()
    if intention.new.strip() or intention.bulk or not gone or "\n" in gone or "\n" not in intention.old:
        return None
    return _Line(intention, gone, "")


def _followed(moment: Moment, one: _Line, other: _Line, *, is_in: bool) -> Iterator[Proposal]:
    if is_in and (one.text != other.text or not one.below or not other.below):
        return
    alike = _pattern(one.below, other.below) if is_in else _pattern(one.text, other.text)
    text = moment.text(other.intention.document)
    if alike is None or text is None or one.intention.document != other.intention.document:
        return
    edits = list(_edits(text, alike, other.text if is_in else None))
    below = [edit for edit in edits if edit.start >= other.intention.end]
    ordered = [*below, *(edit for edit in edits if edit.start < other.intention.end)]
    for order, edit in enumerate(ordered if len(edits) <= _MOST else ()):
        label, confidence = ("Put in the line here, too", _PUT_IN) if is_in else ("Take out the line here, too", _TAKEN_OUT)
        yield Proposal(edit=edit, kind="repeat", label=label, confidence=confidence, cause=other.intention.number, order=order)


def _pattern(one: str, other: str) -> re.Pattern[str] | None:
    """Lines alike begin with the same word, or stand alone with it."""
    for statement in _DEBUGGING:
        if statement.fullmatch(one) and statement.fullmatch(other):
            return re.compile(rf"^(?P<indent>[ \t]*){statement.pattern}[ \t]*$", re.MULTILINE)
    first, second = tokens(one), tokens(other)
    alike = Pattern()
    alike.both(first, second)
    return alike.whole_line() if first[:1] == second[:1] and letters(alike.same) >= _LEAST_LETTERS else None


def _edits(text: Text, alike: re.Pattern[str], put: str | None) -> Iterator[Edit]:
    for match in alike.finditer(text.text):
        if put is None:
            yield Edit(text.document, match.start(), min(match.end() + 1, len(text.text)), "")
        elif text.text[: match.start()].rstrip("\n").rpartition("\n")[2].strip() != put:
            yield Edit(text.document, match.start(), match.start(), f"{match['indent']}{put}\n")

"""The same small change made to line after line. Knows no syntax but that of words and brackets, and no moment."""

from __future__ import annotations

import random
import re

from engine.training.corpus import SourceFile
from engine.training.new_names import new_name
from engine.training.sketch import LineEdit, Sketch
from engine.training.worth import COMMON, WORD

_FEWEST, _MOST = 3, 14  # lines of the file that change
_TWO_CAUSES = 0.6  # share of the sketches in which two lines, not one, show what the change is
_REVERSED = 0.5  # share in which a piece is put in instead of left out
_REPLACED = 0.4  # share in which a word gives way to another instead
_TRIES = 12
_LONGEST_PIECE = 40
# What may be left out of a line, or put into it, and leave something that could stand there.
_PIECES = (
    re.compile(r", \w+ ?= ?[\w.\"']+(?=[,)])"),  # an argument with a name
    re.compile(r", [\w.\"']+(?=\))"),  # the last argument
    re.compile(r"\.\w+\(\)"),  # a call in a chain
    re.compile(r"\.\w+(?=[.,;)\s])"),  # a member
    re.compile(r"\b\w+(?:\.|::|->)(?=\w)"),  # what a member is of
    re.compile(r"\b(?:await|async|static|public|private|pub|const|export|readonly|final|mut|unsigned|inline|local|virtual|override) "),
    re.compile(r": [A-Za-z_][\w.]*(?:\[[\w., ]+\])?(?= =|[,);]|$)"),  # a type
    re.compile(r" -> [\w.\[\]:<>]+(?=:| \{)"),
    re.compile(r"(?<=\()[\w.]+, "),  # the first argument
    re.compile(r"(?<=[\"'/])[\w-]+/(?=\w)"),  # a folder
    re.compile(r"(?:\s*(?:#|//) [\w: -]+)$"),  # a comment at the end
)


def repeated(file: SourceFile, rng: random.Random) -> Sketch | None:
    """One line, or one and the next like it, are the cause; the file's others like them follow."""
    lines = file.text.split("\n")
    for _ in range(_TRIES):
        line = rng.choice(lines)
        if len(line.strip()) < 12:
            continue
        change = _replacing(line, file.text, rng) if rng.random() < _REPLACED else _leaving_out(line, rng)
        if change is None:
            continue
        pattern, new, is_reversed = change
        rows = [row for row, line in enumerate(lines) if pattern.search(line)]
        if _FEWEST <= len(rows) <= _MOST:
            return _sketch(lines, rows, pattern, new, is_reversed, rng)
    return None


def _replacing(line: str, text: str, rng: random.Random) -> tuple[re.Pattern[str], str, bool] | None:
    """A word of the line, and another in its place."""
    words = [word for word in WORD.findall(line) if len(word) > 3 and word.lower() not in COMMON]
    old = rng.choice(words) if words else ""
    new = new_name(old, sorted(set(WORD.findall(text))), rng) if old else None
    return (re.compile(rf"\b{re.escape(old)}\b"), new, False) if new else None


def _leaving_out(line: str, rng: random.Random) -> tuple[re.Pattern[str], str, bool] | None:
    """A piece of the line, and nothing in its place."""
    found = [(match[0], pattern) for pattern in _PIECES for match in pattern.finditer(line) if len(match[0]) <= _LONGEST_PIECE]
    if not found:
        return None
    piece, pattern = rng.choice(found)
    # The piece stands in other lines only where it could have been found there in the same way.
    ahead = pattern.pattern.rpartition("(?=")
    look = f"(?={ahead[2]}" if ahead[1] and ahead[2].endswith(")") else ""
    start = r"\b" if piece[0].isalpha() else ""
    return re.compile(start + re.escape(piece) + look), "", rng.random() < _REVERSED


def _sketch(lines: list[str], rows: list[int], pattern: re.Pattern[str], new: str, is_reversed: bool, rng: random.Random) -> Sketch | None:
    causes = 2 if rng.random() < _TWO_CAUSES else 1
    first = rng.randrange(len(rows) - causes)
    edits = []
    for number, row in enumerate(rows):
        before, after = lines[row], pattern.sub(lambda _: new, lines[row])
        if not after.strip():
            return None
        if is_reversed:
            before, after = after, before
        edits.append(LineEdit(line=row, old=(before,), new=(after,), cause=first <= number < first + causes))
    return Sketch(kind="repeat", lines=tuple(lines), edits=tuple(edits))

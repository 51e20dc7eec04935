"""An update snippet laid over the code it belongs to: by the lines both have. Text only, no model: what fits nowhere is said so.

original      snippet                                   result
a             # ... existing code ...                   a
b             b                                         b
c             new                                       new
d             d                                         d
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_TELLING = 3  # characters without which a line stands anywhere
# What stands for lines that stay: three dots in a comment, with or without words.
_ELLIPSIS = re.compile(r"^\s*(?://|#|--|/\*|<!--|;|%)?\s*\.\.\.[^\n]*?(?:\*/|-->)?\s*$")


def parts(prompt: str) -> tuple[str, str] | None:
    """The code and the snippet of an apply prompt; None where it has none."""
    code, snippet = (
        re.search(rf"<\|{tag}\|>(?:\r?\n)?(.*?)(?:\r?\n)?<\|/{tag}\|>", prompt, re.DOTALL) for tag in ("original_code", "update_snippet")
    )
    return (code[1], snippet[1]) if code and snippet else None


def applied(original: str, snippet: str) -> str | None:
    """The code with the snippet laid over it; None where its place cannot be told."""
    lines, pieces = original.split("\n"), _pieces(snippet.split("\n"))
    if len(pieces) == 1 and not _has_ellipsis(snippet) and _anchors(lines, pieces[0].lines, 0) == []:
        return snippet if _least(pieces[0].lines) <= _least(lines) else None  # an indented part is no file
    result: list[str] = []
    done = 0
    for piece in pieces:
        place = _anchored(lines, piece, done)
        if place is None:
            return None
        first, last = place
        result += [*lines[done:first], *piece.lines]
        done = last
    return "\n".join([*result, *lines[done:]])


class _Piece(NamedTuple):
    """Lines between ellipses. `depth` is that of the ellipsis that follows, -1 where none does."""

    lines: list[str]
    depth: int


def _pieces(snippet: Sequence[str]) -> list[_Piece]:
    found: list[_Piece] = []
    lines: list[str] = []
    for line in snippet:
        if _ELLIPSIS.match(line):
            found.append(_Piece(_trimmed(lines), _depth(line)))
            lines = []
        else:
            lines.append(line)
    found.append(_Piece(_trimmed(lines), -1))
    # What only closes a block is there already, behind what the ellipsis stands for.
    return [piece for piece in found if any(len(line.strip()) >= _TELLING for line in piece.lines)]


def _trimmed(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _has_ellipsis(snippet: str) -> bool:
    return any(_ELLIPSIS.match(line) for line in snippet.split("\n"))


def _anchors(lines: Sequence[str], piece: Sequence[str], start: int) -> list[tuple[int, int]]:
    """The lines of a piece that the code has from `start` on: their places in both."""
    found = ((row, _find(lines, line, start)) for row, line in enumerate(piece) if line.strip())
    return [(row, place) for row, place in found if place is not None]


def _anchored(lines: Sequence[str], piece: _Piece, start: int) -> tuple[int, int] | None:
    """The lines from `start` on that a piece takes the place of: from its first line that they have to its last one, with the head of a
    block whose body it begins with, and the rest of the blocks that it shows to their end."""
    known = _anchors(lines, piece.lines, start)
    if not known:
        return None
    row, first = known[0]
    last_row, last = row, first
    for other_row, place in known[1:]:
        if place > last and not _leaves(lines[last + 1 : place], piece.lines):
            last_row, last = other_row, place
    level = _least(piece.lines)
    if any(other_row > last_row and place > last and _depth(lines[place]) == level for other_row, place in known):
        return None  # that line would be there twice
    end = _end(lines, piece, last_row, last)
    return None if end is None else (_beginning(lines, piece.lines[:row], first, start), end)


def _beginning(lines: Sequence[str], above: Sequence[str], first: int, start: int) -> int:
    """`first`, or the head of its block where the piece has another one for it."""
    if not above or not above[-1].strip() or _depth(above[-1]) >= _depth(lines[first]):
        return first
    heads = (place for place in range(first - 1, start - 1, -1) if lines[place].strip() and _depth(lines[place]) < _depth(lines[first]))
    return next(heads, first)


def _end(lines: Sequence[str], piece: _Piece, last_row: int, last: int) -> int | None:
    """Behind the last line that goes; None where what follows may be meant to stay as well as to go."""
    new = [line for line in piece.lines[last_row + 1 :] if line.strip()]
    if not new:
        return last + 1
    depth = _depth(lines[last])
    shown = any(line.strip() and _depth(line) < depth for line in piece.lines[:last_row])  # the head of the block that the line is in
    least = depth - 1 if _depth(new[0]) < depth or (shown and _depth(new[0]) == depth) else depth
    if piece.depth > least:
        return last + 1
    end = last + 1
    for place in range(last + 1, len(lines)):
        if lines[place].strip() and _depth(lines[place]) <= least:
            break
        end = place + 1 if lines[place].strip() else end
    if least < depth == _depth(new[0]) and end - last - 1 > len(new):
        return None
    closes = end < len(lines) and len(lines[end].strip()) < _TELLING and lines[end].strip() and lines[end].rstrip() in new
    return end + 1 if closes else end


def _leaves(between: Sequence[str], piece: Sequence[str]) -> bool:
    """Whether one comes to something else `between` two lines that a piece has one after the other."""
    least = _least(piece)
    return any(line.strip() and len(line.strip()) >= _TELLING and _depth(line) <= least and line not in piece for line in between)


def _least(lines: Sequence[str]) -> int:
    """The depth of the line that is indented the least."""
    return min((_depth(line) for line in lines if line.strip()), default=0)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _find(lines: Sequence[str], line: str, start: int) -> int | None:
    """Where a line stands from `start` on, the only place or the first; None where it is too plain to tell."""
    if len(line.strip()) < _TELLING:
        return None
    return next((place for place in range(start, len(lines)) if lines[place].rstrip() == line.rstrip()), None)

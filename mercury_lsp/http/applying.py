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

# What stands for lines that stay: three dots in a comment, with or without words.
_ELLIPSIS = re.compile(r"^\s*(?://|#|--|/\*|<!--|;|%)?\s*\.\.\.[^\n]*?(?:\*/|-->)?\s*$")


def parts(prompt: str) -> tuple[str, str] | None:
    """The code and the snippet of an apply prompt; None where it has none."""
    code = re.search(r"<\|original_code\|>\n?(.*?)\n?<\|/original_code\|>", prompt, re.DOTALL)
    snippet = re.search(r"<\|update_snippet\|>\n?(.*?)\n?<\|/update_snippet\|>", prompt, re.DOTALL)
    return (code[1], snippet[1]) if code and snippet else None


def applied(original: str, snippet: str) -> str | None:
    """The code with the snippet laid over it; None where its place cannot be told."""
    lines, pieces = original.split("\n"), _pieces(snippet.split("\n"))
    if len(pieces) == 1 and not _has_ellipsis(snippet):
        return _over(lines, pieces[0]) if _anchored(lines, pieces[0], 0) else snippet
    result: list[str] = []
    done = 0
    for piece in pieces:
        place = _anchored(lines, piece, done)
        if place is None:
            return None
        first, last = place
        result += [*lines[done:first], *piece]
        done = last
    return "\n".join([*result, *lines[done:]])


def _pieces(snippet: Sequence[str]) -> list[list[str]]:
    """The runs of lines between ellipses."""
    pieces: list[list[str]] = [[]]
    for line in snippet:
        if _ELLIPSIS.match(line):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [piece for piece in map(_trimmed, pieces) if piece]


def _trimmed(lines: Sequence[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return kept


def _has_ellipsis(snippet: str) -> bool:
    return any(_ELLIPSIS.match(line) for line in snippet.split("\n"))


def _over(lines: Sequence[str], piece: Sequence[str]) -> str:
    place = _anchored(lines, piece, 0)
    assert place is not None
    return "\n".join([*lines[: place[0]], *piece, *lines[place[1] :]])


def _anchored(lines: Sequence[str], piece: Sequence[str], start: int) -> tuple[int, int] | None:
    """The lines from `start` on that a piece takes the place of: from its first line that they have to its last one.

    A first line that they have not goes in front of the next that they have, and likewise at the end.
    """
    places = [(row, _find(lines, line, start)) for row, line in enumerate(piece) if line.strip()]
    known = [(row, place) for row, place in places if place is not None]
    if not known:
        return None
    first = known[0][1]
    ends = [place for _, place in known if place >= first]
    return first, max(ends) + 1


def _find(lines: Sequence[str], line: str, start: int) -> int | None:
    """Where a line stands from `start` on, the only place or the first; None where it is too plain to tell."""
    if len(line.strip()) < 3:
        return None
    return next((place for place in range(start, len(lines)) if lines[place].rstrip() == line.rstrip()), None)

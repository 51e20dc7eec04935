"""Where a draft leaves the string or the comment that the cursor is in. Knows no tree and no indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mercury_lsp import overlap
from mercury_lsp.place import Place

_LONG = ('"""', "'''", "`")
_COMMENT_ENDS = re.compile(r"\*/|-->|\]\]")


def code_from(place: Place, lines: Sequence[str]) -> int | None:
    """The one of a draft's `lines` at whose end code goes on; None where all of them are prose."""
    if not place.in_prose():
        return 0
    if place.kind == "comment":
        end = _COMMENT_ENDS
    elif mark := _delimiter(place):
        end = re.compile(rf"(?<!\\){re.escape(mark)}")
    else:
        return None
    return next((index for index, line in enumerate(lines) if end.search(line)), None)


def open_string(before: str) -> str:
    """The delimiter of a string of several lines that is open at the end of `before`, "" if none: a guess by counting."""
    return next((mark for mark in _LONG if before.count(mark) % 2), "")


def _delimiter(place: Place) -> str:
    """What ends the string the cursor is in, "" where that cannot be told."""
    if place.string_began_above():
        return open_string(place.text[: place.offset])
    return overlap.open_quote(place.before)

"""Columns of one line in UTF-16 code units, as the protocol counts, and in code points, as Python does. Knows no document."""

from __future__ import annotations


def units(text: str) -> int:
    """Length of `text` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def to_units(line: str, column: int) -> int:
    """Code units left of the code-point `column`."""
    return units(line[:column])


def to_column(line: str, character: int) -> int:
    """Code points left of `character` units; between the halves of a surrogate pair counts as before it, past the end as the end."""
    if line.isascii():
        return max(0, min(character, len(line)))
    seen = 0
    for column, letter in enumerate(line):
        seen += 2 if letter > "\uffff" else 1
        if seen > character:
            return column
    return len(line)

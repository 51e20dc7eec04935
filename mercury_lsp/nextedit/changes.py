"""Small replacements in a text, gathered into edits a reader takes in at once. Knows no reason for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mercury_lsp.nextedit.moment import Edit, Text

_MOST_LINES = 6  # of one edit


class Change(NamedTuple):
    start: int
    end: int
    text: str


def gathered(text: Text, changes: Iterable[Change]) -> list[Edit]:
    """Edits from top to bottom; changes on one line or on lines right below each other are one."""
    groups: list[list[Change]] = []
    for change in sorted(set(changes)):
        if groups and _together(text.text, groups[-1], change):
            groups[-1].append(change)
        else:
            groups.append([change])
    return [_joined(text, group) for group in groups]


def in_turn(text: Text, edits: list[Edit], after: int) -> Iterator[tuple[int, Edit]]:
    """Each edit with its turn: what lies below `after` comes first, then what lies above."""
    below = [edit for edit in edits if edit.start >= after]
    yield from enumerate([*below, *(edit for edit in edits if edit.start < after)])


def _together(text: str, group: list[Change], change: Change) -> bool:
    between = text.count("\n", group[-1].end, change.start)
    return change.start >= group[-1].end and between <= 1 and text.count("\n", group[0].start, change.end) < _MOST_LINES


def _joined(text: Text, group: list[Change]) -> Edit:
    parts, at = [], group[0].start
    for change in group:
        parts += [text.text[at : change.start], change.text]
        at = change.end
    return Edit(text.document, group[0].start, group[-1].end, "".join(parts))

"""Whole rows of a document that are to get a new text, and what stands around them."""

from __future__ import annotations

from dataclasses import dataclass

from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.target import Target


@dataclass(frozen=True)
class Region:
    """Characters `start`…`end` of a text: whole rows, the last line break left out."""

    text: str
    start: int
    end: int

    @property
    def before(self) -> str:
        return self.text[: self.start]

    @property
    def inside(self) -> str:
        return self.text[self.start : self.end]

    @property
    def after(self) -> str:
        return self.text[self.end :]

    def replace(self, new: str) -> Replace:
        return Replace(self.start, self.end, new)


def rows(text: str, first: int, end: int) -> Region:
    """Rows `first`…`end` − 1."""
    starts = line_starts(text)
    stop = starts[end] - 1 if end < len(starts) else len(text)
    return Region(text, starts[first], stop)


def selected(target: Target) -> Region:
    """The rows that the selection touches, without blank ones at its ends. Raises `Refused` where there is nothing."""
    if not target.selected.strip():
        raise Refused("nothing is selected")
    first, end = target.rows()
    lines = target.text.split("\n")
    while not lines[first].strip():
        first += 1
    while not lines[end - 1].strip():
        end -= 1
    return rows(target.text, first, end)


def line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n")[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    return starts

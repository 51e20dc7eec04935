"""A place in a text where edits are due, and the region that is cut around it. Knows no token and no repository."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from engine.api import PastEdit

_FEWEST_LINES, _MOST_LINES = 6, 20
_SHOWN_CURSOR = 0.4  # share of the regions that show a cursor where the case names none
_CURSOR_AT_CHANGE = 0.5  # of those


class Change(msgspec.Struct, frozen=True, array_like=True):
    """Lines `first..last` (the last one excluded) of a text that give way to `lines`."""

    first: int
    last: int
    lines: tuple[str, ...]


class EditCase(msgspec.Struct, frozen=True, kw_only=True):
    """A text, or a window of one, at a moment of its editing: what is due in it, and what was done before.

    The region must hold the lines `first..last` and keep off the spans of lines `barred`, where changes are due that nobody could tell.
    """

    path: str
    language: str
    kind: str
    text: str
    due: tuple[Change, ...]  # from top to bottom
    first: int
    last: int
    history: tuple[PastEdit, ...]  # oldest first
    barred: tuple[tuple[int, int], ...] = ()
    cursor: int | None = None  # a place in the text
    repo: str = ""
    commit: str = ""


@dataclass(frozen=True, kw_only=True)
class Rewriting:
    """The parts of a prompt for `engine.layout.rewrite_ids`, and the region's new text."""

    prefix: str
    region: str
    suffix: str
    cursor: int | None
    answer: str


def read_cases(path: Path) -> tuple[EditCase, ...]:
    """The cases of a file with one a line."""
    decoder = msgspec.json.Decoder(EditCase)
    with path.open("rb") as lines:
        return tuple(decoder.decode(line) for line in lines)


def write_cases(path: Path, cases: Iterable[EditCase], most_bytes: int) -> int:
    """Write cases, one a line, up to `most_bytes`; the file is there when it is whole. Returns how many."""
    encoder, room, count = msgspec.json.Encoder(), most_bytes, 0
    unfinished = path.with_name(f"{path.name}.part")
    with unfinished.open("wb") as file:
        for case in cases:
            line = encoder.encode(case) + b"\n"
            room -= len(line)
            if room < 0:
                break
            file.write(line)
            count += 1
    unfinished.replace(path)
    return count


def rewriting(case: EditCase, rng: random.Random, *, prefix_lines: int, suffix_lines: int) -> Rewriting | None:
    """A region of 6 to 20 lines around the case's place, with so many lines around it.

    None where the region has no line that stays, or would be empty afterwards: an empty answer means "nothing to change".
    """
    lines = case.text.split("\n")
    top, bottom = _bounds(case, len(lines), rng)
    inside = [change for change in case.due if top <= change.first and change.last <= bottom]
    new, at = [], top
    for change in inside:
        new += [*lines[at : change.first], *change.lines]
        at = change.last
    region, answer = "\n".join(lines[top:bottom]), "\n".join(new + lines[at:bottom])
    kept = bottom - top - sum(change.last - change.first for change in inside)
    if not kept or not answer.strip() or not region.strip():
        return None
    return Rewriting(
        prefix="".join(f"{line}\n" for line in lines[max(0, top - prefix_lines) : top]),
        region=region,
        suffix="".join(f"\n{line}" for line in lines[bottom : bottom + suffix_lines]),
        cursor=_cursor(case, lines[top:bottom], top, sum(len(line) + 1 for line in lines[:top]), rng),
        answer=answer,
    )


def _bounds(case: EditCase, count: int, rng: random.Random) -> tuple[int, int]:
    """The region's first line and the one after its last: it holds the place, and cuts through no change that is due."""
    around = max(2, rng.randint(_FEWEST_LINES, _MOST_LINES) - (case.last - case.first))
    over = rng.randint(1, around - 1)
    top, bottom = max(0, case.first - over), min(count, case.last + around - over)
    for change in case.due:
        if change.first < top < change.last <= case.first:
            top = change.last
        if case.last <= change.first < bottom < change.last:
            bottom = change.first
    above = [last for _, last in case.barred if last <= case.first]
    below = [first for first, _ in case.barred if first >= case.last]
    return max([top, *above]), min([bottom, *below])


def _cursor(case: EditCase, lines: list[str], top: int, start: int, rng: random.Random) -> int | None:
    """The case's own cursor where it lies in the region of these lines; else, sometimes, one that somebody left there."""
    if case.cursor is not None:
        return case.cursor - start if start <= case.cursor < start + sum(len(line) + 1 for line in lines) else None
    if rng.random() >= _SHOWN_CURSOR:
        return None
    line = case.first - top if rng.random() < _CURSOR_AT_CHANGE else rng.randrange(len(lines))
    line = min(line, len(lines) - 1)
    indent = len(lines[line]) - len(lines[line].lstrip())
    return sum(len(text) + 1 for text in lines[:line]) + rng.randint(indent, len(lines[line]))

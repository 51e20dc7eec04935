"""What somebody's hands do while they write a stretch of a file: keys, pauses, slips that are put right, a jump elsewhere and back.

Knows no server. The same seed gives the same hands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.held_out import Stretch
from benchmarks.typing_replay import keys

# Seconds between two keys of somebody who types five a second, and how unevenly; pauses to think; shares of keys that are slips.
_GAP, _SPREAD = 0.17, 0.45
_AT_LINE_END, _THOUGHT, _THINKS = 0.6, 1.5, 0.05
_SLIP = 0.03
_NOTED = 0.35  # seconds until a slip is seen
_ELSEWHERE = 20  # lines above, where the jump leads
_WORD = "note"
_LETTERS = "etaoinshrdlu"


class Stroke(NamedTuple):
    """`delay` seconds after the one before, `text` is put in at `at` where `removed` characters stood; the cursor is behind it."""

    delay: float
    at: int
    removed: int
    text: str


class Writing(NamedTuple):
    """A text before and the strokes that complete it."""

    path: str
    language: str
    before: str
    strokes: tuple[Stroke, ...]


def writing(stretch: Stretch, context: int, seed: int) -> Writing:
    """`stretch` being typed, `context` characters of its file before it and a quarter of that behind it."""
    rng = random.Random(f"{seed}/{stretch.file.path}/{stretch.start}")
    text = stretch.file.text
    first = max(0, stretch.start - context)
    first = text.find("\n", first, stretch.start) + 1 if first else 0
    before, after = text[first : stretch.start], text[stretch.end : stretch.end + context // 4]
    strokes = tuple(_strokes(before, text[stretch.start : stretch.end], rng))
    return Writing(stretch.file.path, stretch.file.language, before + after, strokes)


def _strokes(before: str, text: str, rng: random.Random) -> Iterator[Stroke]:
    at = len(before)
    pieces = keys(text)
    jump = rng.randrange(len(pieces) // 2, len(pieces)) if before.count("\n") > _ELSEWHERE else -1
    look = _THOUGHT  # somebody who opens a file looks at it first
    for number, piece in enumerate(pieces):
        if number == jump:
            yield from _jump(before, rng)
        if piece.isalpha() and rng.random() < _SLIP:
            wrong = rng.choice(_LETTERS.replace(piece.lower(), ""))
            yield Stroke(_gap(rng), at, 0, wrong)
            yield Stroke(_NOTED, at, 1, "")
        yield Stroke(_gap(rng) + _pause(piece, rng) + look, at, 0, piece)
        look = 0.0
        at += len(piece)


def _jump(before: str, rng: random.Random) -> Iterator[Stroke]:
    """A word is written on a line further up, and deleted again."""
    lines = before.split("\n")[:-_ELSEWHERE]
    at = len("\n".join(lines))
    for number, letter in enumerate(f" {_WORD}"):
        yield Stroke(_THOUGHT if number == 0 else _gap(rng), at + number, 0, letter)
    for number in range(len(_WORD), -1, -1):
        yield Stroke(_gap(rng), at + number, 1, "")


def _gap(rng: random.Random) -> float:
    return rng.lognormvariate(0, _SPREAD) * _GAP


def _pause(piece: str, rng: random.Random) -> float:
    pause = _AT_LINE_END if piece[0] == "\n" else 0.0
    return pause + (_THOUGHT if rng.random() < _THINKS else 0.0)

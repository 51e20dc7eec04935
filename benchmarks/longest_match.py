"""What follows elsewhere in a project after the longest run of words and signs that equals the text before a cursor.

Only measured, by `bench_memory`: beyond the lines that begin alike it gives too little to be kept in memory; ARCHITECTURE.md has the
figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mercury_lsp.lines import Known
from mercury_lsp.session import Snapshot

SHORTEST, LONGEST = 3, 24  # words and signs of a match
_MOST_LOOKED_AT = 400  # of the places after the same three, the latest
_MOST = 64  # of those that match
_NEAR = 3_000  # characters before the cursor
_FAR = 60  # words and signs that a line may go on for
_PIECE = re.compile(r"\s*\n[ \t]*|[ \t]+|\w+|[^\w\s]")
_BEGUN = re.compile(r"\w+\Z")

# Of the logarithm of the odds that the likeliest rest is the line's. Fitted to 30,459 cursors in some hundred repositories. In 13 others
# 963 of 4,279 cursors had one that is 0.6 likely, and of those 779 were right; of `Lines` 765 and 656 (2026-11-30).
_WEIGHTS = {"always": -6.28, "share": 3.44, "count": 0.71, "match": 1.0, "places": -0.10, "begun": 0.32, "left": -0.45, "typed": 0.47}


class Match(NamedTuple):
    """A place that the text before the cursor leads to: how much is the same, and how its line goes on."""

    length: int
    rest: str


class Matches:
    """The texts of one language's files. The document at hand is none of them: it is looked through as it is."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [_pieces(text) for text in texts]
        self._ends: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)  # of three pieces: the places after them
        for number, pieces in enumerate(self._texts):
            for place in range(SHORTEST, len(pieces)):
                self._ends[tuple(pieces[place - SHORTEST : place])].append((number, place))

    def elsewhere(self, before: str) -> list[Match]:
        """In the other files."""
        begun, near = _near(before)
        places = self._ends.get(tuple(near[-SHORTEST:]), [])[-_MOST_LOOKED_AT:]
        return [*_found(self._texts, places, near, begun)][:_MOST]

    def known(self, snapshot: Snapshot) -> Known | None:
        """The likeliest way for the line to go on, by the other files and the document."""
        begun, near = _near(snapshot.before)
        own = [_pieces(snapshot.before), _pieces(snapshot.after)]
        key = near[-SHORTEST:]
        places = [
            (number, place)
            for number, pieces in enumerate(own)
            for place in range(SHORTEST, len(pieces))
            if pieces[place - 1] == key[-1] and pieces[place - SHORTEST : place] == key
        ]
        found = [*_found(own, places, near, begun)][:_MOST] + self.elsewhere(snapshot.before)
        right = snapshot.line_text[snapshot.column :].strip()
        fitting = [match for match in found if match.rest.endswith(right) and match.rest]
        return _likeliest(fitting, len(begun), len(snapshot.line_text[: snapshot.column].strip()), right) if fitting else None


def _pieces(text: str) -> list[str]:
    """Line breaks are the same whatever indentation comes after them."""
    return ["\n" if "\n" in piece else piece for piece in _PIECE.findall(text)]


def _near(before: str) -> tuple[str, list[str]]:
    """The word that is being typed, and the pieces before it."""
    word = _BEGUN.search(before[-80:])
    begun = word[0] if word else ""
    return begun, _pieces(before[: len(before) - len(begun)][-_NEAR:])


def _found(texts: Sequence[Sequence[str]], places: Sequence[tuple[int, int]], near: Sequence[str], begun: str) -> Iterator[Match]:
    for number, place in reversed(places):
        pieces = texts[number]
        if not pieces[place].startswith(begun):
            continue
        length = 0
        while length < min(LONGEST, place, len(near)) and pieces[place - 1 - length] == near[-1 - length]:
            length += 1
        if length >= SHORTEST:
            line = pieces[place : place + _FAR]
            rest = "".join(line[: line.index("\n")] if "\n" in line else line)
            yield Match(length, rest[len(begun) :].rstrip())


def _likeliest(found: Sequence[Match], begun: int, typed: int, right: str) -> Known | None:
    weights: defaultdict[str, float] = defaultdict(float)
    for match in found:
        weights[match.rest] += 2.0 ** min(match.length, 16)
    best = max(weights, key=lambda rest: (weights[rest], len(rest)))
    features = {
        "always": 1.0,
        "share": weights[best] / sum(weights.values()),
        "count": math.log(Counter(match.rest for match in found)[best]),
        "match": math.log(max(match.length for match in found if match.rest == best)),
        "places": math.log(len(found)),
        "begun": math.log1p(begun),
        "left": math.log1p(len(best)),
        "typed": math.log1p(typed),
    }
    missing = best.removesuffix(right)
    odds = sum(_WEIGHTS[name] * value for name, value in features.items())
    return Known(missing, 1 / (1 + math.exp(-odds))) if len(missing) > 1 else None

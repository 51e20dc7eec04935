"""Places in open documents that look like the one at the cursor, told by the names in them. Knows no syntax and no prompt.

What is sent of such a place begins in its middle: it is what came next there that bears on what comes next here.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from mercury_lsp.definitions import Source
from mercury_lsp.syntax import whole_lines

_SIZE, _STEP = 10, 5  # lines
_SHIFT = 4  # lines from where a place begins to where what is sent of it does
_SENT = 12  # lines
_MOST = 2_000  # places of a document, 10,000 lines
_LEAST = 5  # names that a place is taken to have besides its own: one name in common does not make two places alike
_NAME = re.compile(r"[^\W\d]\w{3,}")
# Of any language: they say nothing of what a place is about.
_KEYWORDS = frozenset(
    "abstract await break case catch class const continue default elif else elsif enum except export extends extern false False final"
    " finally foreach from func function global implements import include interface internal lambda let local match module namespace nil"
    " null None override package pass private protected public raise readonly ref require return self sizeof static string struct super"
    " switch template then this throw throws trait true True try type typedef typename union unless until use using var virtual void when"
    " where while with yield".split()
)


class Regions(msgspec.Struct, frozen=True):
    """A document cut into places that overlap; `places` are by name the numbers of those that have it."""

    source: Source
    text: str
    starts: Sequence[int]  # of lines, and the text's length
    names: Sequence[frozenset[str]]  # of places
    places: Mapping[str, Sequence[int]]

    def most_alike(self, names: Collection[str], hidden: range) -> tuple[float, int]:
        """(how much, number) of the place that is most like one with `names` and outside of `hidden`; (0, 0) if none is."""
        shared = Counter(number for name in names for number in self.places.get(name, ()))
        there = ((_likeness(count, self.names[number]), -number) for number, count in shared.items() if not self._lies_in(number, hidden))
        likeness, number = max(there, default=(0.0, 0))
        return likeness, -number

    def sent(self, number: int, most: int) -> str:
        """Whole lines of a place, as many as fit into `most` characters."""
        first = number * _STEP + _SHIFT
        return whole_lines(self.text[self._start(first) : self._start(first + _SENT)], most)

    def _lies_in(self, number: int, hidden: range) -> bool:
        first = number * _STEP
        return self._start(first) < hidden.stop and self._start(first + _SHIFT + _SENT) > hidden.start

    def _start(self, line: int) -> int:
        return self.starts[min(line, len(self.starts) - 1)]


def likeness(place: Collection[str], names: frozenset[str]) -> float:
    """How much a place with the names `place` is like one with `names`."""
    return _likeness(len(names.intersection(place)), place)


def _likeness(shared: int, place: Collection[str]) -> float:
    return shared / math.sqrt(len(place) + _LEAST)


def regions(source: Source, text: str, pause: Callable[[], None] = lambda: None) -> Regions:
    """`pause` is called every now and then."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    names = []
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number in range(min(-(-len(lines) // _STEP), _MOST)):
        pause()
        names.append(names_in("\n".join(lines[number * _STEP : number * _STEP + _SIZE])))
        for name in names[-1]:
            places[name].append(number)
    return Regions(source, text, starts, names, places)


def names_in(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text)) - _KEYWORDS

"""What a model is asked: holes and stretches of held-out files, the same ones for the same seed. Knows no engine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from engine.api import InfillRequest
from engine.training.corpus import Corpus, Drawer, SourceFile
from engine.training.holes import Hole, cut
from mercury_lsp.context import near_prefix, near_suffix

T = TypeVar("T")

# The kinds that training cuts, but for whole bodies. A span must begin inside a word here.
KINDS = {"rest": "rest of line", "line": "whole line", "lines": "several lines", "span": "span mid-word"}
# A draft has at most 64 tokens, which is 200 characters of code and some more: a longer middle could not be matched.
_LONGEST = 200
_TRIES = 200  # for each one wanted; whole lines, the rarest, are a tenth of what is cut
_MID_WORD = re.compile(r"\w(?=\w)")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A hole to fill, and where it was cut."""

    file: SourceFile
    hole: Hole

    @property
    def middle(self) -> str:
        return self.file.text[self.hole.start : self.hole.end]

    def request(self, *, verify: bool) -> InfillRequest:
        """What the engine is asked: as much text as the server would send, and no deadline."""
        return InfillRequest(
            prefix=near_prefix(self.file.text[: self.hole.start]),
            suffix=near_suffix(self.file.text[self.hole.end :]),
            path=self.file.path,
            multiline=self.hole.kind in ("lines", "span"),
            verify=verify,
        )

    def filled(self, text: str) -> str:
        """The file with `text` in the hole."""
        return self.file.text[: self.hole.start] + text + self.file.text[self.hole.end :]


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Some lines of a file, to be typed: `text[start:end]`, from the first line's indentation to the last one's end.

    None that stands a second time in its file: such lines are pasted, not typed, and a model only has to copy them. Two of nine drawn
    without this rule did, and 99 % of their keys were saved (2026-11).
    """

    file: SourceFile
    start: int
    end: int


def languages_of(corpus: Corpus) -> list[str]:
    """The languages that are there, the weightiest in training first."""
    weights = corpus.weights()
    return sorted(weights, key=lambda language: (-weights[language], language))


def draw_cases(corpus: Corpus, languages: Sequence[str], each: int, seed: int) -> list[Case]:
    """`each` holes of every language and kind, fewer where there are none, in an order in which any first part is a fair sample."""
    drawers = corpus.by_language()
    cases = [case for language in languages for case in _cases(drawers[language], each, random.Random(f"{seed}/{language}"))]
    random.Random(seed).shuffle(cases)
    return cases


def _cases(drawer: Drawer, each: int, rng: random.Random) -> list[Case]:
    return [case for kind in KINDS for case in _distinct(partial(_case, drawer, kind, rng), each)]


def _case(drawer: Drawer, kind: str, rng: random.Random) -> Case | None:
    """A hole as training cuts it, if it is of the kind that is wanted and worth asking about."""
    file = drawer.draw(rng)
    hole = cut(file.text, rng)
    middle = file.text[hole.start : hole.end]
    if hole.kind != kind or not middle.strip() or len(middle) > _LONGEST:
        return None
    if kind == "span" and not (hole.start and _MID_WORD.match(file.text, hole.start - 1)):
        return None
    return Case(file=file, hole=hole)


def draw_stretches(corpus: Corpus, languages: Sequence[str], each: int, length: int, seed: int) -> list[Stretch]:
    """`each` stretches of every language, of about `length` characters: to the end of the line in which they reach it."""
    stretches: list[Stretch] = []
    for language, drawer in corpus.by_language().items():
        if language in languages:
            rng = random.Random(f"{seed}/{language}/stretches")
            stretches += _distinct(partial(_stretch, drawer, length, rng), each)
    random.Random(seed).shuffle(stretches)
    return stretches


def _stretch(drawer: Drawer, length: int, rng: random.Random) -> Stretch | None:
    file = drawer.draw(rng)
    text = file.text
    start = text.rfind("\n", 0, rng.randrange(len(text))) + 1
    start += len(text[start:]) - len(text[start:].lstrip())
    end = text.find("\n", start + length)
    end = start + len(text[start : end if end >= 0 else len(text)].rstrip())
    fits = length <= end - start <= 1.5 * length
    return Stretch(file=file, start=start, end=end) if fits and text.count(text[start:end]) == 1 else None


def _distinct(draw: Callable[[], T | None], count: int) -> list[T]:
    """`count` different ones, fewer where so many tries do not find them."""
    found: dict[T, None] = {}
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        if (one := draw()) is not None:
            found[one] = None
    return list(found)

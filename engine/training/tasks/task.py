"""What a task is: a place in a file, what stands there, what was asked for, and the answer. Knows no token."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from engine.training.syntax import Source

LONGEST = 20  # rows of a region
LONGEST_ANSWER = 32  # rows


@dataclass(frozen=True, kw_only=True)
class Task:
    """Rows `first`…`end` − 1 of a file give way to `region`; `answer` is what is to stand there, the region itself where nothing changes.

    `name` is the command's in `engine.instructions`, `values` what its wording is filled with. `cursor` is a place in the region.
    """

    name: str
    first: int
    end: int
    region: str
    answer: str
    values: Mapping[str, str] = field(default_factory=dict)
    symbol: str = ""  # the definition it is about
    cursor: int | None = None


T = TypeVar("T")
# A maker looks for one task in a file, at a place that the generator chooses; None where there is none.
Maker = Callable[[Source, random.Random], Task | None]


def fits(task: Task) -> bool:
    """Whether region and answer are short enough, and the region is not empty."""
    return bool(task.region.strip()) and _rows(task.region) <= LONGEST and _rows(task.answer) <= LONGEST_ANSWER


def around(source: Source, first: int, end: int, rng: random.Random, most: int = 4) -> tuple[int, int]:
    """Rows `first`…`end` − 1 with up to `most` more on either side, blank edges left out."""
    start = max(0, first - rng.choice((0, 0, 1, 2, most)))
    stop = min(len(source.lines), end + rng.choice((0, 0, 1, 2, most)))
    while start < first and not source.lines[start].strip():
        start += 1
    while stop > end and not source.lines[stop - 1].strip():
        stop -= 1
    return start, stop


def try_each(found: Sequence[T], make: Callable[[T], Task | None], rng: random.Random, tries: int = 8) -> Task | None:
    """The first task that `make` gives for some of `found` in random order."""
    for item in rng.sample(found, min(tries, len(found))):
        task = make(item)
        if task is not None and fits(task):
            return task
    return None


def _rows(text: str) -> int:
    return text.count("\n") + 1

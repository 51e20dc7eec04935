"""Says how far a long run is: a bar where somebody watches, else a line now and then. Knows nothing of what is done."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")

_EVERY = 20.0  # seconds between two lines


def told(items: Sequence[T], what: str, console: Console) -> Iterator[T]:
    """The items, with progress on `console` while they are taken."""
    yield from _bar(items, what, console) if console.is_terminal else _lines(items, what, console)


def _bar(items: Sequence[T], what: str, console: Console) -> Iterator[T]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield from bar.track(items, description=what)


def _lines(items: Sequence[T], what: str, console: Console) -> Iterator[T]:
    started = said = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if done and now - said >= _EVERY:
            said = now
            console.print(f"{what}: {done} of {len(items)}, about {(now - started) / done * (len(items) - done):.0f} s left")
        yield item
    console.print(f"{what}: {len(items)} in {time.monotonic() - started:.0f} s")

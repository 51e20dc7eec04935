"""Hears of a decoding as it goes on. Takes the place of a source of drafts, of which it has none; knows no model and no text."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Listener:
    """`tell` gets all committed ids so far, once a forward; those of the last forward are in the result only."""

    favour = 0.0

    def __init__(self, tell: Callable[[Sequence[int]], None]) -> None:
        self._tell = tell
        self._ids: list[int] = []

    def add(self, index: int) -> None:
        self._ids.append(index)

    def draft(self, most: int) -> tuple[list[int], list[float]]:
        """Nothing. It is asked once a forward, which is often enough to tell."""
        if self._ids:
            self._tell(self._ids)
        return [], []

"""Drafts from a text that is being rewritten: what stands in it after the place that the result has come to. Knows no model and no text."""

from __future__ import annotations

from collections.abc import Sequence

# How likely the next id of the text is the result's too, by how many ids before it were (the last number holds for more).
_HOLDS = (0.6, 0.8, 0.93, 0.97)
# Where the result left the text, it comes back to it within so many ids.
_WINDOW = 96


class Follow:
    """The ids of the text, and how far the result has come in them."""

    def __init__(self, ids: Sequence[int], favour: float = 0.0) -> None:
        """`favour` is added to the logits of its drafts."""
        self.favour = favour
        self._ids = list(ids)
        self._place = 0  # of the id that would come next
        self._run = len(_HOLDS) - 1  # ids that were the text's own before it
        self._before = -1

    def add(self, index: int) -> None:
        """One more id of the result."""
        place = self._found(index)
        self._run = 0 if place is None else self._run + 1 if place == self._place else 1
        self._place = self._place if place is None else place + 1
        self._before = index

    def draft(self, most: int) -> tuple[list[int], list[float]]:
        """Up to `most` ids that may follow, and how likely each is if those before it hold. Empty while the result is elsewhere."""
        ids = self._ids[self._place : self._place + most] if self._run else []
        return ids, [_HOLDS[min(self._run + ahead, len(_HOLDS) - 1)] for ahead in range(len(ids))]

    def _found(self, index: int) -> int | None:
        """The place of `index` in the text: the next one, the nearest ahead that the id before it fits, or the one after a replaced id."""
        ids, place = self._ids, self._place
        if ids[place : place + 1] == [index]:
            return place
        ahead = range(place + 1, min(len(ids), place + _WINDOW))
        pair = next((there for there in ahead if ids[there] == index and ids[there - 1] == self._before), None)
        return place + 1 if pair is None and ids[place + 1 : place + 2] == [index] else pair

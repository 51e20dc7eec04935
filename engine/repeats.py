"""Drafts without a model: what followed the last time the same ids came. Knows no text, no cache and no schedule."""

from __future__ import annotations

from collections.abc import Sequence

# How often the id that followed an earlier run of so many equal ids followed again, for runs of 2, 3, … 6 and more. Default model's own
# text on 37 lines of repositories it never saw, in six languages: 39 of 59, 26 of 41, 22 of 28, 18 of 22, 73 of 83 (2026-11-30).
# Of single ids 33 of 121 did: not worth a draft.
_HOLDS = (0.65, 0.65, 0.79, 0.82, 0.88)
_SHORTEST = 2
_LONGEST = _SHORTEST + len(_HOLDS) - 1
_MOST = 8  # ids of a draft: seven in eight of them hold, so hardly a longer one would, and each costs a row
_PLACES = 16  # of the same pair, the latest ones are looked at


class Repeats:
    """The ids of a prompt and of what was written after it, with an index of where each pair of ids stands."""

    favour = 0.0

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids: list[int] = []
        self._ends: dict[tuple[int, int], list[int]] = {}  # of a pair: the places after it
        for index in ids:
            self.add(index)

    def add(self, index: int) -> None:
        """One more id, at the end."""
        # The pair that ended before this one is entered only now: what follows it is known.
        if len(self._ids) >= 2:
            self._ends.setdefault((self._ids[-2], self._ids[-1]), []).append(len(self._ids))
        self._ids.append(index)

    def draft(self, most: int) -> tuple[list[int], list[float]]:
        """Up to `most` ids that may follow, and how likely each is if those before it hold. Empty where nothing repeats."""
        place, length = self._longest()
        ids = self._ids[place : place + min(most, _MOST)] if length else []
        return ids, [_HOLDS[min(length + ahead, _LONGEST) - _SHORTEST] for ahead in range(len(ids))]

    def _longest(self) -> tuple[int, int]:
        """The place after the longest earlier run that equals the end of the ids, the latest of equals, and its length."""
        best = (0, 0)
        for place in reversed(self._ends.get((self._ids[-2], self._ids[-1]), [])[-_PLACES:] if len(self._ids) >= 2 else []):
            length = _SHORTEST
            while length < _LONGEST and length < place and self._ids[place - 1 - length] == self._ids[-1 - length]:
                length += 1
            if length > best[1]:
                best = (place, length)
        return best

"""What became of what was asked for and shown: counts and milliseconds of one server, in memory. Knows no text, no file and no message."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Literal

import msgspec

from engine.api import Draft

_RECENT = 2_000  # answers and suggestions of which the milliseconds are kept


class Times(msgspec.Struct, frozen=True):
    """Milliseconds, of the latest ones."""

    p50: float
    p95: float
    p99: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What a user or a benchmark is told. `suggestions` that were shown end as accepted, typed (to the end) or rejected."""

    asks: int = 0  # requests for a suggestion
    cancelled: int = 0  # that another one overtook, or the client took back
    reused: int = 0  # answered by what was left of the last suggestion
    drafts: int = 0  # answered by the engine
    late: int = 0  # of those: cut short by the deadline
    forwards: int = 0
    tokens: int = 0
    prefill_tokens: int = 0
    suggestions: int = 0
    accepted: int = 0
    partly: int = 0  # times a word or a line was taken
    typed: int = 0
    rejected: int = 0
    characters: int = 0  # that accepting put in
    answer_ms: Times | None = None  # from an ask to its answer
    accepted_ms: Times | None = None  # from when a suggestion was first shown to its end
    partly_ms: Times | None = None  # to a word or a line of it being taken
    typed_ms: Times | None = None
    rejected_ms: Times | None = None


class _Shown(msgspec.Struct):
    since: float
    length: int  # of the text that is left
    whole: int  # a mark of the text before the cursor once all of it is there
    ids: set[str]


class Account:
    """One server's. `now` gives seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._counts: Counter[str] = Counter()
        self._times: dict[str, deque[float]] = {
            name: deque(maxlen=_RECENT) for name in ("answer", "accepted", "partly", "typed", "rejected")
        }
        self._shown: dict[str, _Shown] = {}  # by document

    def asked(self) -> float:
        """The moment, for `answered`."""
        self._counts["asks"] += 1
        return self._now()

    def answered(self, asked: float) -> None:
        self._times["answer"].append((self._now() - asked) * 1e3)

    def cancelled(self) -> None:
        self._counts["cancelled"] += 1

    def reused(self) -> None:
        self._counts["reused"] += 1

    def drafted(self, draft: Draft) -> None:
        self._counts.update(
            drafts=1,
            late=draft.ended == "deadline",
            forwards=draft.forwards,
            tokens=draft.tokens,
            prefill_tokens=draft.prefill_tokens,
        )

    def shown(self, document: str, item: str, before: str, text: str, *, same: bool) -> None:
        """`text` was offered after `before`; `same`: it is what is left of the one before."""
        shown = self._shown.get(document)
        if same and shown is not None:
            shown.length = len(text)
            shown.ids.add(item)
            return
        self.left(document, before)
        self._counts["suggestions"] += 1
        self._shown[document] = _Shown(self._now(), len(text), hash(before + text), {item})

    def offered(self, document: str, item: str) -> None:
        """Beside what is shown, for the user to choose."""
        if (shown := self._shown.get(document)) is not None:
            shown.ids.add(item)

    def left(self, document: str, before: str) -> None:
        """What was shown is so no longer, the text before the cursor being `before` now: it was typed to its end, or nobody wanted it."""
        if (shown := self._shown.pop(document, None)) is None:
            return
        self._became(shown, "typed" if shown.whole == hash(before) else "rejected")

    def accepted(self, item: str) -> None:
        for document, shown in self._shown.items():
            if item in shown.ids:
                del self._shown[document]
                self._counts["characters"] += shown.length
                self._became(shown, "accepted")
                return

    def accepted_part(self, item: str, length: int) -> None:
        """`length` characters of it; the rest is still there."""
        for shown in self._shown.values():
            if item in shown.ids:
                self._counts["characters"] += max(0, length)
                self._became(shown, "partly")

    def figures(self) -> Figures:
        found: dict[str, Any] = {**self._counts, **{f"{name}_ms": _times(values) for name, values in self._times.items()}}
        return Figures(**found)

    def _became(self, shown: _Shown, how: Literal["accepted", "partly", "typed", "rejected"]) -> None:
        self._counts[how] += 1
        self._times[how].append((self._now() - shown.since) * 1e3)


def _times(values: deque[float]) -> Times | None:
    if not values:
        return None
    ordered = sorted(values)
    return Times(*(round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) for share in (0.5, 0.95, 0.99)))

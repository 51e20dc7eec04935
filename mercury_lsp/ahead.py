"""When to draft before anybody asks: while the keys rest, and where the cursor was put. Knows no engine and no text.

Some clients ask 75 to 200 ms after a change. What they will ask about is known at the change; by the time they ask, the draft is there.
One that asks with every key leaves no time for that, and is told by it. Our own say where the cursor has come to rest: what stands
around it is read before the first key.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from mercury_lsp.params import Change, Position

_log = logging.getLogger(__name__)

# Seconds without a key after which a draft is begun. A client whose first ask after a change comes later than that lets the keys rest.
_REST = 0.04
_PAIRS = frozenset({"()", "[]", "{}", "<>", '""', "''", "``"})

Begin = Callable[[str, Position], Coroutine[Any, Any, None]]


class Ahead:
    """Told of changes and asks on the event loop; `begin` gets the URI and the place of the cursor, as far as it can be told."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._rests = False  # the client lets the keys rest
        self._changed: dict[str, float] = {}  # when a document was changed that nobody asked about since
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def changed(self, document: str, uri: str, changes: list[Change]) -> None:
        """The document has changed so; what was drafted for it is for a text that is no more."""
        self._end(document)
        self._changed[document] = time.monotonic()
        if self._rests and changes and (place := cursor_after(changes[-1])) is not None:
            loop = asyncio.get_running_loop()
            self._timers[document] = loop.call_later(_REST, self._start, document, uri, place)

    def moved(self, document: str, uri: str, place: Position) -> None:
        """The cursor was put somewhere without a change, and rests there."""
        self._end(document)
        self._start(document, uri, place)

    def asked(self, document: str) -> None:
        """Somebody asks by himself: no need to begin any more, and what has begun goes on."""
        self._do_not_begin(document)
        if (changed := self._changed.pop(document, None)) is not None:
            self._rests = time.monotonic() - changed > _REST

    def forget(self, document: str) -> None:
        """The document was closed."""
        self._end(document)
        self._changed.pop(document, None)

    def _end(self, document: str) -> None:
        """End what has begun for the document."""
        self._do_not_begin(document)
        if (task := self._tasks.pop(document, None)) is not None:
            task.cancel()

    def _do_not_begin(self, document: str) -> None:
        if (timer := self._timers.pop(document, None)) is not None:
            timer.cancel()

    def _start(self, document: str, uri: str, place: Position) -> None:
        self._timers.pop(document, None)
        task = self._tasks[document] = asyncio.ensure_future(self._begin(uri, place))
        task.add_done_callback(lambda task: self._ended(document, task))

    def _ended(self, document: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(document) is task:
            del self._tasks[document]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("nothing was drafted ahead: %s", error)  # whoever asks next hears of it


def cursor_after(change: Change) -> Position | None:
    """Where the cursor stands after a change, within a pair that the editor closed; None where the whole text was sent."""
    if change.range is None:
        return None
    start = change.range.start
    *above, last = change.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    units = len(last.encode("utf-16-le")) // 2 - (change.text in _PAIRS)
    return Position(start.line + len(above), units if above else start.character + units)

"""Tells the index of a project what happens: in the editor, on disk, to the workspace's folders. Knows no prompt and no engine.

Lives on the event loop; the reading is done in the background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from mercury_lsp.background import Background
from mercury_lsp.indexing import Indexing
from mercury_lsp.related import source_of
from mercury_lsp.session import Session
from mercury_lsp.uris import file_key, key_of

_QUIET = 1.0  # seconds without a change after which an open document is read anew


class Project:
    """Of open documents the session knows the text. `busy` tells whether reading has to wait."""

    def __init__(self, session: Session, busy: Callable[[], bool]) -> None:
        self._session = session
        self._background = Background(lambda: self.indexing.step(), busy)
        self.indexing = Indexing(pause=self._background.pause, wake=self._background.wake)
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start(self) -> None:
        """Begin to read. What happened before is not lost."""
        self._background.start()

    def close(self) -> None:
        self._background.close()
        for timer in self._timers.values():
            timer.cancel()

    def look_through(self, roots: Sequence[str]) -> None:
        """`roots` are the workspace's folders from now on."""
        self.indexing.look_through(roots)

    def opened(self, uri: str) -> None:
        self._read_after(0, uri)

    def changed(self, uri: str) -> None:
        """It is read when it stays so for a while."""
        self._read_after(_QUIET, uri)

    def closed(self, uri: str) -> None:
        self._stop_timer(uri)
        self.indexing.close(file_key(uri))

    def touched(self, paths: Iterable[str]) -> None:
        """Something happened to these on disk."""
        for path in paths:
            self.indexing.touch(path)

    def _read_after(self, seconds: float, uri: str) -> None:
        self._stop_timer(uri)
        self._timers[key_of(uri)] = asyncio.get_running_loop().call_later(seconds, self._read, uri)

    def _stop_timer(self, uri: str) -> None:
        timer = self._timers.pop(key_of(uri), None)
        if timer is not None:
            timer.cancel()

    def _read(self, uri: str) -> None:
        self._timers.pop(key_of(uri), None)
        snapshot = self._session.snapshot(uri, 0, 0)
        if snapshot is not None:
            self.indexing.open(source_of(snapshot), snapshot.text)

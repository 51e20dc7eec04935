"""A text while it is rewritten, for clients that draw it where it stands (`experimental.mercuryCanvas`). Knows no command and no model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from engine.api import Canvas
from mercury_lsp.refactor.changes import protocol_range
from mercury_lsp.session import Snapshot

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

METHOD = "mercury/canvas"
_REFRESH_SECONDS = 0.1  # between two views of one canvas


class CanvasView:
    """Sends `{textDocument, range, canvas: {settled, draft}}` of one document: what the range is becoming, at last a null `canvas`."""

    def __init__(self, ls: MercuryServer, snapshot: Snapshot) -> None:
        self._ls, self._snapshot = ls, snapshot
        self._wanted = ls.client_can("experimental", "mercuryCanvas")
        self._shown: dict[str, Any] | None = None  # where
        self._last = 0.0

    def show(self, canvas: Canvas, start: int, end: int) -> None:
        """`start` and `end` are characters of the snapshot. Too soon after the last one it is passed over."""
        now = time.monotonic()
        if not self._wanted or now - self._last < _REFRESH_SECONDS:
            return
        self._last = now
        self._shown = {
            "textDocument": {"uri": self._snapshot.uri, "version": self._snapshot.version},
            "range": protocol_range(self._snapshot, start, end),
        }
        self._ls.protocol.notify(METHOD, {**self._shown, "canvas": {"settled": canvas.settled, "draft": canvas.draft}})

    def close(self) -> None:
        """Nothing is shown after it."""
        self._wanted = False
        if self._shown is not None:
            self._ls.protocol.notify(METHOD, {**self._shown, "canvas": None})

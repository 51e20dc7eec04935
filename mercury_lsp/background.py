"""A thread for work that can wait: a little at a time, with rests, and none while something else matters. Knows not what it does.

Not by a nice value: whoever waits for Python's lock would then wait for the least important thread of the machine.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)

# Works for so long, then lets go of Python's lock for so long. Without that, each call into torch and each message waits up to 5 ms for it.
_WORK = 0.001
_REST = 0.001
_LOOK = 0.02  # how often it is looked whether what matters is over


class Background:
    """Calls `step` until that says there is nothing to do, then sleeps until it is woken. `busy` tells whether something else matters."""

    def __init__(self, step: Callable[[], bool], busy: Callable[[], bool]) -> None:
        self._step, self._busy = step, busy
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._since = 0.0
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)

    def start(self) -> None:
        """Begin with what there is to do; once."""
        if self._thread.ident is None:
            self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._wake.set()

    def close(self) -> None:
        """End after the step in progress."""
        self._closed.set()
        self._wake.set()

    def pause(self) -> None:
        """To be called again and again by what `step` does."""
        if time.perf_counter() - self._since < _WORK:
            return
        self._closed.wait(_REST)
        while self._busy() and not self._closed.wait(_LOOK):
            pass
        self._since = time.perf_counter()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._wake.clear()
            while not self._closed.is_set() and self._done():
                self.pause()
            self._wake.wait()

    def _done(self) -> bool:
        try:
            return self._step()
        except Exception:  # a file that nobody thought of must not be the last one
            _log.exception("in the background")
            return True

"""How far the loading of a model is: told by who loads to who waits, whatever lies between them. Knows no model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


def told(share: float) -> None:
    """`share` of it is done, 0 to 1. It may be told less than before, where one part is over and another begins."""
    listener = _listener.get()
    if listener is not None:
        listener(share)


@contextmanager
def heard(listener: Callable[[float], None]) -> Iterator[None]:
    """Call `listener`, on this thread, for what is told meanwhile on this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)

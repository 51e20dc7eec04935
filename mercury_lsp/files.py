"""What was made of a file, made anew when the file has changed. Knows no content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Fresh(Generic[T]):
    """Remembers what `make` made of each file; to ask again costs one `stat`."""

    def __init__(self, make: Callable[[list[str]], T]) -> None:
        self._make = make
        self._known: dict[Path, tuple[int, T]] = {}

    def __call__(self, path: Path) -> T:
        """What `make` makes of the file's lines; of none where the file cannot be read."""
        now = stamp(path)
        known = self._known.get(path)
        if known is None or known[0] != now:
            known = self._known[path] = (now, self._make(_lines(path) if now else []))
        return known[1]


def stamp(path: Path) -> int:
    """Changes with the file; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):  # ValueError: no file can have such a name
        return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace").split("\n")  # other line ends are parts of names
    except OSError:
        return []

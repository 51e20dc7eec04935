"""The source files of a folder that may be read, nearest the top first, and the text of one. Knows no grammar and no index."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mercury_lsp.privacy import Privacy

RULES = (".gitignore", ".mercuryignore")  # files that change what may be read
# What is larger, or has longer lines on average, was written by a program; training reads no such files either.
_LARGEST = 400_000  # bytes
_LONGEST_LINE = 160
# Other people's code, whether it is ignored or not. Folders whose names begin with a dot are not entered either.
_FOREIGN = frozenset({"node_modules", "site-packages", "__pycache__"})
_MARKS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})  # files that say the same of the folder they lie in


class Found(NamedTuple):
    path: str
    stamp: int


def source_files(
    top: str, privacy: Privacy, wanted: Callable[[str], bool], pause: Callable[[], None], hidden: Callable[[str], None]
) -> Iterator[Found]:
    """Files whose names are `wanted`; `hidden` is told of what `privacy` hides. Links are not followed. `pause` is called now and then."""
    folders = deque([top])
    while folders:
        folder = folders.popleft()
        pause()
        things = _things(folder)
        if not _MARKS.isdisjoint(thing.name for thing in things) and folder != top:
            continue
        hides = privacy.sieve(Path(folder))
        for thing in things:
            pause()
            is_folder = thing.is_dir(follow_symlinks=False)
            if not (_passes([thing.name]) if is_folder else wanted(thing.name) and thing.is_file(follow_symlinks=False)):
                continue
            if hides(thing.name, is_folder):
                hidden(thing.path)
            elif is_folder:
                folders.append(thing.path)
            else:
                yield Found(thing.path, _stamp(thing))


def belongs(path: str, roots: Sequence[str]) -> bool:
    """Whether a file would be come upon in one of `roots`, as far as names tell."""
    return any(
        _passes(Path(path).relative_to(root).parts[:-1]) for root in roots if Path(path).is_relative_to(root) and not is_too_wide(root)
    )


def _passes(folders: Iterable[str]) -> bool:
    return not any(name.startswith(".") or name in _FOREIGN for name in folders)


def is_too_wide(folder: str) -> bool:
    """Whether a folder is no project, as some editors name one for want of better: the user's home or a folder around it."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  # `Path.home` raises where there is none
    return Path(folder) == home or Path(folder) in home.parents


def read_source(path: str) -> str | None:
    """The text with `\\n` only; None where it is no text, or none that somebody wrote."""
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return None
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
    if "\0" in text or len(text) > _LONGEST_LINE * (text.count("\n") + 1):
        return None
    return text


def _things(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as things:
            return sorted(things, key=lambda thing: thing.name)
    except OSError:
        return []


def _stamp(thing: os.DirEntry[str]) -> int:
    try:
        return thing.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0

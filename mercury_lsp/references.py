"""What the names near a cursor most likely mean: their definitions, where the model would not see them anyway. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mercury_lsp.definitions import Definition, Source
from mercury_lsp.index import View

_RARE = 3  # a name with more definitions than this, of which none is nearer than the rest, says little
_COMMON = 100  # and one with so many is not looked into at all: time
_IMPORT = re.compile(r"^.*\b(?:import|from|require|require_relative|use|using|include|include_once|require_once|mod)\b.*$", re.MULTILINE)
# Files that are named for the folder they lie in.
_FOLDER_NAMED = frozenset({"__init__", "index", "mod", "init", "lib", "main"})


def referred(
    source: Source, names: Sequence[str], head: str, seen: str, view: View, counts: Callable[[Source], bool]
) -> Iterator[Definition]:
    """Of each of `names` one definition, in their order. `head` is where the file imports, `seen` what the model sees of it."""
    imported = _imported(head)
    for name in names:
        places = view.find(name)
        places = tuple(each for each in places if counts(each.source)) if len(places) < _COMMON else ()
        if places and not any(each.text.partition("\n")[0] in seen for each in places if each.source.key == source.key):
            nearest = _nearest(places, source, imported)
            if len(nearest) <= _RARE:
                yield min(nearest, key=lambda each: each.source.path)


def _nearest(places: Sequence[Definition], source: Source, imported: frozenset[str]) -> Sequence[Definition]:
    """Those of the same file, else of files that are imported, else of the same folder, else all."""
    folder, _ = _located(source.path)
    located = [(each, *_located(each.source.path)) for each in places]
    for nearer in (
        [each for each in places if each.source.key == source.key],
        [each for each, _, stem in located if stem in imported],
        [each for each, other, _ in located if other == folder],
        places,
    ):
        if nearer:
            return nearer
    return places


def _imported(head: str) -> frozenset[str]:
    """The words of the lines that import something."""
    return frozenset(word for line in _IMPORT.findall(head) for word in re.findall(r"\w+", line))


def _located(path: str) -> tuple[str, str]:
    """The folder of a file, and the name that it is imported by."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    stem = name.partition(".")[0]
    return folder, folder.rpartition("/")[2] if stem in _FOLDER_NAMED else stem

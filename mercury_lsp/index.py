"""What is known of the files of a workspace: a view that never changes, and the table that makes the next one. Reads no file."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mercury_lsp.definitions import Definition
from mercury_lsp.regions import Regions

# Names are spread over many small dicts, so that a view shares nearly all of them with the one before it: a file that changes costs a copy
# of the few that its names are in.
_SHARDS = 1024
_MOST_DOCUMENTS = 8
MOST_FILES = 50_000
# As counted here. With 200 the process grew by 246 MB (312,000 definitions of 26,000 files), some 25 of them grammars and modules.
MOST_BYTES = 180_000_000
_OVERHEAD = 320  # bytes that a definition takes besides its text


class View:
    """All definitions by name, and the open documents, as they were at one moment."""

    __slots__ = ("_shards", "documents")

    def __init__(
        self, shards: Sequence[Mapping[str, tuple[Definition, ...]]] = ({},) * _SHARDS, documents: tuple[Regions, ...] = ()
    ) -> None:
        self._shards = shards
        self.documents = documents  # the one that changed last is the last one

    def find(self, name: str) -> tuple[Definition, ...]:
        """Every definition of `name`, those of one file in their order."""
        return self._shards[hash(name) % _SHARDS].get(name, ())

    def with_document(self, key: str, document: Regions | None) -> View:
        """The view with another state of an open document, or without it."""
        others = tuple(each for each in self.documents if each.source.key != key)
        return View(self._shards, others if document is None else (*others, document)[-_MOST_DOCUMENTS:])

    def replaced(self, old: Iterable[Definition], new: Iterable[Definition]) -> View:
        """The view with a file's `new` definitions in place of its `old` ones."""
        gone = {id(each) for each in old}
        added: defaultdict[str, list[Definition]] = defaultdict(list)
        for each in new:
            added[each.name].append(each)
        shards = list(self._shards)
        copied: dict[int, dict[str, tuple[Definition, ...]]] = {}
        for name in dict.fromkeys([*(each.name for each in old), *added]):
            number = hash(name) % _SHARDS
            if number not in copied:
                shards[number] = copied[number] = dict(shards[number])
            places = (*(each for each in copied[number].get(name, ()) if id(each) not in gone), *added.get(name, ()))
            if places:
                copied[number][name] = places
            else:
                copied[number].pop(name, None)
        return View(shards, self.documents)


class _File:
    """What a file defines. `stamp` is of its state on disk, 0 where an editor's text was read."""

    __slots__ = ("definitions", "size", "stamp")

    def __init__(self, stamp: int, definitions: Sequence[Definition]) -> None:
        self.stamp = stamp
        self.definitions = definitions
        self.size = _OVERHEAD + sum(sys.getsizeof(each.text) + _OVERHEAD for each in definitions)


class Table:
    """Files by path, within bounds. One thread changes it; any thread may read `view`, and ask for a stamp."""

    def __init__(self, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> None:
        self.view = View()
        self._files: dict[str, _File] = {}
        self._bytes = 0
        self._most_files, self._most_bytes = most_files, most_bytes

    def __len__(self) -> int:
        return len(self._files)

    @property
    def is_full(self) -> bool:
        return len(self._files) >= self._most_files or self._bytes >= self._most_bytes

    def stamp(self, path: str) -> int | None:
        """Of the state that is known of a file; None where none is."""
        file = self._files.get(path)
        return None if file is None else file.stamp

    def paths(self) -> list[str]:
        return list(self._files)

    def put(self, path: str, stamp: int, definitions: Sequence[Definition], document: Regions | None = None) -> None:
        """Take what a file defines, and how it looks where it is open, in place of what was known of it.

        Where the table is full it becomes a file that defines nothing.
        """
        self.drop(path)
        file = _File(stamp, () if self.is_full else definitions)
        self._files[path] = file
        self._bytes += file.size
        self.view = self.view.replaced((), file.definitions)
        if document is not None:
            self.view = self.view.with_document(path, document)

    def drop(self, path: str) -> None:
        file = self._files.pop(path, None)
        if file is not None:
            self._bytes -= file.size
            self.view = self.view.replaced(file.definitions, ()).with_document(path, None)

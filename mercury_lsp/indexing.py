"""The work of keeping a workspace's index: what is to be looked at next, and one thing of it at a time. Knows no thread and no prompt.

What is open counts as the editor has it, everything else as it lies on disk; what must stay out of prompts is not read.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mercury_lsp.definitions import LANGUAGES, Source, definitions
from mercury_lsp.files import stamp
from mercury_lsp.index import MOST_FILES, Table, View
from mercury_lsp.languages import language_of
from mercury_lsp.lines import Lines
from mercury_lsp.privacy import Privacy
from mercury_lsp.regions import regions
from mercury_lsp.walk import RULES, belongs, is_too_wide, read_source, source_files

_log = logging.getLogger(__name__)


class Indexing:
    """Files are named by the keys of their sources. One thread calls `step`, any thread the rest."""

    def __init__(
        self,
        table: Table | None = None,
        pause: Callable[[], None] = lambda: None,
        wake: Callable[[], None] = lambda: None,
        hidden: Callable[[str], None] = lambda path: None,
    ) -> None:
        """`pause` is called again and again while something is done, `wake` when there is something to do, `hidden` with whatever is
        passed over because it must stay out of prompts."""
        self._table = table or Table()
        self.lines = Lines()
        self._pause, self._wake, self._hidden = pause, wake, hidden
        self._privacy = Privacy()
        self._lock = threading.Lock()
        self._open: set[str] = set()
        self._waiting: dict[str, tuple[Source, str] | None] = {}  # by key, the longest waiting first; None: as it lies on disk
        self._roots: Sequence[str] = ()
        self._asked = False  # whether the roots are to be looked through
        self._scan: Iterator[None] | None = None

    @property
    def view(self) -> View:
        return self._table.view

    def stamp(self, key: str) -> int | None:
        """Of the state in which a file was read, 0 for an open document; None where it was not."""
        return self._table.stamp(key)

    def text_of(self, key: str) -> str:
        """Of an open document, as it was read; "" where it was not, or not lately."""
        return next((each.text for each in self.view.documents if each.source.key == key), "")

    # ------------------------------------------------------------------------------------------ what is to be done

    def look_through(self, roots: Sequence[str]) -> None:
        """These folders are the workspace from now on."""
        with self._lock:
            self._roots, self._asked = tuple(roots), True
        self._wake()

    def exclude(self, globs: Sequence[str], roots: Sequence[str]) -> None:
        """What stays out from now on, as `Privacy.exclude` says; what was read of it goes."""
        with self._lock:
            self._privacy.exclude(globs, roots)
            self._asked = True
        self._wake()

    def open(self, source: Source, text: str) -> None:
        """A document as it is now in an editor."""
        with self._lock:
            self._open.add(source.key)
            self._waiting[source.key] = source, text
        self._wake()

    def close(self, key: str) -> None:
        with self._lock:
            self._open.discard(key)
            self._waiting[key] = None
        self._wake()

    def touch(self, path: str) -> None:
        """Something happened on disk: a file or a folder came, changed or went."""
        with self._lock:
            if Path(path).name in RULES:
                self._asked = True
            elif path not in self._open:
                self._waiting[path] = None
        self._wake()

    # ------------------------------------------------------------------------------------------ doing it

    def step(self) -> bool:
        """Do one thing; False where there is nothing to do."""
        with self._lock:
            key = next(iter(self._waiting), None)
            document = self._waiting.pop(key) if key is not None else None
            if key is None and self._asked:
                self._asked, self._scan = False, self._scanning(self._roots)
        if key is not None:
            self._look(key, document)
        elif self._scan is None:
            return False
        elif next(self._scan, self) is self:
            self._scan = None
        return True

    def _look(self, key: str, document: tuple[Source, str] | None) -> None:
        if document is not None:
            source, text = document
            if self._privacy.hides(source.path):
                self._drop(key)
            else:
                self.lines.put(key, source.language, text)
                self._table.put(key, 0, definitions(source, text, self._pause), regions(source, text, self._pause))
        elif not (state := stamp(Path(key))):
            self._forget(key)
        elif _is_source(key) and belongs(key, self._roots) and not self._privacy.hides(key):
            self._read(key, state)
        else:
            self._drop(key)

    def _drop(self, key: str) -> None:
        self.lines.drop(key)
        self._table.drop(key)

    def _forget(self, path: str) -> None:
        """Of a folder, what was in it."""
        self._drop(path)
        for other in self._table.paths() if not _is_source(path) else ():
            if other.startswith(path + os.sep) and other not in self._open:
                self._drop(other)

    def _read(self, path: str, state: int) -> None:
        text = read_source(path)
        source = Source(path, path, language_of("", path))
        found = () if text is None else definitions(source, text, self._pause)
        self.lines.put(path, source.language, text or "")
        self._table.put(path, state, found)

    def _scanning(self, roots: Sequence[str]) -> Iterator[None]:
        seen: set[str] = set()
        for root in roots:
            for file in () if is_too_wide(root) else source_files(root, self._privacy, _is_source, self._pause, self._hidden):
                if len(seen) == MOST_FILES:
                    break
                seen.add(file.path)
                known = self._table.stamp(file.path)
                if file.path not in self._open and known != file.stamp and not (known is None and self._table.is_full):
                    self._read(file.path, file.stamp)
                yield
        for path in self._table.paths():
            if path not in seen and (path not in self._open or self._privacy.hides(path)):
                self._drop(path)
        _log.debug("indexed %d files%s", len(self._table), ", as many as there is room for" if self._table.is_full else "")


def _is_source(path: str) -> bool:
    return language_of("", path) in LANGUAGES

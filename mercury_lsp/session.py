"""The open documents and their versions. Only the event loop changes them; everybody else holds a frozen snapshot.

Knows no model and no syntax. The protocol's text library is not used: it also breaks lines at form feeds and U+2028, editors do not.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import msgspec

from mercury_lsp import utf16
from mercury_lsp.params import Change, Position
from mercury_lsp.uris import key_of, path_of

_LINE = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
_BOM = "\ufeff"


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A document as it was when a request arrived, with the cursor in it."""

    uri: str
    path: str  # of its URI, whether there is a file or not
    language: str  # as the client names it
    version: int | None
    revision: int  # counts openings and changes, whatever the client says of versions
    text: str  # `\n` only, without a byte order mark
    line: int
    column: int  # code points, never past the line's end
    offset: int  # of the cursor, into `text`
    bom: bool  # the client's document starts with a byte order mark, which `text` leaves out

    @property
    def document(self) -> str:
        """The key under which everybody keeps what they know of the document."""
        return key_of(self.uri)

    @property
    def before(self) -> str:
        return self.text[: self.offset]

    @property
    def after(self) -> str:
        return self.text[self.offset :]

    @property
    def line_start(self) -> int:
        return self.offset - self.column

    @property
    def line_text(self) -> str:
        end = self.text.find("\n", self.offset)
        return self.text[self.line_start : end if end >= 0 else len(self.text)]

    def column_of(self, character: int) -> int:
        """The code-point column of the client's `character` on the cursor's line."""
        return utf16.to_column(self.line_text, character - self._shift)

    def character_of(self, column: int) -> int:
        """The client's character, in UTF-16 units, of a code-point column on the cursor's line."""
        return utf16.to_units(self.line_text, column) + self._shift

    @property
    def mark(self) -> str:
        """What the client has before the cursor's line as this one has it: the byte order mark, or ""."""
        return _BOM if self.bom and self.line == 0 else ""

    @property
    def _shift(self) -> int:
        return len(self.mark)


class Document:
    """The text of one open document as lines with their ends, exactly as the client has it. Raises `ValueError` for a bad `uri`."""

    def __init__(self, uri: str, language: str, version: int | None, text: str) -> None:
        self.uri = uri
        self.path = path_of(uri)
        self.language = language
        self.version = version
        self.revision = 0
        self._lines = _split(text)

    def replace(self, text: str) -> None:
        self._lines = _split(text)

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Put `text` where start … end is; positions are the client's (line, UTF-16 character) and are clamped."""
        first, left = self._locate(*start)
        last, right = self._locate(*end)
        if (last, right) < (first, left):
            last, right = first, left
        head = self._lines[first][:left] if first < len(self._lines) else ""
        tail = self._lines[last][right:] if last < len(self._lines) else ""
        # One line more on each side: an edit can bring a CR and an LF together, or take them apart.
        low, high = max(0, first - 1), last + 2
        piece = "".join(self._lines[low:first]) + head + text + tail + "".join(self._lines[last + 1 : high])
        self._lines[low:high] = _split(piece)

    def snapshot(self, line: int, character: int) -> Snapshot:
        row, column = self._locate(line, character)
        bom = bool(self._lines) and self._lines[0].startswith(_BOM)
        lines = self._lines if not bom else [self._lines[0][1:], *self._lines[1:]]
        if bom and row == 0:
            column = max(0, column - 1)
        offset = len(_normal("".join(lines[:row]))) + column
        return Snapshot(
            uri=self.uri,
            path=self.path,
            language=self.language,
            version=self.version,
            revision=self.revision,
            text=_normal("".join(lines)),
            line=row,
            column=column,
            offset=offset,
            bom=bom,
        )

    def _locate(self, line: int, character: int) -> tuple[int, int]:
        """Row and code-point column; a position outside the text moves to the nearest end."""
        if line < 0:
            return 0, 0
        rows = len(self._lines)
        if line >= rows:
            open_ended = rows > 0 and not self._lines[-1].endswith(("\n", "\r"))
            return (rows - 1, len(self._lines[-1])) if open_ended else (rows, 0)
        return line, utf16.to_column(self._lines[line].rstrip("\r\n"), character)


class Session:
    """All open documents, by URI."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}
        self._revisions = itertools.count(1)

    def open(self, uri: str, language: str, version: int | None, text: str) -> None:
        """Raises `ValueError` for a URI that is none."""
        document = self._documents[key_of(uri)] = Document(uri, language, version, text)
        document.revision = next(self._revisions)

    def change(self, uri: str, version: int | None, changes: Sequence[Change]) -> None:
        """Apply `changes` in order."""
        document = self._find(uri)
        if document is None:
            return
        for change in changes:
            if change.range is None:
                document.replace(change.text)
            else:
                document.edit(_spot(change.range.start), _spot(change.range.end), change.text)
        document.version = version
        document.revision = next(self._revisions)

    def close(self, uri: str) -> None:
        self._documents.pop(key_of(uri), None)

    def snapshot(self, uri: str, line: int, character: int) -> Snapshot | None:
        """None: the document is not open."""
        document = self._find(uri)
        return document.snapshot(line, character) if document else None

    def is_current(self, snapshot: Snapshot) -> bool:
        """Whether the document is still open and as it was when the snapshot was taken."""
        document = self._find(snapshot.uri)
        return document is not None and document.revision == snapshot.revision

    def _find(self, uri: str) -> Document | None:
        return self._documents.get(key_of(uri))


def _spot(position: Position) -> tuple[int, int]:
    return position.line, position.character


def _split(text: str) -> list[str]:
    return _LINE.findall(text)


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

"""What bears on a hole from outside of its window: places that look like it, and definitions of names used near it. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from mercury_lsp.definitions import Source
from mercury_lsp.index import View
from mercury_lsp.languages import language_of
from mercury_lsp.references import referred
from mercury_lsp.regions import Regions, likeness, names_in
from mercury_lsp.session import Snapshot
from mercury_lsp.syntax import whole_lines
from mercury_lsp.uris import file_key
from mercury_lsp.word import begun

# Characters. As in training, for a context of 512 tokens of 3.2 characters: a third of it is for related text, and half of it about what
# the model sees of the prefix.
ROOM = 546
WINDOW = 819
_BELOW = 400  # after the cursor, about what the model sees of the suffix
_NEAR = 800  # before the cursor's line, in which names are looked for that something defines
_NEARER = 400  # and those that a place should have that looks like this one
_FAR = 4_096  # characters from which on a line is no longer looked at as a whole
_HEAD = 4_000  # of the file, in which imports are looked for
_MOST = 2  # definitions
_LEAST = 80  # room that is worth filling
_BETTER = 1.2  # times as much like this one must a place be to be sent instead of the one before: another prompt is read anew

_NAME = re.compile(r"[^\W\d]\w{3,}")
# Languages that name each other's definitions.
_KIN = {"javascript": "js", "typescript": "js", "tsx": "js", "c": "c", "cpp": "c"}


class Piece(msgspec.Struct, frozen=True):
    """Some whole lines of a file, and the names of the place that they come from, where it was chosen for its likeness."""

    source: Source
    text: str
    names: frozenset[str] = frozenset()


class Surroundings(msgspec.Struct, frozen=True):
    """All of a snapshot that its related pieces depend on."""

    source: Source
    home: str  # the folder in which other files count, with a slash; "" where all do
    line: int
    names: tuple[str, ...]  # the nearest to the cursor first; one that is being typed is none
    nearer: frozenset[str]  # of the nearest lines


def source_of(snapshot: Snapshot) -> Source:
    return Source(file_key(snapshot.uri), snapshot.path, language_of(snapshot.language, snapshot.path))


def surroundings(snapshot: Snapshot, roots: Sequence[str]) -> Surroundings:
    """`roots` are the workspace's folders."""
    return Surroundings(
        source=source_of(snapshot),
        home=_home(snapshot.path, roots),
        line=snapshot.line,
        names=tuple(dict.fromkeys(reversed(_NAME.findall(_before(snapshot, _NEAR))))),
        nearer=names_in(_before(snapshot, _NEARER)),
    )


def _before(snapshot: Snapshot, most: int) -> str:
    """The text left of the cursor, without a word that is being typed. Begins with a line, for all cursors of a line the same one, unless
    it is an endless one."""
    first = snapshot.text.rfind("\n", 0, max(0, snapshot.line_start - most)) + 1
    if snapshot.column > _FAR:
        first = max(first, (snapshot.offset - most) // _FAR * _FAR)
    text = snapshot.text[first : snapshot.offset]
    return text.removesuffix(begun(text))


def pieces(snapshot: Snapshot, around: Surroundings, view: View, before: Sequence[Piece] = ()) -> tuple[Piece, ...]:
    """At most `ROOM` characters, paths included, the most relevant last. `before` is what was sent last."""
    # Nats a token of the true middle, 120 holes that use a name of another file and 100 drawn at random, in repositories never trained on,
    # five documents open, the adapter after 4.0M positions, one run (2026-11-30): 1.446 and 1.720 with nothing, 1.314 and 1.678 with
    # places that look alike, 1.423 and 1.710 with definitions, 1.305 and 1.663 with both. The file's imports on top of both gave 0.017
    # and 0.007 for 107 tokens more; the signatures around the cursor nothing.
    found = list(_similar(snapshot, around, view, before))
    room = ROOM - sum(_size(piece, around) for piece in found)
    definitions: list[Piece] = []
    seen = snapshot.text[max(0, snapshot.offset - WINDOW) : snapshot.offset + _BELOW]
    for definition in referred(around.source, around.names, snapshot.text[:_HEAD], seen, view, lambda source: _counts(source, around)):
        if len(definitions) == _MOST or room < _LEAST:
            break
        source = definition.source
        piece = Piece(source, whole_lines(definition.text, min(ROOM // 2, room) - len(_shown(source, around))))
        if piece.text and piece not in definitions:
            definitions.append(piece)
            room -= _size(piece, around)
    return (*reversed(definitions), *found)


def _similar(snapshot: Snapshot, around: Surroundings, view: View, before: Sequence[Piece]) -> Iterator[Piece]:
    """The place that looks most like this one in other documents, and in this one."""
    seen = range(max(0, snapshot.offset - WINDOW), snapshot.offset + _BELOW)
    own = [each for each in view.documents if each.source.key == around.source.key]
    others = [each for each in view.documents if each.source.key != around.source.key and _counts(each.source, around)]
    for documents, hidden in ((others, range(0)), (own, seen)):
        piece, much = _most_alike(documents, around, hidden)
        last, as_much = _still_there(documents, around.nearer, hidden, before)
        if last is not None and much < _BETTER * as_much:
            piece = last
        if piece is not None and piece.text:
            yield piece


def _most_alike(documents: Sequence[Regions], around: Surroundings, hidden: range) -> tuple[Piece | None, float]:
    found = [(*document.most_alike(around.nearer, hidden), document) for document in documents]
    much, number, document = max(found, key=lambda each: each[0], default=(0.0, 0, None))
    if document is None or not much:
        return None, 0.0
    text = document.sent(number, ROOM // 2 - len(_shown(document.source, around)))
    return Piece(document.source, text, document.names[number]), much


def _still_there(documents: Sequence[Regions], names: frozenset[str], hidden: range, before: Sequence[Piece]) -> tuple[Piece | None, float]:
    """The piece that was sent before, if its document still has it where it is not seen anyway."""
    texts = {document.source.key: document.text for document in documents}
    for piece in before:
        at = texts.get(piece.source.key, "").find(piece.text) if piece.names else -1
        if at >= 0 and not (at < hidden.stop and at + len(piece.text) > hidden.start):
            return piece, likeness(piece.names, names)
    return None, 0.0


def _size(piece: Piece, around: Surroundings) -> int:
    return len(piece.text) + len(_shown(piece.source, around))


def _shown(source: Source, around: Surroundings) -> str:
    """About what the model is shown of a path."""
    return _slashed(source.path).removeprefix(around.home)


def _home(path: str, roots: Sequence[str]) -> str:
    """The outermost of `roots` in which a file lies, else its own folder: what a server has open may be several people's."""
    plain = _slashed(path)
    around = [root for root in (_slashed(root).rstrip("/") + "/" for root in roots) if plain.startswith(root)]
    return min(around, key=len, default=plain[: plain.rfind("/") + 1])


def _counts(source: Source, around: Surroundings) -> bool:
    return _kin(source) == _kin(around.source) and _slashed(source.path).startswith(around.home)


def _slashed(path: str) -> str:
    return path.replace("\\", "/")


def _kin(source: Source) -> str:
    return _KIN.get(source.language, source.language)

"""Chooses what else a prompt gets besides the text around its cursor, holds on to that, and lets nothing out that must not be sent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.api import Related
from mercury_lsp.context import shown_path
from mercury_lsp.files import stamp
from mercury_lsp.indexing import Indexing
from mercury_lsp.privacy import Privacy
from mercury_lsp.related import Piece, Surroundings, pieces, surroundings
from mercury_lsp.session import Snapshot
from mercury_lsp.settings import Settings


class _Kept(msgspec.Struct, frozen=True):
    """What was chosen for a document, and where in it."""

    around: Surroundings
    pieces: tuple[Piece, ...]


class Choice:
    """Takes from `indexing` what it has at the moment. The document at hand is somebody else's to judge."""

    def __init__(self, indexing: Indexing) -> None:
        self._indexing = indexing
        self.privacy = Privacy()
        self._kept: dict[str, _Kept] = {}

    def related(self, snapshot: Snapshot, settings: Settings, roots: Sequence[str]) -> tuple[Related, ...]:
        """Pieces that bear on the cursor, the most relevant last; the same ones as long as its line and the names near it stay."""
        around = surroundings(snapshot, roots)
        may = [piece for piece in self.chosen(snapshot, around) if not self.objection(piece, around, settings)]
        return tuple(Related(shown_path(piece.source.path, roots), piece.text) for piece in may)

    def chosen(self, snapshot: Snapshot, around: Surroundings) -> tuple[Piece, ...]:
        """Whether they may be sent or not."""
        kept = self._kept.get(snapshot.document)
        if kept is None or kept.around != around:
            found = pieces(snapshot, around, self._indexing.view, () if kept is None else kept.pieces)
            if kept is not None and set(kept.pieces) == set(found):
                found = kept.pieces  # in another order they would be another prompt
            kept = self._kept[snapshot.document] = _Kept(around, found)
        return kept.pieces

    def objection(self, piece: Piece, around: Surroundings, settings: Settings) -> str:
        """Why a piece must not be sent, "" where it may. Asked for every prompt: rules, files and settings change at any time."""
        source = piece.source
        if source.key == around.source.key:
            return ""
        if not settings.enabled(source.language):
            return "its language is switched off"
        if self.privacy.hides(source.path):
            return "it is ignored, or its name tells of a secret"
        state = self._indexing.stamp(source.key)
        if state is None or (state and state != stamp(Path(source.key))):
            self._indexing.touch(source.key)
            return "it is not on disk any more as it was read"
        return ""

    def forget(self, document: str) -> None:
        """The document was closed."""
        self._kept.pop(document, None)

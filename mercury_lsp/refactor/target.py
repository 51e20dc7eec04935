"""What a command is about: a document as it was, its tree, and the selected characters in it. Raises `Refused` for what cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mercury_lsp import syntax
from mercury_lsp.languages import language_of
from mercury_lsp.params import Range
from mercury_lsp.refactor.grammars.grammar import Grammar
from mercury_lsp.refactor.grammars.table import GRAMMARS
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import Selection, select, trimmed
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.syntax import Tree
from mercury_lsp.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Target:
    """`start`…`end` are characters; where they are the same there is only a cursor."""

    snapshot: Snapshot
    language: str
    tree: Tree
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.snapshot.text

    @property
    def selected(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def names(self) -> Names:
        return Names(self.tree, self.grammar)

    @property
    def grammar(self) -> Grammar:
        grammar = GRAMMARS.get(self.language)
        if grammar is None:
            known = ", ".join(name for name in GRAMMARS if name != "tsx")
            raise Refused(f"this works in {known}, not in {self.language}")
        return grammar

    def selection(self) -> Selection:
        """The selected statements or expression."""
        return select(self.tree, self.grammar, *self.trimmed())

    def trimmed(self) -> tuple[int, int]:
        return trimmed(self.tree, self.start, self.end)

    def check_parsed(self) -> None:
        """Raises `Refused` where the document does not parse."""
        faults = self.tree.faults()
        if faults is None:
            raise Refused("the file does not parse")
        if len(faults):
            line = self.text.count("\n", 0, faults.spans[0][0]) + 1
            raise Refused(f"the file has a syntax error in line {line}")

    def rows(self) -> tuple[int, int]:
        """The rows that the selection touches, the last one not included; a cursor's own row."""
        end = self.end - 1 if self.end > self.start and self.text[self.end - 1 : self.end] == "\n" else self.end
        return self.text.count("\n", 0, self.start), self.text.count("\n", 0, end) + 1


def target(session: Session, trees: Trees, uri: str, range_: Range | None, may_read: Callable[[Snapshot], bool]) -> Target:
    if range_ is None:
        raise Refused("nothing is selected")
    first = session.snapshot(uri, range_.start.line, range_.start.character)
    last = session.snapshot(uri, range_.end.line, range_.end.character)
    if first is None or last is None:
        raise Refused("the document is not open")
    if not may_read(first):
        raise Refused("this file is not to be read, by the settings or by what the workspace ignores")
    language = language_of(first.language, first.path)
    if not syntax.has_grammar(language):
        raise Refused(f"there is no grammar for {language or first.language or 'this language'}")
    tree = trees.tree(first.document, first.text, language)
    if tree is None:
        raise Refused("the file is too large, or too contorted to parse")
    start, end = sorted((first.offset, last.offset))
    return Target(first, language, tree, start, end)

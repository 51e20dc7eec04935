"""What a prediction is made from, and what it is: texts, what was done to them, and an edit. Knows no editor and no way to predict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from mercury_lsp.definitions import Definition
from mercury_lsp.syntax import Tree

Kind = Literal["rename", "signature", "repeat", "import", "diagnostic", "model"]


class Text(msgspec.Struct, frozen=True):
    """An open document."""

    document: str  # the key under which everybody knows it
    uri: str
    path: str
    language: str  # normalised
    text: str
    version: int | None = None
    bom: bool = False  # the client's document starts with a byte order mark, which `text` leaves out


class Intention(msgspec.Struct, frozen=True):
    """One thing that was done in one place: `old` became what stands in `[start, end)` now."""

    number: int  # counts up
    document: str
    start: int
    end: int
    old: str
    new: str
    at: float  # `time.monotonic()` seconds of its last change
    version: int | None = None
    bulk: bool = False  # one of several places that changed at once: a tool did it, no hand


class Edit(msgspec.Struct, frozen=True):
    """`text` in place of `[start, end)` of a document."""

    document: str
    start: int
    end: int
    text: str


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """An edit that is likely to be wanted."""

    edit: Edit
    kind: Kind
    label: str  # for people
    confidence: float  # that the user would make exactly this edit
    cause: int  # the number of the intention that asks for it
    order: int = 0  # among those of the same cause, the least first


class Fault(msgspec.Struct, frozen=True):
    """What the client has a diagnostic for, in the document at hand. `is_new`: the latest changes brought it."""

    start: int
    end: int
    message: str
    is_new: bool = True


class Moment(msgspec.Struct, frozen=True):
    """Everything a prediction may look at. `tree` gives the syntax tree of a text, None where it has none."""

    here: Text
    cursor: int
    intentions: Sequence[Intention]  # the latest last
    others: Sequence[Text]  # the other open documents
    tree: Callable[[Text], Tree | None]
    defined: Callable[[str], Sequence[Definition]] = lambda name: ()  # where the workspace defines a name
    roots: Sequence[str] = ()
    faults: Sequence[Fault] = ()

    def text(self, document: str) -> Text | None:
        """An open document by its key."""
        return next((each for each in (self.here, *self.others) if each.document == document), None)

    def made_in(self, document: str) -> list[Intention]:
        return [each for each in self.intentions if each.document == document]


def undone(text: Text, intention: Intention) -> Text:
    """The text as it would be without one of its intentions."""
    before = text.text[: intention.start] + intention.old + text.text[intention.end :]
    return msgspec.structs.replace(text, text=before)


def undone_tree(moment: Moment, text: Text, intention: Intention) -> Tree | None:
    tree = moment.tree(text)
    if tree is None:
        return None
    return tree.edit(intention.start, intention.end, intention.start + len(intention.old), undone(text, intention).text)


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Whole lines around `[start, end)`, without the last line break."""
    last = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if last < 0 else last


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at)

"""Changes to a document, and files that are made with them: as text and as a `WorkspaceEdit`. Knows no syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mercury_lsp import utf16
from mercury_lsp.session import Snapshot


class Replace(msgspec.Struct, frozen=True):
    """`text` in place of the characters `start`…`end`."""

    start: int
    end: int
    text: str


class NewFile(msgspec.Struct, frozen=True):
    uri: str
    text: str


class Changes(msgspec.Struct, frozen=True):
    """Of one document, in any order, none of which overlap; and a new file where one is made."""

    replaces: tuple[Replace, ...]
    created: NewFile | None = None
    generated: bool = True  # a model wrote part of it


def applied(text: str, replaces: Sequence[Replace]) -> str:
    """The text with the changes made. Of two at one place the first comes first."""
    ordered = sorted(enumerate(replaces), key=lambda pair: (pair[1].start, pair[1].end, pair[0]))
    parts, at = [], 0
    for _, each in ordered:
        assert each.start >= at, "changes overlap"
        parts += [text[at : each.start], each.text]
        at = each.end
    return "".join([*parts, text[at:]])


def workspace_edit(snapshot: Snapshot, changes: Changes, *, versioned: bool) -> dict[str, Any]:
    """A `WorkspaceEdit`. Without `versioned` (the client knows no `documentChanges`) it says less, and can make no file."""
    ordered = sorted(enumerate(changes.replaces), key=lambda pair: (pair[1].start, pair[1].end, pair[0]))
    edits = [{"range": protocol_range(snapshot, each.start, each.end), "newText": each.text} for _, each in ordered]
    if not versioned:
        return {"changes": {snapshot.uri: edits}}
    documents: list[dict[str, Any]] = []
    if edits:
        documents.append({"textDocument": {"uri": snapshot.uri, "version": snapshot.version}, "edits": edits})
    if (made := changes.created) is not None:
        start = {"line": 0, "character": 0}
        documents.append({"kind": "create", "uri": made.uri, "options": {"overwrite": False, "ignoreIfExists": False}})
        documents.append(
            {"textDocument": {"uri": made.uri, "version": None}, "edits": [{"range": {"start": start, "end": start}, "newText": made.text}]}
        )
    return {"documentChanges": documents}


def protocol_range(snapshot: Snapshot, start: int, end: int) -> dict[str, Any]:
    return {"start": position(snapshot, start), "end": position(snapshot, end)}


def position(snapshot: Snapshot, at: int) -> dict[str, int]:
    """The client's position of a character: lines count from 0, columns in UTF-16."""
    text = snapshot.text
    line = text.count("\n", 0, at)
    shift = 1 if snapshot.bom and line == 0 else 0  # the mark, which our text leaves out
    return {"line": line, "character": utf16.units(text[text.rfind("\n", 0, at) + 1 : at]) + shift}

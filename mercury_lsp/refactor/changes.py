"""Changes to a document, and files that are made with them: as text and as a `WorkspaceEdit`. Knows no syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from mercury_lsp import utf16
from mercury_lsp.session import Snapshot

_NOTE = "mercury"  # the one annotation that all changes share


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


def size(text: str, changes: Changes) -> int:
    """How many lines of `text` change or come to be; of each change the old or the new ones, whichever are more."""
    pairs = [(text[each.start : each.end], each.text) for each in changes.replaces]
    made = changes.created.text if changes.created is not None else ""
    return sum(max(old.count("\n"), new.count("\n")) + 1 for old, new in pairs) + made.count("\n")


def workspace_edit(snapshot: Snapshot, changes: Changes, *, versioned: bool, confirm: str = "") -> dict[str, Any]:
    """A `WorkspaceEdit`. Without `versioned` (the client knows no `documentChanges`) it says less, and can make no file.

    `confirm`, of a client that knows annotations: what the user is shown the changes as, to be confirmed before they are made.
    """
    ordered = sorted(enumerate(changes.replaces), key=lambda pair: (pair[1].start, pair[1].end, pair[0]))
    edits = [{"range": protocol_range(snapshot, each.start, each.end), "newText": each.text} for _, each in ordered]
    if not versioned:
        return {"changes": {snapshot.uri: edits}}
    documents: list[dict[str, Any]] = []
    note = {"annotationId": _NOTE} if confirm else {}
    if edits:
        noted = [{**edit, **note} for edit in edits]
        documents.append({"textDocument": {"uri": snapshot.uri, "version": snapshot.version}, "edits": noted})
    if (made := changes.created) is not None:
        start = {"line": 0, "character": 0}
        documents.append({"kind": "create", "uri": made.uri, "options": {"overwrite": False, "ignoreIfExists": False}, **note})
        whole = {"range": {"start": start, "end": start}, "newText": made.text, **note}
        documents.append({"textDocument": {"uri": made.uri, "version": None}, "edits": [whole]})
    if confirm:
        return {"documentChanges": documents, "changeAnnotations": {_NOTE: {"label": confirm, "needsConfirmation": True}}}
    return {"documentChanges": documents}


def protocol_range(snapshot: Snapshot, start: int, end: int) -> dict[str, Any]:
    return {"start": position(snapshot, start), "end": position(snapshot, end)}


def position(snapshot: Snapshot, at: int) -> dict[str, int]:
    """The client's position of a character: lines count from 0, columns in UTF-16."""
    text = snapshot.text
    line = text.count("\n", 0, at)
    shift = 1 if snapshot.bom and line == 0 else 0  # the mark, which our text leaves out
    return {"line": line, "character": utf16.units(text[text.rfind("\n", 0, at) + 1 : at]) + shift}

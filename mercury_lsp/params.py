"""What clients send, as typed values; read leniently where that does no harm. Knows no document.

Null is as good as absent, and a number may come as a string. What is left is a mistake of the client, and named.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from pygls.exceptions import JsonRpcInvalidParams

T = TypeVar("T")


class Position(msgspec.Struct, frozen=True):
    line: int
    character: int


class Range(msgspec.Struct, frozen=True):
    start: Position
    end: Position


class Change(msgspec.Struct, frozen=True):
    """A `TextDocumentContentChangeEvent`; without a range `text` is the whole document."""

    text: str
    range: Range | None = None


class Identifier(msgspec.Struct, frozen=True):
    uri: str
    version: int | None = None


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    uri: str
    text: str
    language_id: str = ""
    version: int | None = None


class DidOpen(msgspec.Struct, frozen=True, rename="camel"):
    text_document: _Item


class OnDocument(msgspec.Struct, frozen=True, rename="camel"):
    """Any message about one open document."""

    text_document: Identifier


class AtCursor(msgspec.Struct, frozen=True, rename="camel"):
    """A place in one open document."""

    text_document: Identifier
    position: Position


class Changes(msgspec.Struct, frozen=True, rename="camel"):
    """The rest of a `didChange`."""

    content_changes: list[Change]


class Command(msgspec.Struct, frozen=True):
    command: str
    arguments: list[Any] = []


class ShownItem(msgspec.Struct, frozen=True):
    command: dict[str, Any] | None = None


class PartlyAccepted(msgspec.Struct, frozen=True, rename="camel"):
    item: ShownItem
    accepted_length: int = 0


def read(params: object, kind: type[T]) -> T:
    """`params` as `kind`. Raises `JsonRpcInvalidParams` that says what is wrong and where."""
    try:
        return msgspec.convert(_without_nulls(params), kind, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        raise JsonRpcInvalidParams(str(error)) from None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value

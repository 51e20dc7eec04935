"""What a client asks and says of next edits. Knows no document and no answer."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
from pygls.exceptions import JsonRpcInvalidParams

from mercury_lsp import params as sent
from mercury_lsp.params import Identifier, Position, Range

_log = logging.getLogger(__name__)


class Diagnostic(msgspec.Struct, frozen=True):
    range: Range
    message: str
    severity: int = 1


class InlineEditAsk(msgspec.Struct, frozen=True, rename="camel"):
    """Where the cursor is, in which version of which document, as the client names them. Of `diagnostics` one that is none is left out."""

    text_document: Identifier
    position: Position
    diagnostics: list[Any] = []

    @property
    def faults(self) -> list[Diagnostic]:
        return [read for each in self.diagnostics if (read := _diagnostic(each)) is not None]


def inline_edit_ask(params: object) -> InlineEditAsk | None:
    """None: nothing that could be answered with an edit."""
    try:
        return sent.read(params, InlineEditAsk)
    except JsonRpcInvalidParams as error:
        _log.warning("inline edit: %s", error)
        return None


def item_id(params: object) -> str | None:
    """Which edit or completion a client means: by an item's command or by an id."""
    said = params if isinstance(params, dict) else {}
    item = said.get("item") if isinstance(said.get("item"), dict) else {}
    command = item.get("command") if isinstance(item, dict) else None
    arguments = command.get("arguments") if isinstance(command, dict) else None
    named = arguments[0] if isinstance(arguments, list) and arguments else said.get("uuid") or said.get("id")
    return str(named) if isinstance(named, str | int) else None


def _diagnostic(value: object) -> Diagnostic | None:
    try:
        return sent.read(value, Diagnostic)
    except JsonRpcInvalidParams:
        return None

"""What a client asks when it wants a suggestion. Knows no document and no answer."""

from __future__ import annotations

import logging

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from mercury_lsp import params as sent
from mercury_lsp.params import Identifier, Position, Range

_log = logging.getLogger(__name__)


class SelectedCompletion(msgspec.Struct, frozen=True):
    range: Range
    text: str


class _Context(msgspec.Struct, frozen=True, rename="camel"):
    trigger_kind: int = 2
    selected_completion_info: SelectedCompletion | None = None


class _Formatting(msgspec.Struct, frozen=True, rename="camel"):
    tab_size: int = 4
    insert_spaces: bool = True


class InlineCompletionAsk(msgspec.Struct, frozen=True, rename="camel"):
    """`InlineCompletionParams`, with what Copilot's clients add and without what some clients leave out."""

    text_document: Identifier
    position: Position
    context: _Context = _Context()
    formatting_options: _Formatting | None = None

    @property
    def explicit(self) -> bool:
        return self.context.trigger_kind == types.InlineCompletionTriggerKind.Invoked.value


def inline_completion_ask(params: object) -> InlineCompletionAsk | None:
    """None: nothing that could be answered with a suggestion."""
    try:
        return sent.read(params, InlineCompletionAsk)
    except JsonRpcInvalidParams as error:
        _log.warning("inline completion: %s", error)
        return None

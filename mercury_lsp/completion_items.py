"""Suggestions as ordinary completion items, for clients that show no ghost text. Knows no engine: an item is what would be the ghost text.

They are sorted behind all others and marked, and come without trigger characters, so that they never push out the language's own server's.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from engine.api import MercuryError
from mercury_lsp.ask import inline_completion_ask
from mercury_lsp.session import Snapshot
from mercury_lsp.word import begun

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)

_LABEL = 60  # characters; a popup is seldom wider
_LAST = "\uffff"  # as sort text it stands behind what any server sends


def offer(ls: MercuryServer) -> None:
    """Called before the capabilities are sent: to those who show no ghost text, and those who ask for it, items are offered."""
    options = ls.protocol.initialize_params.get("initializationOptions")
    asked = options.get("completionItems") if isinstance(options, dict) else None
    ghost, menu = (ls.client_said("textDocument", name) is not None for name in ("inlineCompletion", "completion"))
    if asked is True or (asked is not False and menu and not ghost):
        ls.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(completion)


async def completion(ls: MercuryServer, params: object) -> dict[str, Any]:
    """A `CompletionList` of one item at most, to be asked for anew with every key."""
    ask = inline_completion_ask(_automatic(params))
    snapshot = ls.session.snapshot(ask.text_document.uri, ask.position.line, ask.position.character) if ask else None
    items: list[dict[str, Any]] = []
    if ask is not None and snapshot is not None:
        try:
            await ls.configured()
            if ls.suggester.settings.completion_items is not False:
                items = await ls.suggester.items(ask, snapshot)
        except MercuryError as error:
            _log.error("%s", error)
        except Exception:
            _log.exception("no completion item")
    return {"isIncomplete": True, "items": [_item(each, snapshot) for each in items if snapshot is not None]}


def _automatic(params: object) -> object:
    """Clients call it invoked, too, when they ask while the user types."""
    return {**params, "context": {"triggerKind": 2}} if isinstance(params, dict) else params


def _item(ghost: dict[str, Any], snapshot: Snapshot) -> dict[str, Any]:
    """The same text in the place of the word before the cursor: clients look for what they have of it in the filter text."""
    before, rest = snapshot.line_text[: snapshot.column], snapshot.line_text[snapshot.column :]
    insert: str = ghost["insertText"].removeprefix(snapshot.mark)
    new = insert[len(before) : len(insert) - len(rest)]
    word = begun(before)
    at, cursor = (
        {"line": snapshot.line, "character": snapshot.character_of(column)} for column in (snapshot.column - len(word), snapshot.column)
    )
    first = (word + new).strip().split("\n", 1)
    label = first[0][:_LABEL] + ("…" if len(first) > 1 or len(first[0]) > _LABEL else "")
    return {
        "label": label,
        "labelDetails": {"description": "mercury"},
        "kind": types.CompletionItemKind.Text.value,
        "detail": "mercury-lsp",
        "documentation": {"kind": "markdown", "value": f"```{snapshot.language}\n{(word + new).strip(chr(10))}\n```"},
        "sortText": _LAST,
        "filterText": (word + new).split("\n")[0] or first[0],
        "textEdit": {"range": {"start": at, "end": cursor}, "newText": word + new},
        "insertTextFormat": types.InsertTextFormat.PlainText.value,
        "insertTextMode": types.InsertTextMode.AsIs.value,  # it is indented already
        "command": ghost["command"],
    }

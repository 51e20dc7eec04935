"""Suggestions as Copilot's older clients ask for them, and its panel. The same suggestions, in other words; knows no way to make one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from mercury_lsp.utf16 import to_column

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)

_PANEL = 3  # solutions at most: what asking with a key brings
_PANEL_COMMAND = "github.copilot.didAcceptPanelCompletionItem"


async def get_completions(ls: MercuryServer, params: object) -> dict[str, Any]:
    """`getCompletions`: what comes while typing."""
    return {"completions": [_completion(ls, params, item) for item in await _items(ls, params, kind=2)]}


async def get_completions_cycling(ls: MercuryServer, params: object) -> dict[str, Any]:
    """`getCompletionsCycling`: asked for with a key."""
    return {"completions": [_completion(ls, params, item) for item in await _items(ls, params, kind=1)]}


async def get_panel_completions(ls: MercuryServer, params: object) -> dict[str, Any]:
    """Says how many solutions there will be; they come as notifications, and then that it is over."""
    panel = params.get("panelId") if isinstance(params, Mapping) else None
    ls.begin(_send_panel(ls, params, str(panel or "")))
    return {"solutionCountTarget": _PANEL}


async def _send_panel(ls: MercuryServer, params: object, panel: str) -> None:
    await asyncio.sleep(0)  # the answer goes first: clients open the panel with it
    for item in await _items(ls, params, kind=1):
        completion = _completion(ls, params, item)
        solution = {"panelId": panel, "solutionId": completion["uuid"], "completionText": completion["text"], "score": 1.0}
        ls.protocol.notify("PanelSolution", {**solution, "displayText": completion["displayText"], "range": completion["range"]})
    ls.protocol.notify("PanelSolutionsDone", {"panelId": panel, "status": "OK"})


async def copilot_panel_completion(ls: MercuryServer, params: object) -> dict[str, Any]:
    """The items, or none where they went ahead with the client's token for partial results."""
    items = [_panel_item(item) for item in await _items(ls, params, kind=1)]
    token = params.get("partialResultToken") if isinstance(params, Mapping) else None
    if token is None or not items:
        return {"items": items}
    ls.protocol.notify(types.PROGRESS, types.ProgressParams(token, {"items": items}))
    return {"items": []}


def _panel_item(item: dict[str, Any]) -> dict[str, Any]:
    command = {**item["command"], "command": _PANEL_COMMAND}
    return {**item, "command": command}


async def _items(ls: MercuryServer, params: object, kind: int) -> Sequence[dict[str, Any]]:
    """Items of `textDocument/inlineCompletion` for what an older message says."""
    from mercury_lsp.server import inline_completion  # the server has these handlers among its own

    document, position = _document(params)
    if document is None or position is None:
        return []
    options = {"tabSize": document.get("tabSize"), "insertSpaces": document.get("insertSpaces")}
    formatting = {key: value for key, value in options.items() if value}
    asked = {"textDocument": {"uri": _uri(document)}, "position": position, "context": {"triggerKind": kind}}
    try:
        answer = await inline_completion(ls, {**asked, **({"formattingOptions": formatting} if len(formatting) == 2 else {})})
    except JsonRpcInvalidParams as error:
        _log.warning("completions: %s", error)
        return []
    items: list[dict[str, Any]] = answer["items"]
    return items


def _completion(ls: MercuryServer, params: object, item: dict[str, Any]) -> dict[str, Any]:
    """An item as `getCompletions` gives it. `displayText` is what comes after the cursor."""
    document, position = _document(params)
    assert document is not None and position is not None
    text = item["insertText"]
    completion = {
        "uuid": item["command"]["arguments"][0],
        "text": text,
        "displayText": text[to_column(text.partition("\n")[0], position["character"] - item["range"]["start"]["character"]) :],
        "position": position,
        "range": item["range"],
    }
    return completion if document.get("version") is None else {**completion, "docVersion": document["version"]}


def _document(params: object) -> tuple[Mapping[str, Any] | None, Any]:
    """`doc` of the oldest messages, `textDocument` of the others, each with the position that belongs to it."""
    said = params if isinstance(params, Mapping) else {}
    document = said.get("doc") if isinstance(said.get("doc"), Mapping) else said.get("textDocument")
    if not isinstance(document, Mapping) or not _uri(document):
        return None, None
    position = document.get("position") or said.get("position")
    is_place = isinstance(position, Mapping) and all(type(position.get(name)) is int for name in ("line", "character"))
    return document, position if is_place else None


def _uri(document: Mapping[str, Any]) -> str:
    uri, path = document.get("uri"), document.get("path")
    if isinstance(uri, str):
        return uri
    return f"file://{quote(path)}" if isinstance(path, str) and path else ""


HANDLERS: Mapping[str, Callable[[MercuryServer, Any], Any]] = {
    "getCompletions": get_completions,
    "getCompletionsCycling": get_completions_cycling,
    "getPanelCompletions": get_panel_completions,
    "textDocument/copilotPanelCompletion": copilot_panel_completion,
}

"""The code actions that are offered for a range: cheap to list, worked out when one is chosen. Knows no edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types

from mercury_lsp.params import OnDocument, Range, read
from mercury_lsp.refactor.commands import ASK, COMMANDS, Command
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.target import Target, target

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_ASK_KIND = "refactor.ask"
_LLM_GENERATED = 1  # the protocol's tag


class _Diagnostic(msgspec.Struct, frozen=True):
    range: Range
    message: str


class _Context(msgspec.Struct, frozen=True):
    diagnostics: list[_Diagnostic] = []
    only: list[str] | None = None


class _Ask(msgspec.Struct, frozen=True):
    range: Range
    context: _Context = _Context()


async def code_actions(ls: MercuryServer, params: object) -> list[dict[str, Any]]:
    """What is offered for a range; what it changes is worked out when one is chosen."""
    uri, ask = read(params, OnDocument).text_document.uri, read(params, _Ask)
    try:
        await ls.configured()
        found = target(ls.session, ls.refactoring.trees, uri, ask.range, ls.suggester.may_read)
    except Refused:
        return []
    actions = []
    for name, command in COMMANDS.items():
        if _wanted(command.kind, ask.context.only):
            for place, title in enumerate(_offered(command, found, ask)):
                actions.append(_action(ls, name, command, title, _made_for(found, uri, ask, name, place)))
    if found.selected.strip() and _wanted(_ASK_KIND, ask.context.only):
        actions.append(_explain(ls, _made_for(found, uri, ask, ASK, 0)))
    return actions


def _offered(command: Command, found: Target, ask: _Ask) -> list[str]:
    if command.kind == types.CodeActionKind.QuickFix.value:
        return [f"Fix: {each.message.strip().splitlines()[0][:80]}" for each in ask.context.diagnostics if each.message.strip()]
    return command.offered(found)


def _made_for(found: Target, uri: str, ask: _Ask, name: str, place: int) -> dict[str, Any]:
    made: dict[str, Any] = {"uri": uri, "range": ask.range, "revision": found.snapshot.revision}
    if name in COMMANDS and COMMANDS[name].kind == types.CodeActionKind.QuickFix.value:
        diagnostic = [each for each in ask.context.diagnostics if each.message.strip()][place]
        made |= {"range": diagnostic.range, "message": diagnostic.message}
    elif place:
        made["variant"] = place + 1
    return {key: msgspec.to_builtins(value) for key, value in made.items()}


def _action(ls: MercuryServer, name: str, command: Command, title: str, argument: dict[str, Any]) -> dict[str, Any]:
    """A code action that is resolved later where the client can do that, else one that runs the command."""
    run = {"title": title, "command": name, "arguments": [argument]}
    if not ls.client_can("textDocument", "codeAction", "codeActionLiteralSupport"):
        return run
    action: dict[str, Any] = {"title": title, "kind": command.kind}
    if command.generated and ls.client_can("textDocument", "codeAction", "tagSupport"):
        action["tags"] = [_LLM_GENERATED]
    properties = ls.client_said("textDocument", "codeAction", "resolveSupport", "properties")
    if isinstance(properties, list) and "edit" in properties and ls.client_can("textDocument", "codeAction", "dataSupport"):
        return action | {"data": {"command": name, "arguments": argument}}
    return action | {"command": run}


def _explain(ls: MercuryServer, argument: dict[str, Any]) -> dict[str, Any]:
    """It changes nothing, so there is nothing to resolve."""
    run = {"title": "Explain the selection", "command": ASK, "arguments": [argument]}
    literal = ls.client_can("textDocument", "codeAction", "codeActionLiteralSupport")
    return {"title": run["title"], "kind": _ASK_KIND, "command": run} if literal else run


def _wanted(kind: str, only: list[str] | None) -> bool:
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)

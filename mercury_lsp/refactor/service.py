"""Resolves code actions and runs commands. What is offered and what a command does is not known here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types

from mercury_lsp.params import read
from mercury_lsp.refactor import asking
from mercury_lsp.refactor.actions import code_actions
from mercury_lsp.refactor.arguments import arguments
from mercury_lsp.refactor.changes import Changes, size, workspace_edit
from mercury_lsp.refactor.commands import APPLY_ANSWER, ASK, COMMANDS
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run, token_of, with_progress
from mercury_lsp.refactor.target import Target, target

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)
_APPLY_SECONDS = 600.0  # some clients ask the user first, and he reads what is to change
_CONTENT = "workspace/textDocumentContent"
TITLES = {name: command.title for name, command in COMMANDS.items()} | {
    ASK: "Ask about the selection",
    APPLY_ANSWER: "Apply a code block of the answer",
}


class _Content(msgspec.Struct, frozen=True):
    uri: str


async def resolve(ls: MercuryServer, params: object) -> object:
    """The action with its edit; as it came where it cannot be done, and the user is told why."""
    action = dict(params) if isinstance(params, Mapping) else {}
    data = action.get("data")
    if not isinstance(data, Mapping) or data.get("command") not in COMMANDS:
        return params
    outcome = await _done(ls, str(data["command"]), [data.get("arguments")], None)
    if isinstance(outcome, tuple):
        found, changes = outcome
        if changes.created is not None and not _can_create(ls):
            _told(ls, "this editor lets no command make a file")
            return action
        action["edit"] = _edit(ls, str(data["command"]), found, changes)
    return action


async def execute(ls: MercuryServer, name: str, sent: list[Any], params: object) -> dict[str, Any]:
    """Do a command and have the client apply what comes of it. Says whether it did, and if not why."""
    outcome = await _done(ls, name, sent, token_of(params))
    if isinstance(outcome, str):
        return {"applied": False, "message": outcome}
    if isinstance(outcome, dict):
        return outcome
    found, changes = outcome
    if changes.created is not None and not _can_create(ls):
        return {"applied": False, "message": _told(ls, "this editor lets no command make a file")}
    edit = {"label": TITLES[name], "edit": _edit(ls, name, found, changes)}
    try:
        answer = await asyncio.wait_for(ls.protocol.send_request_async(types.WORKSPACE_APPLY_EDIT, edit), _APPLY_SECONDS)
    except Exception as error:
        return {"applied": False, "message": _told(ls, f"the editor did not apply the change: {str(error) or type(error).__name__}")}
    applied = not isinstance(answer, Mapping) or answer.get("applied") is not False
    reason = "" if applied else f"the editor did not apply the change: {answer.get('failureReason') or 'it did not say why'}"
    return {"applied": applied, "message": _told(ls, reason) if reason else ""}


def _edit(ls: MercuryServer, name: str, found: Target, changes: Changes) -> dict[str, Any]:
    large = size(found.text, changes) > ls.suggester.settings.preview_lines
    shown_first = large and ls.client_said("workspace", "workspaceEdit", "changeAnnotationSupport") is not None
    return workspace_edit(found.snapshot, changes, versioned=_is_versioned(ls), confirm=TITLES[name] if shown_first else "")


async def _done(ls: MercuryServer, name: str, sent: list[Any], token: str | int | None) -> tuple[Target, Changes] | dict[str, Any] | str:
    """What a command gives: changes, or an answer. Or what the user was told in its place."""
    title = TITLES[name]
    try:
        said = arguments(sent)
        await ls.configured()
        found = target(ls.session, ls.refactoring.trees, said.uri, said.range, ls.suggester.may_read)
        if said.revision is not None and said.revision != found.snapshot.revision:
            raise Refused("the document has changed since")
        run = Run(ls, found, said)
        if name == ASK:
            return await with_progress(ls, run, title, token, asking.ask(ls, run))
        work = asking.apply_answer(ls, run) if name == APPLY_ANSWER else COMMANDS[name].run(run)
        changes = await with_progress(ls, run, title, token, work)
        if not ls.session.is_current(found.snapshot):
            raise Refused("the document was changed meanwhile")
        if not changes.replaces and changes.created is None:
            raise Refused("there is nothing to change")
        return found, changes
    except Refused as error:
        return _told(ls, f"{title}: {error}")
    except RecursionError:
        return _told(ls, f"{title}: the code is nested too deeply")
    except Exception:
        _log.exception("%s failed", name)
        return _told(ls, f"{title}: it failed, and the log says why")


def _told(ls: MercuryServer, message: str) -> str:
    ls.window_show_message(types.ShowMessageParams(type=types.MessageType.Warning, message=f"mercury-lsp: {message}"))
    return message


def _is_versioned(ls: MercuryServer) -> bool:
    return ls.client_can("workspace", "workspaceEdit", "documentChanges")


def _can_create(ls: MercuryServer) -> bool:
    kinds = ls.client_said("workspace", "workspaceEdit", "resourceOperations")
    return _is_versioned(ls) and isinstance(kinds, list) and "create" in kinds


async def register(ls: MercuryServer) -> None:
    """Tell the client that answers can be read as documents; the library has no such option in its capabilities."""
    registration = {"id": "answers", "method": _CONTENT, "registerOptions": {"schemes": [asking.SCHEME]}}
    try:
        await ls.protocol.send_request_async(types.CLIENT_REGISTER_CAPABILITY, {"registrations": [registration]})
    except Exception as error:
        _log.warning("the client shows no documents of ours: %s", str(error) or type(error).__name__)


def text_document_content(ls: MercuryServer, params: object) -> dict[str, str]:
    """The text of an answer's document."""
    return {"text": asking.content(ls, read(params, _Content).uri)}


HANDLERS = {
    types.TEXT_DOCUMENT_CODE_ACTION: code_actions,
    types.CODE_ACTION_RESOLVE: resolve,
    _CONTENT: text_document_content,
}
OPTIONS = {
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(
        code_action_kinds=["refactor.rewrite", "refactor.extract", "refactor.inline", "quickfix", "source"], resolve_provider=True
    )
}

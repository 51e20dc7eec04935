"""The messages of next edits. Knows no way to predict: snapshot, ask, answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from engine.api import MercuryError
from mercury_lsp.nextedit import answers
from mercury_lsp.nextedit.ask import InlineEditAsk, inline_edit_ask, item_id
from mercury_lsp.nextedit.service import Offer
from mercury_lsp.session import Snapshot

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)


async def copilot_inline_edit(ls: MercuryServer, params: object) -> dict[str, Any]:
    """At most one edit, of the document that is asked about."""
    offer, ask = await _offered(ls, params, anywhere=False)
    return {"edits": [answers.inline_edit(offer, ask.text_document)] if offer is not None and ask is not None else []}


async def next_edit(ls: MercuryServer, params: object) -> dict[str, Any]:
    """The same for our own clients: with a label, and also of another document."""
    offer, ask = await _offered(ls, params, anywhere=True)
    if offer is None or ask is None:
        return {"edits": []}
    snapshot = ls.session.snapshot(ask.text_document.uri, 0, 0)
    here = snapshot is not None and snapshot.document == offer.text.document
    return {"edits": [answers.next_edit(offer, ask.text_document, here=here)]}


async def _offered(ls: MercuryServer, params: object, *, anywhere: bool) -> tuple[Offer | None, InlineEditAsk | None]:
    ask = inline_edit_ask(params)
    snapshot = ls.session.snapshot(ask.text_document.uri, ask.position.line, ask.position.character) if ask else None
    if ask is None or snapshot is None or not _is_of(snapshot, ask.text_document.version):
        return None, ask
    try:
        await ls.configured()
        ls.next_edits.viewed(snapshot)
        offer = await ls.next_edits.next(snapshot, ask.faults, anywhere=anywhere)
    except MercuryError as error:
        _log.warning("no next edit from the model: %s", error)
        return None, ask
    except Exception:
        _log.exception("no next edit")
        return None, ask
    return (offer if ls.session.is_current(snapshot) else None), ask


def _is_of(snapshot: Snapshot, version: int | None) -> bool:
    """Whether the client asks about the text that is here. One that names no version means it."""
    return version is None or snapshot.version is None or snapshot.version == version


def did_show_inline_edit(ls: MercuryServer, params: object) -> None:
    """What was offered counts as shown already: not all clients say."""
    _log.debug("shown: %s", item_id(params))


def did_focus(ls: MercuryServer, params: object) -> None:
    """Somebody looks at another document; none is named where it is no document."""
    document = params.get("textDocument") if isinstance(params, Mapping) else None
    uri = document.get("uri") if isinstance(document, Mapping) else None
    snapshot = ls.session.snapshot(uri, 0, 0) if isinstance(uri, str) else None
    if snapshot is not None:
        ls.next_edits.viewed(snapshot)


def next_edit_rejected(ls: MercuryServer, params: object) -> str:
    """`{uuid, reason}` of Copilot's older clients, `{id}` of ours."""
    ls.next_edits.rejected(item_id(params))
    return "OK"


def told(ls: MercuryServer, command: str, arguments: Sequence[Any]) -> None:
    """A command was run that says what became of an edit."""
    offer = str(arguments[0]) if arguments else None
    if command == answers.ACCEPTED:
        ls.next_edits.accepted(offer)
    elif command == answers.REJECTED:
        ls.next_edits.rejected(offer)


HANDLERS: Mapping[str, Callable[[MercuryServer, Any], Any]] = {
    "textDocument/copilotInlineEdit": copilot_inline_edit,
    "mercury/nextEdit": next_edit,
    "mercury/nextEditRejected": next_edit_rejected,
    "notifyNextEditRejected": next_edit_rejected,
    "textDocument/didShowInlineEdit": did_show_inline_edit,
    "textDocument/didFocus": did_focus,
}

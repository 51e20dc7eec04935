"""An offered edit as clients are told of it. Knows no way to predict."""

from __future__ import annotations

from typing import Any

from mercury_lsp import utf16
from mercury_lsp.nextedit.moment import Text
from mercury_lsp.nextedit.service import Offer
from mercury_lsp.params import Identifier

# Copilot's name for it: its clients run the command they are given, and ours do the same.
ACCEPTED = "github.copilot.didAcceptNextEditSuggestionItem"
REJECTED = "github.copilot.didRejectNextEditSuggestionItem"
IGNORED = "github.copilot.didIgnoreNextEditSuggestionItem"


def inline_edit(offer: Offer, asked: Identifier) -> dict[str, Any]:
    """An item of `textDocument/copilotInlineEdit`. URI and version go back as the client gave them."""
    version = offer.text.version if asked.version is None else asked.version
    return {
        "text": offer.proposal.edit.text,
        "textDocument": {"uri": asked.uri, "version": version},
        "range": span(offer.text, offer.proposal.edit.start, offer.proposal.edit.end),
        "command": {"title": "Accept next edit", "command": ACCEPTED, "arguments": [offer.id]},
    }


def next_edit(offer: Offer, asked: Identifier, *, here: bool) -> dict[str, Any]:
    """An item of `mercury/nextEdit`: the same, and what our own clients show. `here`: in the document that was asked about."""
    document = asked if here else Identifier(offer.text.uri, offer.text.version)
    item = inline_edit(offer, document)
    return {
        **item,
        "label": offer.proposal.label,
        "kind": offer.proposal.kind,
        "confidence": round(offer.proposal.confidence, 3),
        "jump": None if here else {"uri": document.uri, "position": item["range"]["start"]},
    }


def span(text: Text, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: Text, at: int) -> dict[str, int]:
    line_start = text.text.rfind("\n", 0, at) + 1
    line = text.text.count("\n", 0, line_start)
    shift = 1 if text.bom and line == 0 else 0
    return {"line": line, "character": utf16.units(text.text[line_start:at]) + shift}

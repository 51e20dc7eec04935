"""What is not to be proposed again: an edit that was refused, or offered in vain, until its surroundings change. Knows no reason for it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import msgspec

from mercury_lsp.nextedit.moment import Proposal, Text, line_span

_AROUND = 2  # lines on either side that are an edit's surroundings
_IN_VAIN = 3  # things that the user did instead of taking an edit, after which it is taken for refused
_MOST = 200


class _Offered(msgspec.Struct, frozen=True):
    """An edit with its surroundings, wherever in the document they are."""

    document: str
    around: str
    old: str
    new: str


class Quiet:
    """Remembers a bounded number of edits."""

    def __init__(self) -> None:
        self._refused: OrderedDict[_Offered, None] = OrderedDict()
        self._offered: OrderedDict[_Offered, set[object]] = OrderedDict()

    def may(self, text: Text, proposal: Proposal) -> bool:
        """Whether an edit may be offered."""
        return _offered(text, proposal) not in self._refused

    def offer(self, text: Text, proposal: Proposal, latest: object) -> None:
        """An edit is offered; `latest` tells what the user did last."""
        key = _offered(text, proposal)
        seen = self._offered.setdefault(key, set())
        seen.add(latest)
        self._offered.move_to_end(key)
        if len(seen) >= _IN_VAIN:
            self.refuse(text, proposal)
        _bound(self._offered)

    def refuse(self, text: Text, proposal: Proposal) -> None:
        self._refused[_offered(text, proposal)] = None
        _bound(self._refused)


def _offered(text: Text, proposal: Proposal) -> _Offered:
    edit = proposal.edit
    first, last = line_span(text.text, edit.start, edit.end)
    before = text.text[:first].split("\n")[-_AROUND - 1 : -1]
    after = text.text[last + 1 :].split("\n", _AROUND)[:_AROUND]
    around = "\n".join(line for line in (*before, text.text[first:last], *after) if line.strip())
    return _Offered(edit.document, around, text.text[edit.start : edit.end], edit.text)


def _bound(kept: OrderedDict[_Offered, Any]) -> None:
    while len(kept) > _MOST:
        kept.popitem(last=False)

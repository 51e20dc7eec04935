"""Answers from the last draft while what is typed agrees with it, without the model. Knows no editor and no engine.

draft asked for at    retu‸            draft    rn total
the user types        return t‸        answer   otal
and deletes again     retur‸           answer   n total
or goes elsewhere     retry‸           none, and the draft is dropped
"""

from __future__ import annotations

import msgspec

from engine.api import Draft

_CLOSERS = frozenset(")]}>\"'`")


class _Last(msgspec.Struct, frozen=True):
    before: str
    after: str
    multiline: bool
    draft: Draft


class Reuse:
    """The last draft of each document. `before` and `after` are the text around the cursor."""

    def __init__(self) -> None:
        self._last: dict[str, _Last] = {}

    def remember(self, document: str, before: str, after: str, multiline: bool, draft: Draft) -> None:
        if draft.text:
            self._last[document] = _Last(before, after, multiline, draft)

    def forget(self, document: str) -> None:
        self._last.pop(document, None)

    def match(
        self, document: str, before: str, after: str, *, complete: bool = False, multiline: bool = False, popup: str = ""
    ) -> Draft | None:
        """What is left of the last draft at this cursor, or None.

        `complete`: only a draft that ended by itself, and had leave for several lines if `multiline` – somebody asks for more than a
        hurried one. `popup` is what the selected popup entry would put at the cursor: the rest must go on with it.
        """
        last = self._last.get(document)
        if last is None:
            return None
        rest = _rest(last, before, after)
        if rest is None:
            self.forget(document)
            return None
        if not rest or not rest.startswith(popup):
            return None
        if complete and (last.draft.ended not in ("end", "line", "length") or multiline > last.multiline):
            return None
        return msgspec.structs.replace(last.draft, text=rest)


def _rest(last: _Last, before: str, after: str) -> str | None:
    """The draft without what was typed of it; None where the texts do not agree."""
    if not before.startswith(last.before):
        return None
    typed = before[len(last.before) :]
    if not last.draft.text.startswith(typed):
        return None
    rest = last.draft.text[len(typed) :]
    if after == last.after:
        return rest
    # Typing a bracket or a quote of the draft makes editors put its partner after the cursor.
    added = after[: len(after) - len(last.after)]
    fits = typed and added and after.endswith(last.after) and _CLOSERS.issuperset(added) and added in rest
    return rest if fits else None

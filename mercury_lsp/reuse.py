"""Answers from the last suggestion while what is typed agrees with it, without the model. Knows no editor and no engine.

shown at              retu‸            rn total
the user types        return t‸        answer   otal
and deletes again     retur‸           answer   n total
or goes elsewhere     retry‸           none, and it is dropped
"""

from __future__ import annotations

import re

import msgspec

from engine.api import Draft
from mercury_lsp import overlap

_CLOSERS = frozenset(")]}>\"'`")
_INDENTED_BLANK = re.compile(r"(?<=\n)[ \t]+(?=\n)")


class Rest(msgspec.Struct, frozen=True):
    """What is left at the cursor. `text` is "" where the editor put something in the way: it may come back, nobody need be asked."""

    text: str
    draft: Draft  # whose rest it is
    shown: bool  # False: a draft as the engine gave it, of which nothing could be shown so far


class _Last(msgspec.Struct, frozen=True):
    before: str  # the text around the cursor where it was shown
    after: str
    multiline: bool
    rest: Rest


class Reuse:
    """The last draft of each document, as it was shown. `before` and `after` are the text around the cursor."""

    def __init__(self) -> None:
        self._last: dict[str, _Last] = {}

    def remember(self, document: str, before: str, after: str, multiline: bool, draft: Draft) -> None:
        if draft.text:
            self._last[document] = _Last(before, after, multiline, Rest(draft.text, draft, shown=False))

    def show(self, document: str, before: str, after: str, completion: str) -> None:
        """`completion` is what the last draft came to here: from now on only that counts."""
        if (last := self._last.get(document)) is not None:
            self._last[document] = _Last(before, after, last.multiline, Rest(completion, last.rest.draft, shown=True))

    def forget(self, document: str) -> None:
        self._last.pop(document, None)

    def match(self, document: str, before: str, after: str, *, complete: bool = False, multiline: bool = False) -> Rest | None:
        """What is left of the last suggestion at this cursor; None where the engine must be asked.

        `complete`: only something to show, of a draft that ended by itself, and had leave for several lines if `multiline` – somebody
        asks for more than a hurried one.
        """
        last = self._last.get(document)
        if last is None:
            return None
        text = _rest(last, before, after)
        if text is None:
            self.forget(document)
            return None
        if not text and before == last.before + last.rest.text:
            return None
        hurried = last.rest.draft.ended not in ("end", "line", "length") or multiline > last.multiline
        if complete and (hurried or not text or not last.rest.shown):
            return None
        return msgspec.structs.replace(last.rest, text=text)


def _rest(last: _Last, before: str, after: str) -> str | None:
    """What to put between `before` and `after` to get what was shown, or as much of it as can be; None where they do not agree."""
    if not before.startswith(last.before) or not after.endswith(last.after):
        return None
    typed, added = before[len(last.before) :], after[: len(after) - len(last.after)]
    rest = _untyped(last.rest.text, typed)
    if rest is None or not added:
        return rest
    # Typing a bracket or a quote makes editors put its partner after the cursor.
    if not typed:
        return None
    return rest[: len(rest) - len(added)] if rest.endswith(added) else _up_to(added, rest, before)


def _untyped(text: str, typed: str) -> str | None:
    """`text` without `typed`, None where it does not begin so. Editors indent blank lines, which are empty in `text`."""
    for same in (typed, _INDENTED_BLANK.sub("", typed)):
        if text.startswith(same):
            return text[len(same) :]
    above = same.rstrip(" \t")
    if not above.endswith("\n") or not text.startswith(above):
        return None
    rest = text[len(above) :]
    return rest if rest.startswith("\n") else ""  # the next line stands further left than the editor's indentation


def _up_to(added: str, rest: str, before: str) -> str | None:
    """`rest` as far as the closer that the editor has `added` already: what comes after it has to wait until that is typed over."""
    closers = added.lstrip()
    if not _CLOSERS.issuperset("".join(closers.split())):
        return None
    at = overlap.first_closer(rest, before[before.rfind("\n") + 1 :])
    if at is None:  # it was left open
        return rest
    space = added[: len(added) - len(closers)]
    return rest[: at - len(space)] if rest[at] == closers[:1] and rest[:at].endswith(space) else None

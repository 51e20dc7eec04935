"""Answers from the last suggestion while what is typed agrees with it, without the model. Knows no editor and no engine.

shown at              retu‸            rn total
the user types        return t‸        answer   otal
and deletes again     retur‸           answer   n total
or goes elsewhere     retry‸           none, and it is dropped

Where only a part of a draft was shown, what comes after it is kept for when that is used up.
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
    start: int  # where in the draft's text `text` begins; of what is shown only as a measure
    shown: bool  # False: as the engine gave it, and not shown so far


class _Last(msgspec.Struct, frozen=True):
    before: str  # the text around the cursor where `text` begins
    after: str
    multiline: bool
    draft: Draft
    text: str  # the draft's, or what it came to
    start: int  # where in the draft's text `text` begins
    shown_from: int  # what of `text` is shown
    shown_to: int


class Reuse:
    """The last draft of each document, as it was shown. `before` and `after` are the text around the cursor."""

    def __init__(self) -> None:
        self._last: dict[str, _Last] = {}

    def remember(self, document: str, before: str, after: str, multiline: bool, draft: Draft) -> None:
        if draft.text:
            self._last[document] = _Last(before, after, multiline, draft, draft.text, 0, 0, 0)

    def finish(self, document: str, early: Draft, whole: Draft) -> None:
        """The last draft, `early`, was cut short; `whole` is what it came to. What is shown of it stays."""
        last = self._last.get(document)
        if last is not None and last.draft is early and last.text == early.text[last.start :] and whole.text.startswith(early.text):
            self._last[document] = msgspec.structs.replace(last, draft=whole, text=whole.text[last.start :])

    def show(self, document: str, before: str, after: str, completion: str, end: int | None = None) -> None:
        """`completion` is what the last draft came to here: from now on only that counts, and then the draft's text from `end` on."""
        last = self._last.get(document)
        if last is None:
            return
        last = _reaching(last, before, after, own=end is not None) or msgspec.structs.replace(
            last, before=before, after=after, text="", start=0 if end is None else end - len(completion), shown_from=0, shown_to=0
        )
        typed = len(before) - len(last.before)
        self._last[document] = msgspec.structs.replace(
            last,
            text=last.text[:typed] + completion + ("" if end is None else last.draft.text[end:]),
            shown_from=last.shown_from if last.shown_to else typed,
            shown_to=typed + len(completion),
        )

    def knows(self, document: str, before: str, after: str) -> bool:
        """Whether there is a rest at this cursor. Drops nothing."""
        last = self._last.get(document)
        return last is not None and _left(last, before, after) is not None

    def forget(self, document: str) -> None:
        self._last.pop(document, None)

    def match(self, document: str, before: str, after: str, *, complete: bool = False, multiline: bool = False) -> Rest | None:
        """What is left of the last suggestion at this cursor; None where the engine must be asked.

        `complete`: only something to show, of a draft that ended by itself, was shown to its end, and had leave for several lines if
        `multiline` – somebody asks for more than a hurried one.
        """
        last = self._last.get(document)
        if last is None:
            return None
        left = _left(last, before, after)
        if left is None:
            self.forget(document)
            return None
        start, end = left
        if start == len(last.text) and before == last.before + last.text:
            return None
        shown = last.shown_from <= start < last.shown_to
        text = last.text[start : min(end, last.shown_to) if shown else end]
        hurried = last.draft.ended not in ("end", "line", "length") or multiline > last.multiline
        if complete and (hurried or not text or not shown or last.shown_to < len(last.text)):
            return None
        return Rest(text, last.draft, last.start + start, shown)


def _reaching(last: _Last, before: str, after: str, *, own: bool) -> _Last | None:
    """`last`, where what is shown next only goes on with it, so that deleting leads back through all of it; None where it does not.

    `own`: the next is the draft's own text. What is not must not come where it would be judged anew.
    """
    typed = len(before) - len(last.before)
    goes_on = typed >= last.shown_to and (before, after) == (last.before + last.text[:typed], last.after)
    return last if goes_on and (own or (last.shown_to and not last.shown_from)) else None


def _left(last: _Last, before: str, after: str) -> tuple[int, int] | None:
    """Where of `last.text` is to be put between `before` and `after` to get what it was, or as much of it as can be; None where they do
    not agree."""
    if not before.startswith(last.before) or not after.endswith(last.after):
        return None
    typed, added = before[len(last.before) :], after[: len(after) - len(last.after)]
    start = _typed(last.text, typed)
    if start is None or not added:
        return None if start is None else (start, len(last.text))
    # Typing a bracket or a quote makes editors put its partner after the cursor.
    if not typed:
        return None
    rest = last.text[start:]
    length = len(rest) - len(added) if rest.endswith(added) else _up_to(added, rest, before)
    return None if length is None else (start, start + length)


def _typed(text: str, typed: str) -> int | None:
    """How much of `text` is `typed`, None where it does not begin so. Editors indent blank lines, which are empty in `text`."""
    for same in (typed, _INDENTED_BLANK.sub("", typed)):
        if text.startswith(same):
            return len(same)
    above = same.rstrip(" \t")
    if not above.endswith("\n") or not text.startswith(above):
        return None
    rest = text[len(above) :]
    return len(above) if rest.startswith("\n") else len(text)  # the next line stands further left than the editor's indentation


def _up_to(added: str, rest: str, before: str) -> int | None:
    """How much of `rest` goes before the closer that the editor has `added` already: what comes after has to wait until that is typed
    over."""
    closers = added.lstrip()
    if not _CLOSERS.issuperset("".join(closers.split())):
        return None
    at = overlap.first_closer(rest, before[before.rfind("\n") + 1 :])
    if at is None:  # it was left open
        return len(rest)
    space = added[: len(added) - len(closers)]
    return at - len(space) if rest[at] == closers[:1] and rest[:at].endswith(space) else None

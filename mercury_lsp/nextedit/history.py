"""What was done to the open documents, from the difference of their texts, grouped into intentions. Knows no syntax and no protocol.

Places are kept in step with what changes around them. Bounded in number, size and age.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

import msgspec

from engine.api import PastEdit
from engine.edits import past_edit
from mercury_lsp.nextedit.moment import Intention, Text, line_span
from mercury_lsp.trees import changed

MOST = 24  # intentions
_OLDEST = 900.0  # seconds; what is older is not what the user is about
_LONGEST = 8_000  # characters that went or came; more was generated, pasted or reformatted
_LARGEST = 1_000_000  # characters of a document that is looked at
_COMPARED = 300  # lines in which the runs of a change at several places are looked for
_VIEWS = 8


class History:
    """Told of every text that a document has; gives back what was done, the latest last."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._texts: dict[str, Text] = {}
        self._intentions: list[Intention] = []
        self._numbers = itertools.count(1)
        self._clock = clock
        self._views: deque[tuple[str, int]] = deque(maxlen=_VIEWS)

    @property
    def texts(self) -> list[Text]:
        """The open documents, the one that changed or was looked at last is the last one."""
        return list(self._texts.values())

    def open(self, text: Text) -> None:
        """What was done in it before counts where it is still there."""
        self._texts.pop(text.document, None)
        self._intentions = [each for each in self._intentions if each.document != text.document or _is_there(text, each)]
        if len(text.text) <= _LARGEST:
            self._texts[text.document] = text

    def close(self, document: str) -> None:
        """What was done in it is kept: it may bear on other documents."""
        self._texts.pop(document, None)

    def view(self, document: str, line: int) -> None:
        """Somebody looks at this line."""
        if document in self._texts:
            self._texts[document] = self._texts.pop(document)
        if (document, line) not in self._views:
            self._views.append((document, line))

    @property
    def views(self) -> list[tuple[str, int]]:
        """(document, line) of the places that were looked at, the latest last."""
        return [view for view in self._views if view[0] in self._texts]

    def change(self, text: Text) -> None:
        """The document is so now."""
        before = self._texts.pop(text.document, None)
        if len(text.text) > _LARGEST:
            return
        self._texts[text.document] = text
        if before is None or before.text == text.text:
            return
        runs = list(_runs(before.text, text.text))
        for start, end, new in reversed(runs):  # from the bottom up: what stands above has not moved yet
            self._apply(before.text, text, start, end, new, bulk=len(runs) > 1)

    def intentions(self) -> list[Intention]:
        """The latest last; of documents that are open and not."""
        youngest = self._clock() - _OLDEST
        self._intentions = [each for each in self._intentions if each.at >= youngest][-MOST:]
        return list(self._intentions)

    def past_edits(self, shown: Callable[[str], str]) -> tuple[PastEdit, ...]:
        """What was done as the model is told of it; `shown` is the path that it sees for a document's."""
        return tuple(_past_edit(each, text, shown(text.path)) for each in self.intentions() if (text := self._texts.get(each.document)))

    def _apply(self, before: str, text: Text, start: int, end: int, new: str, *, bulk: bool) -> None:
        """`new` came in place of `before[start:end]`."""
        last = self._last(text.document)
        grown = None if last is None or bulk else _grown(before, last, start, end, new)
        number = last.number if last is not None and grown is not None else next(self._numbers)
        if grown is not None:
            self._intentions.pop()
        self._intentions = [_moved(each, text.document, start, end, len(new)) for each in self._intentions]
        first, old, new = (start, before[start:end], new) if grown is None else grown
        if old != new and len(old) <= _LONGEST and len(new) <= _LONGEST:
            last_one = Intention(number, text.document, first, first + len(new), old, new, self._clock(), text.version, bulk)
            self._intentions.append(last_one)

    def _last(self, document: str) -> Intention | None:
        last = self._intentions[-1] if self._intentions else None
        return last if last is not None and last.document == document and not last.bulk else None


def _is_there(text: Text, each: Intention) -> bool:
    return each.end <= len(text.text) and text.text[each.start : each.end] == each.new


def _grown(before: str, last: Intention, start: int, end: int, new: str) -> tuple[int, str, str] | None:
    """(start, old, new) of the last intention with one more change, where that touches it or lies on its line."""
    line_start, line_end = line_span(before, last.start, last.end)
    if end < line_start or start > line_end:
        return None
    first, stop = min(last.start, start), max(last.end, end)
    old = before[first : last.start] + last.old + before[last.end : stop]
    return first, old, before[first:start] + new + before[end:stop]


def _moved(each: Intention, document: str, start: int, old_end: int, new_length: int) -> Intention:
    """An intention where a later change has put it."""
    by = new_length - (old_end - start)
    if each.document != document or each.end < start:
        return each
    if each.start >= old_end:
        return msgspec.structs.replace(each, start=each.start + by, end=each.end + by)
    # Something else was written over it: what is left of its place.
    first = min(each.start, start)
    return msgspec.structs.replace(each, start=first, end=max(first, max(each.end, old_end) + by))


def _runs(before: str, after: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, new) of each place that changed, from top to bottom."""
    start, old_end, new_end = changed(before, after)
    old, new = before[start:old_end], after[start:new_end]
    if "\n" not in old or "\n" not in new or max(old.count("\n"), new.count("\n")) > _COMPARED:
        yield start, old_end, new
        return
    first, last = line_span(before, start, old_end)
    old_lines = before[first:last].splitlines(keepends=True)
    new_lines = after[first : last + new_end - old_end].splitlines(keepends=True)
    for tag, low, high, new_low, new_high in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        gone, came = "".join(old_lines[low:high]), "".join(new_lines[new_low:new_high])
        here, gone_end, came_end = changed(gone, came)
        at = first + sum(map(len, old_lines[:low]))
        yield at + here, at + gone_end, came[here:came_end]


def _past_edit(each: Intention, text: Text, path: str) -> PastEdit:
    first, last = line_span(text.text, each.start, each.end)
    head, tail = text.text[first : each.start], text.text[each.end : last]
    above = text.text[:first].rstrip("\n").rpartition("\n")[2] if first else None
    return past_edit(
        path, f"{head}{each.old}{tail}".split("\n"), f"{head}{text.text[each.start : each.end]}{tail}".split("\n"), above=above
    )

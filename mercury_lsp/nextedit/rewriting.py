"""A region around the latest change as the model is to rewrite it, and what of its answer may be shown. Knows no engine and no clock."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from engine.api import Draft, PastEdit, Related, RewriteRequest
from engine.instructions import instruction
from mercury_lsp.context import shown_path
from mercury_lsp.nextedit.moment import Edit, Fault, Intention, Moment, Proposal, Text, line_span
from mercury_lsp.nextedit.valid import keeps_valid
from mercury_lsp.nextedit.words import is_name, tokens

_LINES = 20
# Characters: the default model gives a region 192 tokens of about three characters, and refuses a longer one.
_LONGEST = 540
# Characters around it; reading them takes much of the time. Of 28 moments of held-out history the default model changed the same 11 with
# these as with twice as much (a quarter fewer tokens of prompt, a fifth less time), and with half of these others in 5 (2026-12-01).
_PREFIX, _SUFFIX = 400, 200
_MOST_CHANGED = 4  # lines; a rewriting of more is none of the small edits that follow from another
_HISTORY = 4  # edits
_MARGIN = 3  # lines between the cursor and an edge of a region that is taken again
_SETTLED = 2  # lines of the region behind a change, with which it is whole: what else would change is the next question's
_AROUND = 4  # lines above and below a place that was looked at
# Of the probability that the model gives a whole rewriting. Of 236 moments, scenarios and held-out commits, the default model changed
# something in 91 and 27 of that passed the other checks; from 0.5 on one, which was right; below that 5 of 26 (2026-11-30).
LEAST = 0.5


def complaint(moment: Moment) -> Fault | None:
    """The first diagnostic that the latest changes brought, elsewhere than in the line that is being written."""
    line = line_span(moment.here.text, moment.cursor, moment.cursor)
    return next((each for each in moment.faults if each.is_new and line_span(moment.here.text, each.start, each.start) != line), None)


def is_worth_asking(moment: Moment) -> bool:
    """Whether something was changed here that was there, or complained of: who only writes on is served by suggestions at the cursor."""
    if complaint(moment) is not None:
        return bool(moment.made_in(moment.here.document))
    made = moment.made_in(moment.here.document)
    return bool(made) and made[-1] is moment.intentions[-1] and bool(made[-1].old.strip() or "\n" not in made[-1].new)


class Region:
    """Whole lines of a document, and what the model sees around them."""

    def __init__(self, text: Text, start: int, end: int) -> None:
        self.document, self.start, self.end = text.document, start, end
        self.text = text.text[start:end]
        self.prefix, self.suffix = _last_lines(text.text[:start]), _first_lines(text.text[end:])
        self._behind = len(text.text) - end

    def moved(self, text: Text, at: int) -> Region | None:
        """The region in a text that was changed inside of it alone, if `at` is well inside: what stands before it is read already."""
        end = len(text.text) - self._behind
        if text.document != self.document or not self.start <= at <= end or end - self.start > _LONGEST:
            return None
        now = Region(text, self.start, end)
        lines, row = now.text.count("\n") + 1, text.text.count("\n", self.start, at)
        inside = (row >= _MARGIN or not self.start) and (row < lines - _MARGIN or not self._behind) and lines <= _LINES + _MARGIN
        return now if inside and (now.prefix, now.suffix) == (self.prefix, self.suffix) else None


def region(moment: Moment, last: Region | None = None) -> Region:
    """The lines around what was complained of, else around the cursor, or around the last change where the cursor is far from that.

    `last` is what was taken before.
    """
    text = moment.here.text
    change = moment.made_in(moment.here.document)[-1].end
    near = abs(text.count("\n", 0, moment.cursor) - text.count("\n", 0, change)) < _LINES // 2
    fault = complaint(moment)
    at = fault.start if fault is not None else moment.cursor if near else change
    return (last.moved(moment.here, at) if last is not None else None) or Region(moment.here, *_around(text, at))


def _around(text: str, at: int) -> tuple[int, int]:
    """The lines around a place, one more above and below in turn while there is room."""
    start, end = line_span(text, at, at)
    for number in range(_LINES - 1):
        above, below = text.rfind("\n", 0, max(0, start - 1)) + 1, line_span(text, end + 1, end + 1)[1] if end < len(text) else end
        if number % 2 and start and end - above <= _LONGEST:
            start = above
        elif end < len(text) and below - start <= _LONGEST:
            end = below
        elif start and end - above <= _LONGEST:
            start = above
    return start, end


def _last_lines(before: str) -> str:
    """Whole lines, as many of the last ones as fit."""
    first = len(before) - _PREFIX
    return before[before.find("\n", first) + 1 :] if first > 0 else before


def _first_lines(after: str) -> str:
    return after if len(after) <= _SUFFIX else after[: after.rfind("\n", 0, _SUFFIX) + 1]


def lines_around(text: Text, line: int) -> str:
    """A few lines of a document."""
    return "\n".join(text.text.split("\n")[max(0, line - _AROUND) : line + _AROUND]).strip("\n")


def rewrite_request(
    moment: Moment, region: Region, history: Sequence[PastEdit], related: Sequence[Related], deadline: float | None
) -> RewriteRequest:
    fault = complaint(moment)
    at = moment.cursor if fault is None else fault.start
    return RewriteRequest(
        prefix=region.prefix,
        region=region.text,
        suffix=region.suffix,
        path=shown_path(moment.here.path, moment.roots),
        cursor=at - region.start if region.start <= at <= region.end else None,
        history=tuple(history[-_HISTORY:]),
        instruction=instruction("fix", message=fault.message) if fault is not None else "",
        related=tuple(related),
        first_change=_SETTLED,
        deadline=deadline,
    )


def proposal(moment: Moment, region: Region, draft: Draft, least: float = LEAST) -> Proposal | None:
    """The model's edit, if it may be shown: whole, small, valid, sure, of known names, and nothing that undoes the user's own."""
    if draft.ended != "end" or draft.text == region.text or not draft.text.strip() or draft.confidence < least:
        return None
    edit = _smallest(moment.here.document, region, draft.text)
    last = moment.made_in(moment.here.document)[-1]
    if edit is None or _undoes(moment, edit) or not _is_known(moment, edit) or not keeps_valid(moment, edit):
        return None
    return Proposal(edit=edit, kind="model", label="Next edit", confidence=draft.confidence, cause=last.number)


def _smallest(document: str, region: Region, new: str) -> Edit | None:
    """The changed lines alone; None where they are too many, or in two places."""
    old_lines, new_lines = region.text.split("\n"), new.split("\n")
    runs = [each for each in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes() if each[0] != "equal"]
    if not runs:
        return None
    low, high, new_low, new_high = runs[0][1], runs[-1][2], runs[0][3], runs[-1][4]
    if max(high - low, new_high - new_low) > _MOST_CHANGED:
        return None
    start = region.start + sum(len(line) + 1 for line in old_lines[:low])
    gone = "".join(f"{line}\n" for line in old_lines[low:high])
    came = "".join(f"{line}\n" for line in new_lines[new_low:new_high])
    if start + len(gone) > region.end:  # the region's last line: its break is not the region's
        return Edit(document, start, region.end, came.removesuffix("\n")) if gone and came else None
    return Edit(document, start, start + len(gone), came)


def _undoes(moment: Moment, edit: Edit) -> bool:
    """Whether the edit brings back what the user took away, or takes away what was just written."""
    text = moment.here.text
    after = text[: edit.start] + edit.text + text[edit.end :]
    return any(_is_back(text, after, each, edit) for each in moment.made_in(edit.document))


def _is_back(text: str, after: str, each: Intention, edit: Edit) -> bool:
    first, last = line_span(text, each.start, each.end)
    if edit.end < first or edit.start > last:
        return False
    before = text[first : each.start] + each.old + text[each.end : last]
    kept = text[first:last]
    return bool(before.strip()) and before in after and before not in text or bool(kept.strip()) and kept not in after


def _is_known(moment: Moment, edit: Edit) -> bool:
    """Whether all names of the edit stand in the document or in what was done: a small model makes names up."""
    known = set(tokens(moment.here.text)) | {token for each in moment.intentions for token in tokens(each.new)}
    return all(token in known for token in tokens(edit.text) if is_name(token))

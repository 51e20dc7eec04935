"""The same small change made to two lines: the other lines that are like them. Knows no syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mercury_lsp.nextedit.changes import Change, gathered, in_turn
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.moment import Edit, Intention, Moment, Proposal, Text, line_span
from mercury_lsp.nextedit.rules import Changed, Rule, changed, rules

_CAUSES = 8  # intentions in which two alike are looked for
_MOST = 30  # lines
_LONGEST = 240  # characters of a line

_Made = tuple[Intention, Changed]


def repeats(moment: Moment) -> Iterator[Proposal]:
    """Of the two latest lines that were changed alike, the lines like them in the documents that were changed."""
    made = [(each, line) for each in moment.intentions[-_CAUSES:] if (line := _changed(moment, each)) is not None]
    for last in range(len(made) - 1, 0, -1):
        for first in range(last - 1, -1, -1):
            found = list(rules(made[first][1], made[last][1], neighbours=_are_neighbours(made[first], made[last])))
            for rule in found:
                proposals = list(_proposals(moment, made[first][0], made[last][0], rule))
                if proposals:
                    yield from proposals
                    return
            if found:
                return


def _changed(moment: Moment, intention: Intention) -> Changed | None:
    """None where it is not one line that was changed by hand."""
    text = moment.text(intention.document)
    if text is None or intention.bulk or "\n" in intention.old or "\n" in text.text[intention.start : intention.end]:
        return None
    first, last = line_span(text.text, intention.start, intention.end)
    after = text.text[first:last].strip()
    before = (text.text[first : intention.start] + intention.old + text.text[intention.end : last]).strip()
    return changed(before, after) if before and after and max(len(before), len(after)) <= _LONGEST else None


def _are_neighbours(one: _Made, other: _Made) -> bool:
    """Whether the second line stands right below the first."""
    return one[0].document == other[0].document and 0 < other[0].start - one[0].end < _LONGEST


def _proposals(moment: Moment, first: Intention, last: Intention, rule: Rule) -> Iterator[Proposal]:
    for text in (moment.here, *moment.others):
        if not moment.made_in(text.document):
            continue
        after = last.end if text.document == last.document else 0
        changes = _in_block(text, last, rule) if rule.in_block else list(_anywhere(moment, text, rule))
        if len(changes) > _MOST or any(_is_passed_over(text, change, first, last) for change in changes):
            return
        for order, edit in in_turn(text, gathered(text, changes), after):
            confidence = min(rule.confidence, chance("repeat behind")) if _is_behind(edit, first, last) else rule.confidence
            yield Proposal(edit=edit, kind="repeat", label="Repeat the change", confidence=confidence, cause=last.number, order=order)


def _is_behind(edit: Edit, first: Intention, last: Intention) -> bool:
    """Whether an edit lies where somebody came from who changed one line and then the other."""
    same = edit.document == first.document == last.document
    return same and (edit.start > last.start) != (last.start > first.start)


def _is_passed_over(text: Text, change: Change, first: Intention, last: Intention) -> bool:
    """Whether a line lies between two that were changed one after the other: who left it meant to."""
    return text.document == first.document == last.document and (
        first.end < change.start < last.start or last.end < change.start < first.start
    )


def _in_block(text: Text, cause: Intention, rule: Rule) -> list[Change]:
    """The changes of the lines that follow below the cause without a break."""
    changes: list[Change] = []
    at = text.text.find("\n", cause.end) + 1
    while at and text.document == cause.document and (match := rule.lines.match(text.text, at)) is not None:
        changes += _changes(match, rule)
        at = text.text.find("\n", match.end()) + 1
    return changes


def _anywhere(moment: Moment, text: Text, rule: Rule) -> Iterator[Change]:
    made = [line_span(text.text, each.start, each.end) for each in moment.made_in(text.document)]
    for match in _matches(text.text, rule):
        if not any(first <= match.end() and match.start() <= last for first, last in made) and not _is_done(text, match, rule):
            yield from _changes(match, rule)


def _matches(text: str, rule: Rule) -> Iterator[re.Match[str]]:
    """Line by line, of those alone that have the rule's word."""
    at = text.find(rule.word)
    while at >= 0:
        first, last = line_span(text, at, at)
        if last - first <= _LONGEST:
            yield from rule.lines.finditer(text, first, last)
        at = text.find(rule.word, last)


def _changes(match: re.Match[str], rule: Rule) -> list[Change]:
    return [Change(*change) for change in rule.changes(match)]


def _is_done(text: Text, match: re.Match[str], rule: Rule) -> bool:
    """Whether a line has already what would be put into it, or has it in front of or behind the place."""
    first, last = line_span(text.text, match.start(), match.end())
    line = text.text[first:last]
    changes = rule.changes(match)
    if all(start == end for start, end, _ in changes):
        return all(put.strip(" ,()") in line for _, _, put in changes)
    return any("{" in put and put.replace(f"{{{name}}}", "") in match.group(name) for name, put in rule.puts.items())

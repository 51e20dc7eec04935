"""A new parameter that is to be kept as the one before it is: `self.name = name`. Knows no call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mercury_lsp.nextedit.functions import Item, Listed, function_at
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.moment import Edit, Intention, Moment, Proposal, Text, undone_tree

_LONGEST = 4_000  # characters of a function in which the line is looked for


def kept(moment: Moment) -> Iterator[Proposal]:
    """For a parameter that was just added to a constructor."""
    for intention in moment.intentions[-1:]:
        text = moment.text(intention.document)
        tree = moment.tree(text) if text is not None else None
        after = function_at(tree, intention.end) if tree is not None else None
        before_tree = undone_tree(moment, text, intention) if text is not None and after is not None else None
        before = function_at(before_tree, intention.start) if before_tree is not None else None
        if text is None or after is None or before is None or before.name != after.name:
            continue
        yield from _proposed(text, intention, before, after)


def _proposed(text: Text, intention: Intention, before: Listed, after: Listed) -> Iterator[Proposal]:
    """Only where one parameter was added and the others stayed."""
    known = [item.name for item in before.items]
    added = [number for number, item in enumerate(after.items) if item.name not in known]
    if len(added) != 1 or len(after.items) != len(known) + 1 or not added[0]:
        return
    new, last = after.items[added[0]], after.items[added[0] - 1]
    line = _keeping(text, after, last)
    if line is None or _keeping(text, after, new) is not None:
        return
    at = min(line.end() + 1, len(text.text))
    written = re.sub(rf"(?<!\w){re.escape(last.name)}(?!\w)", new.name, line[0])
    edit = Edit(text.document, at, at, f"{written}\n" if text.text[:at].endswith("\n") else f"\n{written}")
    yield Proposal(edit=edit, kind="signature", label=f"Keep {new.name}", confidence=chance("kept"), cause=intention.number, order=-1)


def _keeping(text: Text, function: Listed, item: Item) -> re.Match[str] | None:
    """The line that keeps a parameter under its own name."""
    name = re.escape(item.name)
    shape = re.compile(rf"^[ \t]*(?:self\.|this\.|\$this->|this->)_?{name} = \$?{name};?$", re.MULTILINE)
    return shape.search(text.text, function.end, function.end + _LONGEST)

"""Tasks about documentation: what is documented well, without its documentation, or with less of it. Knows no token."""

from __future__ import annotations

import random
import re

from engine.training.syntax import Source
from engine.training.tasks.functions import Definition, classes, functions
from engine.training.tasks.task import LONGEST, Task, try_each

_LONGEST_DOC = 14  # rows
_WORD = re.compile(r"[A-Za-z]{2,}")
_POOR = re.compile(r"TODO|FIXME|noqa|eslint|copyright|licen[cs]e|inheritdoc|nolint|go:|@ts-|====|----|\*\*\*\*", re.IGNORECASE)
_CUT_SHORT = 0.2  # share of the regions that end inside a body that would fit


def docstring(source: Source, rng: random.Random) -> Task | None:
    """A definition without its documentation; sometimes one that has it already, where nothing is to change."""
    found = [definition for definition in functions(source) + classes(source) if is_documented(source, definition)]
    return try_each(found, lambda definition: _document(source, definition, rng), rng)


def update_docstring(source: Source, rng: random.Random) -> Task | None:
    """A definition whose documentation has lost what stands behind its first sentence, or one line of the rest."""
    found = [definition for definition in functions(source) if is_documented(source, definition)]
    return try_each(found, lambda definition: _update(source, definition, rng), rng)


def is_documented(source: Source, definition: Definition) -> bool:
    """Whether there is documentation that is worth learning from."""
    if definition.doc is None:
        return False
    first, end = definition.doc
    text = source.rows(first, end)
    if end - first > _LONGEST_DOC or len(_WORD.findall(text)) < 4 or _POOR.search(text):
        return False
    return source.language != "go" or text.lstrip().startswith((f"// {definition.name} ", f"// {definition.name}\n"))


def head_rows(source: Source, definition: Definition, room: int, rng: random.Random) -> tuple[int, int]:
    """The rows of a region that starts a definition: all of it, or up to somewhere in its body if it has more than `room` rows.

    Documentation above is left out where the body would not begin within the room.
    """
    inside = definition.doc is not None and definition.doc[0] > definition.signature
    body = definition.doc[1] if inside and definition.doc else definition.body + 1
    first = definition.top if body < definition.top + room else definition.first
    longest = min(definition.end, first + room)
    if longest == definition.end and rng.random() > _CUT_SHORT:
        return first, definition.end
    end = max(body, rng.randint(min(body + 1, longest), longest))
    while end > body and not source.lines[end - 1].strip():
        end -= 1
    return first, end


def _document(source: Source, definition: Definition, rng: random.Random) -> Task | None:
    assert definition.doc is not None
    doc_first, doc_end = definition.doc
    first, end = head_rows(source, definition, LONGEST + doc_end - doc_first, rng)
    answer = source.rows(first, end)
    if first > doc_first:
        return None
    if rng.random() < 0.06:  # it is there already
        return Task(name="docstring", first=first, end=end, region=answer, answer=answer, symbol=definition.name)
    region = _without(source, first, end, doc_first, doc_end)
    return Task(name="docstring", first=first, end=end, region=region, answer=answer, symbol=definition.name)


def _without(source: Source, first: int, end: int, gone: int, back: int) -> str:
    """Rows `first`…`end` − 1 without `gone`…`back` − 1, and without the blank ones after those."""
    while back < end and not source.lines[back].strip():
        back += 1
    return "\n".join(source.lines[first:gone] + source.lines[back:end])


def _update(source: Source, definition: Definition, rng: random.Random) -> Task | None:
    assert definition.doc is not None
    doc_first, doc_end = definition.doc
    if doc_end - doc_first < 4:
        return None
    first, end = head_rows(source, definition, LONGEST, rng)
    inner = range(doc_first + 2, doc_end - 1)  # opening and first line stay, and the closing one
    one = rng.choice(inner)
    gone = range(one, one + 1) if rng.random() < 0.7 else inner
    if first > doc_first or not any(_WORD.search(source.lines[row]) for row in gone):
        return None
    region = "\n".join(source.lines[row] for row in range(first, end) if row not in gone)
    answer = source.rows(first, end)
    return Task(name="update_docstring", first=first, end=end, region=region, answer=answer, symbol=definition.name)

"""Parameters added to a function, or dropped from it, whose calls have to follow. Knows no moment of it."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence

from tree_sitter import Node

from engine.training.corpus import SourceFile
from engine.training.sketch import LineEdit, Sketch
from engine.training.trees import Listed, calls, functions, has_grammar, parse, text_of

_DROPPED = 0.3  # share where the parameter goes
_MOST_CALLS = 12
_TRIES = 8
_WORD = re.compile(r"[A-Za-z_]\w*")
_PLAIN = re.compile(r"(None|True|False|true|false|nil|null|NULL|nullptr|undefined|0|1|\"\"|''|\[\]|\{\})$")
_SELF = frozenset({"self", "cls", "&self", "&mut self", "mut self"})

_Span = tuple[int, int, int]  # row, first column and the one after the last, in bytes


def parameter(file: SourceFile, rng: random.Random) -> Sketch | None:
    """The function's own line is the cause, the calls in the file follow. What is added is what really stands there."""
    if not has_grammar(file.language):
        return None
    root = parse(file.language, file.text)
    found = [function for function in functions(file.language, root) if function.items]
    called: defaultdict[str, list[Listed]] = defaultdict(list)
    for call in calls(file.language, root):
        called[call.name].append(call)
    found = [function for function in found if 1 <= len(called[function.name]) <= _MOST_CALLS]
    for _ in range(min(_TRIES, len(found))):
        function = rng.choice(found)
        spans = _spans(function, called[function.name], rng)
        if len(spans) > 1 and _are_apart(spans):
            return _sketch(file.text, spans, dropped=rng.random() < _DROPPED)
    return None


def _spans(function: Listed, sites: Sequence[Listed], rng: random.Random) -> list[_Span]:
    """What is to be left out for the function to have a parameter less: in its own line first, then in each call. Empty where unclear."""
    parameters = [text_of(item) for item in function.items]
    has_self = parameters[0] in _SELF
    number = len(parameters) - 1 if rng.random() < 0.6 else rng.randrange(len(parameters))
    if parameters[number] in _SELF or parameters[number].startswith(("*", "...", "&")):
        return []
    name = _name(function.items[number])
    spans = [_span(function.items, number)]
    values = []
    for call in sites:
        place = _argument(call, number - has_self, name, len(parameters) - has_self)
        if place is None:
            return []
        spans.append(_span(call.items, place))
        values.append(text_of(call.items[place]).rpartition("=")[2].strip())
    if any(span is None for span in spans) or not all(_is_told(value, name, values) for value in values):
        return []
    return [span for span in spans if span is not None]


def _argument(call: Listed, number: int, name: str, most: int) -> int | None:
    """Which of a call's arguments is the parameter's."""
    texts = [text_of(item) for item in call.items]
    for place, text in enumerate(texts):
        if re.match(rf"{re.escape(name)}\s*[=:](?!=)", text):
            return place
    if len(texts) > most or number >= len(texts) or any(text.startswith(("*", "...")) for text in texts):
        return None
    return None if re.match(r"\w+\s*=(?!=)", texts[number]) else number


def _is_told(value: str, name: str, values: Sequence[str]) -> bool:
    """Whether an argument can be guessed: it has the parameter's name in it, is an ordinary constant, or is the same in all calls."""
    if len(value) > 40 or "\n" in value:
        return False
    plain = name.lower().strip("_$")
    if len(plain) > 2 and plain in value.lower():
        return True
    return _PLAIN.match(value) is not None or (len(values) > 1 and len(set(values)) == 1)


def _name(item: Node) -> str:
    """The name of a parameter."""
    for field in ("name", "pattern", "declarator"):
        child = item.child_by_field_name(field)
        if child is not None:
            return _name(child)
    words = _WORD.findall(text_of(item))
    return words[0] if words else text_of(item)


def _span(items: Sequence[Node], number: int) -> _Span | None:
    """The item with the comma next to it, where all that lies on one line."""
    item = items[number]
    if number:
        start, end = items[number - 1].end_point, item.end_point
    elif len(items) > 1:
        start, end = item.start_point, items[1].start_point
    else:
        start, end = item.start_point, item.end_point
    return (start.row, start.column, end.column) if start.row == end.row else None


def _are_apart(spans: Sequence[_Span]) -> bool:
    """Whether no call is an argument of another one."""
    ordered = sorted(set(spans))
    return all(left[0] < right[0] or left[2] <= right[1] for left, right in zip(ordered, ordered[1:], strict=False))


def _sketch(text: str, spans: Sequence[_Span], *, dropped: bool) -> Sketch:
    lines = text.split("\n")
    rows: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for row, first, last in spans:
        rows[row].append((first, last))
    edits = []
    for row, parts in sorted(rows.items()):
        without = _without(lines[row], parts)
        old, new = (lines[row], without) if dropped else (without, lines[row])
        edits.append(LineEdit(line=row, old=(old,), new=(new,), cause=row == spans[0][0]))
    return Sketch(kind="parameter", lines=tuple(lines), edits=tuple(edits))


def _without(line: str, parts: Sequence[tuple[int, int]]) -> str:
    raw = line.encode()
    for first, last in sorted(set(parts), reverse=True):
        raw = raw[:first] + raw[last:]
    return raw.decode()

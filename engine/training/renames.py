"""Renames begun at one place of a file: a local variable, a function, a member. Knows no moment of them."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence

from tree_sitter import Node

from engine.training.corpus import SourceFile
from engine.training.new_names import new_name
from engine.training.sketch import LineEdit, Sketch
from engine.training.trees import Listed, functions, has_grammar, is_declared, is_member, names, parse, text_of

_LOCAL = 0.6  # share; the rest are functions and members
_MOST_USES = 30
_LONGEST_FUNCTION = 120  # lines
_TRIES = 6
_WORD = re.compile(r"[A-Za-z_]\w*")


def rename(file: SourceFile, rng: random.Random) -> Sketch | None:
    """The place that declares a name is the cause, its other places follow."""
    if not has_grammar(file.language):
        return None
    root = parse(file.language, file.text)
    found = functions(file.language, root)
    if not found:
        return None
    words = sorted(set(_WORD.findall(file.text)))
    for _ in range(_TRIES):
        function = rng.choice(found)
        if rng.random() < _LOCAL:
            places = _local(file.language, function.whole, rng)
        else:
            places = _anywhere(file.language, root, function, rng)
        new = new_name(text_of(places[0]), words, rng) if places else None
        if new is not None:
            return _sketch(file.text, places, new)
    return None


def _local(language: str, function: Node, rng: random.Random) -> list[Node]:
    """The places of a variable that is first seen where it is declared."""
    if function.end_point.row - function.start_point.row > _LONGEST_FUNCTION:
        return []
    places: defaultdict[str, list[Node]] = defaultdict(list)
    mixed = set()
    for node in names(language, function):
        if node.type.startswith("shorthand"):
            mixed.add(text_of(node))  # renaming it would rename the member, too
        elif not is_member(node):
            places[text_of(node)].append(node)
    known = [group for name, group in places.items() if name not in mixed and _is_several(group) and is_declared(group[0])]
    return rng.choice(known) if known else []


def _anywhere(language: str, root: Node, function: Listed, rng: random.Random) -> list[Node]:
    """All places of the function's own name, or of a member that it assigns, the one that declares it first."""
    assigned = [node for node in names(language, function.whole) if is_member(node) and _is_assigned(node)]
    name = text_of(rng.choice(assigned)) if assigned and rng.random() < 0.5 else function.name
    places = [node for node in names(language, root) if text_of(node) == name]
    if len(name) < 4 or name.startswith("__") or not _is_several(places) or any(node.type.startswith("shorthand") for node in places):
        return []
    openings = {function.opening.start_byte, function.opening.end_byte - len(name.encode())}
    first = next((node for node in places if node.start_byte in openings or (is_member(node) and _is_assigned(node))), places[0])
    others = [node for node in places if node is not first]
    return [] if any(is_declared(node) for node in others) else [first, *others]  # elsewhere the name is another thing's


def _is_assigned(node: Node) -> bool:
    """Whether a member is what an assignment sets."""
    member, whole = node.parent, node.parent.parent if node.parent else None
    return whole is not None and "assignment" in whole.type and whole.child_by_field_name("left") == member


def _is_several(places: Sequence[Node]) -> bool:
    return len({node.start_point.row for node in places}) >= 2 and len(places) <= _MOST_USES


def _sketch(text: str, places: Sequence[Node], new: str) -> Sketch:
    lines = text.split("\n")
    columns: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for node in places:
        columns[node.start_point.row].append((node.start_point.column, node.end_point.column))
    edits, first = [], places[0].start_point.row
    for row, spans in sorted(columns.items()):
        edits.append(LineEdit(line=row, old=(lines[row],), new=(_replaced(lines[row], spans, new),), cause=row == first))
    return Sketch(kind="rename", lines=tuple(lines), edits=tuple(edits))


def _replaced(line: str, spans: Sequence[tuple[int, int]], new: str) -> str:
    raw = line.encode()
    for first, last in sorted(spans, reverse=True):
        raw = raw[:first] + new.encode() + raw[last:]
    return raw.decode()

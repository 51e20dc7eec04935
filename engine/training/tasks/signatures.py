"""Tasks about signatures: types to be written, a parameter to be added. Knows no token."""

from __future__ import annotations

import random
import re

import tree_sitter

from engine.training.syntax import Source, inside
from engine.training.tasks.docs import head_rows
from engine.training.tasks.functions import Definition, functions
from engine.training.tasks.nodes import Edit
from engine.training.tasks.task import LONGEST, Task, try_each

_TYPED = ("python", "typescript")
_SOME_KEPT = 0.25  # share of the regions in which some types are there already
_NOT_USED_YET = 0.4  # share of the added parameters that the body does not use
_PARAMETERS = ("parameters", "formal_parameters", "parameter_list", "method_parameters")
_PARAMETERS_APART = ("python", "typescript", "javascript", "go", "rust", "java", "c++", "c#", "php", "ruby", "lua")


def types(source: Source, rng: random.Random) -> Task | None:
    """A function with types, without them, or with some of them; rarely one that has them all, where nothing is to change."""
    if source.language not in _TYPED:
        return None
    found = [(function, edits) for function in functions(source) if (edits := _untype(source, function.node))]
    return try_each(found, lambda pair: _types(source, pair[0], pair[1], rng), rng)


def parameter(source: Source, rng: random.Random) -> Task | None:
    """A function to which its last parameter is to be added."""
    if source.language not in _PARAMETERS_APART:
        return None
    return try_each(functions(source), lambda function: _parameter(source, function, rng), rng, tries=12)


def _types(source: Source, function: Definition, edits: list[Edit], rng: random.Random) -> Task | None:
    first, end = head_rows(source, function, LONGEST, rng)
    answer = source.rows(first, end)
    if rng.random() < 0.04:
        return Task(name="types", first=first, end=end, region=answer, answer=answer)
    if rng.random() < _SOME_KEPT:
        edits = rng.sample(edits, rng.randint(1, len(edits)))
    region = source.with_edits(edits, first, end)
    return Task(name="types", first=first, end=end, region=region, answer=answer)


def _untype(source: Source, function: tree_sitter.Node) -> list[Edit]:
    """The edits that take the types off a signature; none where a parameter has no type as it stands."""
    parameters, returned = function.child_by_field_name("parameters"), function.child_by_field_name("return_type")
    if parameters is None:
        return []
    edits = []
    for child in parameters.named_children:
        name = child.named_children[0] if child.named_children else child
        annotation = child.child_by_field_name("type")
        if annotation is not None:
            edits.append(_without_type(source, child, name, annotation))
        elif source.of(child) not in ("self", "cls", "this", "*", "/") and "separator" not in child.type:
            return []
    if returned is not None:
        closed = source.span(parameters)[1]
        edits.append((closed, source.span(returned)[1], ""))
    return edits if len(edits) > 1 or (edits and "None" not in source.of(returned or function)) else []


def _without_type(source: Source, parameter: tree_sitter.Node, name: tree_sitter.Node, annotation: tree_sitter.Node) -> Edit:
    first, end = source.span(name)[1], source.span(annotation)[1]
    if source.language == "python":
        value = parameter.child_by_field_name("value")
        # A default stands without spaces around its sign where there is no type.
        return (first, end, "") if value is None else (first, source.span(value)[0], "=")
    return source.span(annotation)[0], end, ""


def _parameter(source: Source, function: Definition, rng: random.Random) -> Task | None:
    parameters = _parameters(source, function)
    if len(parameters) < 2 or function.name.isupper():  # a macro's call looks like a definition
        return None
    before, last = source.span(parameters[-2])[1], source.span(parameters[-1])
    if rng.random() < _NOT_USED_YET:
        return _borrowed(source, function, last, rng)
    text = source.text[slice(*last)]
    if not _is_plain(text) or source.text[before : last[0]].strip() != ",":
        return None
    first, end = head_rows(source, function, LONGEST, rng)
    region = source.with_edits([(before, last[1], "")], first, end)
    answer = source.rows(first, end)
    return Task(name="parameter", first=first, end=end, region=region, answer=answer, values={"parameter": text})


def _borrowed(source: Source, function: Definition, last: tuple[int, int], rng: random.Random) -> Task | None:
    """A task that adds a parameter of another function, which the body does not use yet."""
    others = [source.of(parameters[-1]) for other in functions(source) if len(parameters := _parameters(source, other)) > 1]
    own = source.rows(function.top, function.end)
    has_default = "=" in source.text[slice(*last)]
    free = [text for text in others if _is_plain(text) and _first_word(text) not in own and (not has_default or "=" in text)]
    if not free or not _is_plain(source.text[slice(*last)]):
        return None
    text = rng.choice(free)
    first, end = head_rows(source, function, LONGEST, rng)
    line = source.lines[source.row(last[0])]
    alone = line.strip().rstrip(",") == source.text[slice(*last)]
    joint = ",\n" + line[: len(line) - len(line.lstrip())] if alone else ", "
    region = source.rows(first, end)
    answer = source.with_edits([(last[1], last[1], joint + text)], first, end)
    return Task(name="parameter", first=first, end=end, region=region, answer=answer, values={"parameter": text})


def _parameters(source: Source, function: Definition) -> list[tree_sitter.Node]:
    holder = function.node.child_by_field_name("parameters") or next(
        (node for node in inside(function.node) if node.type in _PARAMETERS), None
    )
    if holder is None or holder.start_byte >= function.body_node.start_byte:
        return []
    return [child for child in holder.named_children if "comment" not in child.type]


def _is_plain(parameter: str) -> bool:
    """Whether a parameter takes one value and little room."""
    return "\n" not in parameter and len(parameter) <= 60 and not parameter.startswith(("*", "...", "&", "{", "[")) and parameter != "this"


def _first_word(parameter: str) -> str:
    match = re.search(r"\w+", parameter)
    return match[0] if match else parameter

"""Tasks that simplify: well-written code, made more roundabout at one place or some. Knows no token."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import tree_sitter

from engine.training.syntax import Source, parses
from engine.training.tasks.nodes import Edit
from engine.training.tasks.task import LONGEST, Task, around

# Says what to write in place of a node, or None where that would be wrong or silly.
Rewriter = Callable[[Source, tree_sitter.Node], Edit | None]

_TRIES = 6
_NODES = 30  # of a kind, that are looked at
_MORE = 0.35  # share of the tasks that get a second place if the region has one
_SIMPLE_ALREADY = 0.04


@dataclass(frozen=True, kw_only=True)
class Detour:
    """One way to write something in more words. `weight` is its share beside the others of its language."""

    languages: frozenset[str]
    kinds: tuple[str, ...]
    rewrite: Rewriter
    weight: float = 1.0


def detour(languages: str, kinds: str, weight: float = 1.0) -> Callable[[Rewriter], Detour]:
    """Makes a detour of a rewriter."""
    return lambda rewrite: Detour(languages=frozenset(languages.split()), kinds=tuple(kinds.split()), rewrite=rewrite, weight=weight)


def simplify_with(source: Source, detours: tuple[Detour, ...], rng: random.Random) -> Task | None:
    """A task whose answer is the source as it is."""
    own = [each for each in detours if source.language in each.languages]
    if not own:
        return None
    for _ in range(_TRIES):
        chosen = rng.choices(own, weights=[each.weight for each in own])[0]
        nodes = source.nodes(*chosen.kinds)
        edits = (_edit(source, chosen, node) for node in rng.sample(nodes, min(_NODES, len(nodes))))
        edit = next((edit for edit in edits if edit is not None), None)
        if edit is not None and (task := _task(source, own, edit, rng)) is not None:
            return task
    return None


def _edit(source: Source, chosen: Detour, node: tree_sitter.Node) -> Edit | None:
    return None if node.has_error else chosen.rewrite(source, node)


def _task(source: Source, own: list[Detour], edit: Edit, rng: random.Random) -> Task | None:
    first, end = around(source, source.row(edit[0]), source.row(edit[1]) + 1, rng)
    edits = [edit]
    if rng.random() < _MORE:
        edits += _more(source, own, edit, first, end, rng)
    region, answer = source.with_edits(edits, first, end), source.rows(first, end)
    if region.count("\n") + 1 > LONGEST:
        return None
    if rng.random() < _SIMPLE_ALREADY:
        return Task(name="simplify", first=first, end=end, region=answer, answer=answer)
    broken = not source.root.has_error and not parses(
        source.text[: source.starts[first]] + region + source.text[source.starts[end] - 1 :], source.language, source.path
    )
    return None if broken else Task(name="simplify", first=first, end=end, region=region, answer=answer)


def _more(source: Source, own: list[Detour], edit: Edit, first: int, end: int, rng: random.Random) -> list[Edit]:
    """One more edit in the same rows that lies apart from the first."""
    low, high = source.starts[first], source.starts[end] - 1
    for chosen in rng.sample(own, len(own)):
        for node in source.nodes(*chosen.kinds):
            start, stop = source.span(node)
            if low <= start and stop <= high and (other := _edit(source, chosen, node)) is not None:
                inside = low <= other[0] and other[1] <= high
                if inside and (other[1] < edit[0] or other[0] > edit[1]) and other[:2] != edit[:2]:
                    return [other]
    return []

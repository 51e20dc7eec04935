"""Completes the body of a stub, and turns a comment into code: the place is known, the model fills it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Changes, Replace
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written import checks, filling
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.functions import Function, function_at
from mercury_lsp.refactor.written.passes import Candidate, Tried, best
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node


async def complete_body(run: Run) -> Changes:
    target = run.target
    target.check_parsed()
    function = function_at(target)
    if not function.is_stub():
        raise Refused(f"`{function.name}` has a body already")
    place = _inside_python(function) if function.is_python else _inside_braces(function)
    text = await _filled(run, place, function)
    return Changes((Replace(place.start, place.end, place.lead + text + place.tail),))


async def comment_to_code(run: Run) -> Changes:
    target = run.target
    target.check_parsed()
    end, space = _comment(run)
    place = Place(end, end, f"\n{space}", "")
    text = await _filled(run, place, None)
    return Changes((Replace(end, end, place.lead + text),))


class Place:
    """Characters `start`…`end` give way to `lead`, what the model writes, and `tail`."""

    def __init__(self, start: int, end: int, lead: str, tail: str) -> None:
        self.start, self.end, self.lead, self.tail = start, end, lead, tail


async def _filled(run: Run, place: Place, function: Function | None) -> str:
    target, tried = run.target, Tried()

    def check(new: str) -> None:
        tree = checks.check(target, Replace(place.start, place.end, place.lead + new + place.tail))
        if function is None:
            if all("comment" in node.type for node in _nodes_from(tree, place, new)):
                raise Unfit("the model wrote no code")
            return
        at = tree.root.named_descendant_for_byte_range(function.node.start_byte, function.node.start_byte + 1)
        while at is not None and at.type != function.node.type:
            at = at.parent
        again = None if at is None else at.child_by_field_name("body")
        if at is None or again is None:
            raise Unfit("the result changes the function around it")
        if Function(tree, at, at, function.name, again, function.doc).is_stub():
            raise Unfit("the model left a stub")

    return await best(run, _candidates(run, place), check, tried)


def _nodes_from(tree: Tree, place: Place, new: str) -> list[Node]:
    start = tree.byte(place.start + len(place.lead))
    end = tree.byte(place.start + len(place.lead) + len(new))
    node = tree.root.named_descendant_for_byte_range(start, end)
    return [] if node is None else [child for child in node.named_children if start <= child.start_byte < end] or [node]


def _candidates(run: Run, place: Place) -> AsyncIterator[Candidate]:
    text = run.target.text
    return filling.codes(run, text[: place.start] + place.lead, place.tail + text[place.end :])


def _inside_python(function: Function) -> Place:
    tree, body = function.tree, function.body
    unit = layout.step(tree, function.node.start_byte)
    deep = function.space + unit
    end = tree.char(body.end_byte)
    gone = function.statements()
    if body.start_point.row == function.node.start_point.row or not gone:
        start = tree.char(function.doc[1]) if function.doc else tree.char(body.start_byte)
        return Place(start if function.doc else _trimmed(tree.text, start), end, f"\n{deep}", "")
    return Place(tree.char(gone[0].start_byte), end, "", "")


def _trimmed(text: str, at: int) -> int:
    return len(text[:at].rstrip())


def _inside_braces(function: Function) -> Place:
    tree, body = function.tree, function.body
    deep = function.space + layout.step(tree, function.node.start_byte)
    kept = [tree.text_of(each).rstrip() for each in function.comments() if not _says_todo(tree.text_of(each))]
    lead = "".join(f"\n{deep}{comment}" for comment in kept) + f"\n{deep}"
    return Place(tree.char(body.start_byte) + 1, tree.char(body.end_byte) - 1, lead, f"\n{function.space}")


def _says_todo(comment: str) -> bool:
    return "TODO" in comment or "FIXME" in comment


def _comment(run: Run) -> tuple[int, str]:
    """The end of the comment on lines of its own at the selection, and its indentation. Raises `Refused`."""
    target = run.target
    first, end = target.rows()
    lines = target.text.split("\n")
    row = next((row for row in range(first, end) if lines[row].strip()), None)
    if row is None or not _is_comment(run, row, lines):
        raise Refused("there is no comment on a line of its own")
    while row + 1 < len(lines) and _is_comment(run, row + 1, lines):
        row += 1
    return sum(len(line) + 1 for line in lines[:row]) + len(lines[row]), lines[row][: len(lines[row]) - len(lines[row].lstrip())]


def _is_comment(run: Run, row: int, lines: list[str]) -> bool:
    """Whether a comment is all that a line has."""
    tree, line = run.target.tree, lines[row]
    if not line.strip():
        return False
    start = sum(len(each) + 1 for each in lines[:row]) + len(line) - len(line.lstrip())
    node = tree.root.named_descendant_for_byte_range(tree.byte(start), tree.byte(start) + 1)
    return node is not None and "comment" in node.type and node.end_point.row >= row

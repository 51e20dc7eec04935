"""The commands that have a region rewritten: an instruction, simplify, types, a diagnostic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.instructions import instruction
from mercury_lsp.refactor.changes import Changes
from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.target import Target
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.functions import function_at
from mercury_lsp.refactor.written.known_types import known_types
from mercury_lsp.refactor.written.mending import mended
from mercury_lsp.refactor.written.region import rows, selected
from mercury_lsp.refactor.written.rewriting import rewritten
from mercury_lsp.refactor.written.same import check_same
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_SIMPLIFY = (instruction("simplify"), "make this simpler", "clean this up", "refactor this to be simpler")
_TYPES = (instruction("types"), "add type hints", "add the missing types", "annotate the signature")
_FIX = ("fix", "fix this error: {message}", "{message}")
_TYPED = ("python", "typescript", "tsx")
_AROUND = 3  # rows around a diagnostic, as in training
_LONGEST = 20  # rows: longer regions were never trained on
_MARKS = re.compile(r"^\s*(?:///?!?|#+|--|/\*+|\*(?!/)|;+)\s?|\s*\*/\s*$")
_SIGNATURES = frozenset({"parameters", "formal_parameters", "parameter_list", "lambda_parameters"})


async def instruct(run: Run) -> Changes:
    """As the instruction says: what the client sends, or else the comment above the selection."""
    target = run.target
    target.check_parsed()
    region = selected(target)
    _check_within_one(target)
    wanted = run.arguments.instruction.strip() or comment_above(target)
    if not wanted:
        raise Refused("there is no instruction: send one, or write it as a comment above the selection")
    return await rewritten(run, region, (wanted,))


async def simplify(run: Run) -> Changes:
    """The same in simpler words: what is not seen to do the same is refused."""
    target = run.target
    target.check_parsed()
    region = selected(target)
    _check_within_one(target)
    before = _signatures(target.tree, region.start, region.end)
    returned = _gives_value(target.tree, region.start, region.end)

    def kept(tree: Tree, new: str) -> None:
        end = region.start + len(new)
        if _signatures(tree, region.start, end) != before:
            raise Unfit("the result changes a signature")
        if returned and not _gives_value(tree, region.start, end):
            raise Unfit("the result returns nothing any more")
        check_same(target.tree, tree)

    return await rewritten(run, region, _SIMPLIFY, kept=kept)


async def types(run: Run) -> Changes:
    """Only what a type stands in may change. Where the model has none, those that the tree tells."""
    target = run.target
    target.check_parsed()
    if target.language not in _TYPED:
        raise Refused(f"types are not written apart in {target.language}")
    function = function_at(target)
    first, body = function.outer.start_point.row, function.body.start_point.row
    end = min(function.outer.end_point.row + 1, max(first + _LONGEST, body + 1))
    region = rows(target.text, first, end)
    before = _untyped(target.tree)

    def kept(tree: Tree, new: str) -> None:
        if _untyped(tree) != before:
            raise Unfit("the result changes more than types")

    try:
        return await rewritten(run, region, _TYPES, kept=kept)
    except Refused:
        known = known_types(function)
        if not known:
            raise
        return Changes(tuple(known), generated=False)


async def fix(run: Run) -> Changes:
    """What a diagnostic says. Where the tree tells the answer it is taken from there."""
    target, message = run.target, run.arguments.message.strip()
    if not message:
        raise Refused("there is no diagnostic here: send its `message`")
    known = mended(target, message)
    if known is not None:
        return known
    lines = target.text.split("\n")
    first, end = target.rows()
    first, end = max(0, first - _AROUND), min(len(lines), end + _AROUND)
    while first < end - 1 and not lines[first].strip():
        first += 1
    while end > first + 1 and not lines[end - 1].strip():
        end -= 1
    region = rows(target.text, first, end)
    broken = len(target.tree.faults() or ())

    def kept(tree: Tree, new: str) -> None:
        if broken and len(tree.faults() or ()) >= broken:
            raise Unfit("the result has the same syntax error")

    wordings = (instruction("fix", message=message), *(words.format(message=message.partition("\n")[0]) for words in _FIX[1:]))
    return await rewritten(run, region, wordings, cursor=max(0, target.start - region.start), kept=kept, faults_allowed=broken > 0)


def comment_above(target: Target) -> str:
    """The comment on the lines right above the selection, without its marks."""
    lines = target.text.split("\n")
    row = target.rows()[0] - 1
    said: list[str] = []
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    while row >= 0 and (text := lines[row]).strip():
        start = target.tree.byte(starts[row] + len(text) - len(text.lstrip()))
        node = target.tree.root.named_descendant_for_byte_range(start, start + 1)
        if node is None or "comment" not in node.type:
            break
        said.insert(0, _MARKS.sub("", text).strip())
        row -= 1
    return " ".join(each for each in said if each)


def _check_within_one(target: Target) -> None:
    """Raises `Refused` where a selection begins in one function and ends in another."""
    start, end = target.trimmed()
    kinds = frozenset({"function_definition", "function_declaration", "method_definition", "method_declaration", "function_item"})
    owners = [_owner(target.tree, at, kinds) for at in (start, end - 1)]
    for owner, other in zip(owners, (end - 1, start), strict=True):
        if owner is not None and not owner.start_byte <= other < owner.end_byte and not start <= owner.start_byte <= owner.end_byte <= end:
            raise Refused("the selection goes from one function into another: select inside of one, or whole ones")


def _owner(tree: Tree, at: int, kinds: frozenset[str]) -> Node | None:
    node = tree.root.named_descendant_for_byte_range(at, at + 1)
    while node is not None and node.type not in kinds:
        node = node.parent
    return node


def _gives_value(tree: Tree, start: int, end: int) -> bool:
    """Whether something is returned in a range of characters: by a statement, or as what a short function or a block of Rust is."""
    first, last = tree.byte(start), tree.byte(end)
    found = [node for node in inner(tree.root) if first <= node.start_byte and node.end_byte <= last]
    return any(
        (node.type in ("return_statement", "return_expression") and node.named_child_count)
        or node.type in ("arrow_function", "lambda", "lambda_expression")
        or (tree.language == "rust" and node.is_named and not node.type.endswith(("statement", "declaration", "comment")))
        for node in found
    )


def _signatures(tree: Tree, start: int, end: int) -> list[str]:
    """The parameter lists of named functions that begin in a range of characters."""
    first, last = tree.byte(start), tree.byte(end)
    found = []
    for node in inner(tree.root):
        named = node.type in _SIGNATURES and node.parent is not None and node.parent.child_by_field_name("name") is not None
        if named and first <= node.start_byte < last:
            found.append("".join(tree.text_of(node).split()))
    return found


def _untyped(tree: Tree) -> list[str]:
    """The document's words and signs without those of types."""
    words: list[str] = []
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        if node.type in ("type", "type_annotation"):
            if words and words[-1] in (":", "->"):
                words.pop()
            continue
        if node.child_count == 0 or "string" in node.type:
            words.append(tree.text_of(node))
        else:
            waiting += reversed(node.children)
    return words

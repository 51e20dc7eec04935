"""Writes documentation where there is none: the tree says where, the model writes the words; and updates what is there."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from engine.instructions import instruction
from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Changes, Replace
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written import checks, filling
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.functions import Function, above, function_at, of
from mercury_lsp.refactor.written.passes import Candidate, Tried, best
from mercury_lsp.refactor.written.region import Region, rows
from mercury_lsp.refactor.written.rewriting import rewritten
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = re.compile(r"[^\W\d]{2,}")
_ENDS = re.compile(r"\"\"\"|'''|\*/|</summary>")
_LONGEST_REGION = 20  # rows: longer ones were never trained on
_UPDATE = (instruction("update_docstring"), "bring the documentation up to date", "complete the docstring")


async def docstring(run: Run) -> Changes:
    """Where there is documentation already it is updated."""
    run.target.check_parsed()
    function = function_at(run.target, classes=True)
    return await _written(run, function) if function.doc is None else await _updated(run, function)


async def _written(run: Run, function: Function) -> Changes:
    at, lead, tail = _place(function)
    text, tried = run.target.text, Tried()

    def check(words: str) -> None:
        if len(_WORDS.findall(words)) < 2:
            raise Unfit("the model had no words for it")
        checks.check(run.target, Replace(at, at, lead + words + tail))

    words = await best(run, _candidates(run, text[:at] + lead, tail + text[at:]), check, tried)
    return Changes((Replace(at, at, lead + words + tail),))


async def _candidates(run: Run, before: str, after: str) -> AsyncIterator[Candidate]:
    async for draft in filling.words(run, before, after):
        yield Candidate(_sentence(draft.text), draft)


def _sentence(text: str) -> str:
    """Prose as one sentence or more, without what would end the comment."""
    words = _ENDS.split(text.partition("\n")[0])[0].replace("\\", "").strip().rstrip("\"'*").strip()
    if not words:
        return ""
    return words if words.endswith((".", "!", "?")) else words.rstrip(":;,") + "."


def _place(function: Function) -> tuple[int, str, str]:
    """Where documentation goes, and what stands around its words."""
    tree, space = function.tree, function.space
    if function.is_python:
        if function.body.start_point.row == function.node.start_point.row:
            raise Refused(f"the body of `{function.name}` stands in its first line")
        deep = layout.leading(tree, function.body.start_byte)
        at = tree.text.index("\n", tree.char(_colon(function))) + 1
        return at, f'{deep}"""', '"""\n'
    at = tree.char(above(function))
    if tree.language == "go":
        return at, f"// {function.name} ", f"\n{space}"
    if tree.language == "rust":
        return at, "/// ", f"\n{space}"
    if tree.language == "csharp":
        return at, "/// <summary>", f"</summary>\n{space}"
    if tree.language in ("javascript", "typescript", "tsx", "java", "c", "cpp", "php"):
        return at, f"/**\n{space} * ", f"\n{space} */\n{space}"
    raise Refused(f"how {tree.language} is documented is not known")


def _colon(function: Function) -> int:
    """Where the head of a definition in Python ends."""
    colons = [child.end_byte for child in function.node.children if child.type == ":"]
    return colons[-1] if colons else function.body.start_byte


async def _updated(run: Run, function: Function) -> Changes:
    assert function.doc is not None
    tree = function.tree
    top = min(function.outer.start_byte, function.doc[0])
    first = tree.text.count("\n", 0, tree.char(top))
    end = min(function.outer.end_point.row + 1, first + _LONGEST_REGION)
    end = max(end, tree.text.count("\n", 0, tree.char(function.doc[1])) + 1)
    region = rows(tree.text, first, end)
    before = _code(tree, region, function.doc)

    def kept(after: Tree, new: str) -> None:
        if before not in _possible_code(after, region, new, function):
            raise Unfit("the result changes more than the documentation")

    return await rewritten(run, region, _UPDATE, kept=kept)


def _code(tree: Tree, region: Region, doc: tuple[int, int]) -> str:
    """The region without its documentation and without white space."""
    start, end = tree.char(doc[0]), tree.char(doc[1])
    return _bare(region.text[region.start : start] + region.text[end : region.end])


def _possible_code(tree: Tree, region: Region, new: str, function: Function) -> list[str]:
    """The same of the new text, of which the first documented definition is meant."""
    found = []
    for at in range(region.start, region.start + len(new)):
        if at == region.start or tree.text[at - 1] == "\n":
            byte = tree.byte(at + len(tree.text[at:]) - len(tree.text[at:].lstrip()))
            node = tree.root.named_descendant_for_byte_range(byte, byte + 1)
            while node is not None and node.parent is not None and node.type != function.node.type:
                node = node.parent
            doc = _doc_of(tree, node, function) if node is not None and node.type == function.node.type else None
            if doc is not None:
                start, end = tree.char(doc[0]), tree.char(doc[1])
                found.append(_bare(tree.text[region.start : start] + tree.text[end : region.start + len(new)]))
    return found


def _doc_of(tree: Tree, node: Node, function: Function) -> tuple[int, int] | None:
    again = of(tree, node)
    return again.doc if again is not None and again.name == function.name else None


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)

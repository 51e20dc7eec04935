"""Moves lines of code to another depth. What stands in a string stays as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mercury_lsp import indent
from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node


_NARROW = frozenset({"javascript", "typescript", "tsx"})


def step(tree: Tree, at: int) -> str:
    """One step of indentation in the document around the byte `at`."""
    char = tree.char(at)
    line = tree.text[tree.text.rfind("\n", 0, char) + 1 :].partition("\n")[0]
    usual = indent.Style(tabs=tree.language == "go", width=2 if tree.language in _NARROW else 4)
    style = indent.style_of(tree.text, char, line) or usual
    return style.render(style.width)


def leading(tree: Tree, at: int) -> str:
    """The indentation of the line that the byte `at` is in."""
    char = tree.char(at)
    return indent.leading(tree.text[tree.text.rfind("\n", 0, char) + 1 :].partition("\n")[0])


def moved(tree: Tree, start: int, end: int, nodes: Iterable[Node], space: str) -> str:
    """The code between two bytes with its first line at the depth `space` and the later ones along with it."""
    before = leading(tree, start)
    kept = _rows_in_strings(nodes)
    first = tree.cut(0, start).count("\n")
    lines = tree.cut(start, end).split("\n")
    return "\n".join(
        [space + lines[0], *(line if first + row in kept else _shift(line, before, space) for row, line in enumerate(lines[1:], 1))]
    )


def _shift(line: str, before: str, space: str) -> str:
    if not line.strip():
        return ""
    return space + line.removeprefix(before) if line.startswith(before) else line


def _rows_in_strings(nodes: Iterable[Node]) -> set[int]:
    """The rows that begin inside of a string."""
    rows: set[int] = set()
    for top in nodes:
        for node in inner(top):
            if "string" in node.type and node.start_point.row < node.end_point.row:
                rows.update(range(node.start_point.row + 1, node.end_point.row + 1))
    return rows

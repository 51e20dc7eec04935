"""Where a function's documentation names a parameter in a way that is a name and nothing else. Knows no edit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mercury_lsp.nextedit.functions import Listed
from mercury_lsp.syntax import Tree

_LONGEST = 3_000  # characters of documentation
_COMMENT = re.compile(r"[ \t]*(?:#|//|--|\*|/\*|\"\"\")")


def documented(tree: Tree, function: Listed, name: str) -> Iterator[tuple[int, int]]:
    """Its places: behind `@param`, `:param`, and in Python as an entry of its own."""
    tagged = rf"[@:\\]param(?:eter)?[ \t]+(?:\{{[^}}\n]*\}}[ \t]+|[\w\[\]|.?<>*&]+[ \t]+)?\$?({re.escape(name)})(?!\w)"
    start, end = _above(tree, function)
    yield from _found(tree, tagged, start, end)
    if tree.language == "python":
        start, end = _docstring(tree, function)
        yield from _found(tree, tagged, start, end)
        yield from _found(tree, rf"^[ \t]+({re.escape(name)})(?:[ \t]*\([^)\n]*\))?[ \t]*:(?=[ \t\n])", start, end)


def _found(tree: Tree, shape: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    yield from (match.span(1) for match in re.compile(shape, re.MULTILINE).finditer(tree.text, start, end))


def _above(tree: Tree, function: Listed) -> tuple[int, int]:
    """The lines of comments right above the function."""
    end = tree.text.rfind("\n", 0, function.start) + 1
    start = end
    while start and end - start < _LONGEST:
        line = tree.text.rfind("\n", 0, start - 1) + 1
        if not _COMMENT.match(tree.text, line):
            break
        start = line
    return start, end


def _docstring(tree: Tree, function: Listed) -> tuple[int, int]:
    """The string that the body begins with; an empty place where there is none."""
    body = function.node.child_by_field_name("body")
    first = body.named_children[0] if body is not None and body.named_children else None
    string = first.named_children[0] if first is not None and first.type == "expression_statement" and first.named_children else first
    return tree.span(string) if string is not None and string.type == "string" else (0, 0)

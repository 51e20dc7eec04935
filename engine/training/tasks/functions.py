"""Where the functions and classes of a file lie, by rows: documentation, signature, body. Knows no task."""

from __future__ import annotations

import re
from dataclasses import dataclass

import tree_sitter

from engine.training.syntax import Source

_FUNCTIONS = {
    "python": ("function_definition",),
    "javascript": ("function_declaration", "generator_function_declaration", "method_definition", "arrow_function"),
    "typescript": ("function_declaration", "generator_function_declaration", "method_definition", "arrow_function"),
    "go": ("function_declaration", "method_declaration"),
    "rust": ("function_item",),
    "java": ("method_declaration", "constructor_declaration"),
    "c": ("function_definition",),
    "c++": ("function_definition",),
    "c#": ("method_declaration", "constructor_declaration"),
    "php": ("function_definition", "method_declaration"),
    "ruby": ("method", "singleton_method"),
    "lua": ("function_declaration",),
    "shell": ("function_definition",),
}
_CLASSES = {
    "python": ("class_definition",),
    "javascript": ("class_declaration",),
    "typescript": ("class_declaration", "interface_declaration"),
    "rust": ("struct_item", "enum_item", "trait_item"),
    "java": ("class_declaration", "interface_declaration"),
    "php": ("class_declaration",),
}
# What a definition may be wrapped in that belongs to it.
_WRAPPERS = {"decorated_definition", "export_statement", "lexical_declaration", "variable_declarator", "template_declaration"}
# How a line of documentation begins where it is written in such lines; elsewhere it is a block that ends in `*/`.
_DOC_LINES = {"go": "//", "rust": "///", "c#": "///", "lua": "--", "ruby": "#", "shell": "#"}
_DOC_BLOCK = {"c": "/*", "c++": "/*"}
_ATTRIBUTE = re.compile(r"\s*(#\[.*\]|@[\w.]+(\(.*\))?|\[\w+.*\])\s*$")


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A function or class that has its rows for itself. All ends are one past the last row."""

    name: str
    first: int  # decorators and attributes included, documentation above excluded
    signature: int  # the row of its name
    body: int  # the first row of the body; that of the opening brace where there is one
    end: int
    doc: tuple[int, int] | None  # rows of the documentation, above `first`, or in the body (Python)
    indent: str
    node: tree_sitter.Node
    body_node: tree_sitter.Node

    @property
    def top(self) -> int:
        """The first row, documentation included."""
        return min(self.first, self.doc[0]) if self.doc else self.first


def functions(source: Source) -> list[Definition]:
    """The functions and methods of a file."""
    return _definitions(source, _FUNCTIONS.get(source.language, ()))


def classes(source: Source) -> list[Definition]:
    """The classes of a file, and what is like one."""
    return _definitions(source, _CLASSES.get(source.language, ()))


def _definitions(source: Source, kinds: tuple[str, ...]) -> list[Definition]:
    found = (_definition(source, node) for node in source.nodes(*kinds))
    return [definition for definition in found if definition is not None]


def _definition(source: Source, node: tree_sitter.Node) -> Definition | None:
    outer, body = _outer(node), node.child_by_field_name("body")
    name = _name(source, node)
    if body is None or not name or node.has_error or (node.type == "arrow_function" and body.type != "statement_block"):
        return None
    first, end = outer.start_point.row, outer.end_point.row + 1
    line, last = source.lines[first], source.lines[end - 1]
    indent = line[: len(line) - len(line.lstrip())]
    (start, stop) = source.span(outer)
    if source.text[source.starts[first] : start].strip() or last[stop - source.starts[end - 1] :].strip() not in ("", ";", ","):
        return None
    if body.start_point.row == body.end_point.row:
        return None  # all in one line: neither a stub nor a body
    while source.language == "rust" and first > 0 and _ATTRIBUTE.match(source.lines[first - 1]):
        first -= 1
    return Definition(
        name=name,
        first=first,
        signature=node.start_point.row,
        body=body.start_point.row,
        end=end,
        doc=_doc_inside(body) if source.language == "python" else _doc_above(source, first),
        indent=indent,
        node=node,
        body_node=body,
    )


def _outer(node: tree_sitter.Node) -> tree_sitter.Node:
    if node.type == "arrow_function" and (node.parent is None or node.parent.type != "variable_declarator"):
        return node
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _name(source: Source, node: tree_sitter.Node) -> str:
    holder = node.parent if node.type == "arrow_function" else node
    named = holder.child_by_field_name("name") if holder is not None else None
    if named is None and holder is not None:  # C keeps the name in nested declarators
        named = holder.child_by_field_name("declarator")
        while named is not None and (deeper := named.child_by_field_name("declarator")) is not None:
            named = deeper
    return source.of(named) if named is not None else ""


def _doc_inside(body: tree_sitter.Node) -> tuple[int, int] | None:
    """The rows of a Python docstring that has them for itself, with something behind it."""
    statement = body.named_children[0] if body.named_children else None
    if statement is None or statement.type != "expression_statement" or statement.named_child_count != 1:
        return None
    if statement.named_children[0].type != "string" or len(body.named_children) < 2:
        return None
    return statement.start_point.row, statement.end_point.row + 1


def _doc_above(source: Source, first: int) -> tuple[int, int] | None:
    top, lines = first, source.lines
    mark = _DOC_LINES.get(source.language)
    if mark is None:
        if first == 0 or not lines[first - 1].rstrip().endswith("*/"):
            return None
        top -= 1
        while top > 0 and "/*" not in lines[top]:
            top -= 1
        return (top, first) if lines[top].lstrip().startswith(_DOC_BLOCK.get(source.language, "/**")) else None
    while top > 0 and lines[top - 1].lstrip().startswith(mark):
        top -= 1
    return (top, first) if top < first else None

"""The function or class at a place: its signature, documentation, body, and whether that is a stub. Knows no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import around
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.target import Target
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset(
    "function_definition function_declaration generator_function_declaration method_definition method_declaration constructor_declaration"
    " function_item arrow_function function_expression".split()
)
_CLASSES = frozenset(
    "class_definition class_declaration abstract_class_declaration interface_declaration enum_declaration record_declaration struct_item"
    " enum_item trait_item class_specifier struct_specifier struct_declaration".split()
)
_WRAPPERS = frozenset("decorated_definition export_statement lexical_declaration variable_declarator template_declaration".split())
_STUB = re.compile(
    r"(?:pass|\.\.\.|raise NotImplementedError(?:\(.*\))?|todo!\(.*\)|unimplemented!\(.*\)|panic\(.*\)"
    r"|throw new \w*(?:Error|Exception)\(.*\))?;?",
    re.DOTALL,
)
_TODO = re.compile(r"TODO|FIXME|XXX|not implemented|implement", re.IGNORECASE)
_LINE_DOCS = {"go": "//", "rust": "///", "csharp": "///", "lua": "--", "ruby": "#", "bash": "#"}


@dataclass(frozen=True)
class Function:
    """Bytes. `outer` is the definition with its decorators, or the statement that it is a part of; `doc` its documentation."""

    tree: Tree
    node: Node
    outer: Node
    name: str
    body: Node
    doc: tuple[int, int] | None

    @property
    def is_python(self) -> bool:
        return self.tree.language == "python"

    @property
    def space(self) -> str:
        """The indentation of its first line."""
        start = self.tree.char(self.outer.start_byte)
        line = self.tree.text[self.tree.text.rfind("\n", 0, start) + 1 : start]
        return line if not line.strip() else line[: len(line) - len(line.lstrip())]

    def statements(self) -> list[Node]:
        """Of its body, without documentation and comments."""
        found = [
            each for child in self.body.named_children for each in (child.named_children if child.type == "statement_list" else [child])
        ]
        inside = [each for each in found if "comment" not in each.type]
        return inside[1:] if self.is_python and self.doc and inside else inside

    def comments(self) -> list[Node]:
        return [child for child in self.body.named_children if "comment" in child.type]

    def is_stub(self) -> bool:
        code = "\n".join(self.tree.text_of(each) for each in self.statements())
        if not code.strip() and self.is_python:
            return self.doc is not None
        said = all(_TODO.search(self.tree.text_of(each)) for each in self.comments())
        looks = _STUB.fullmatch(code.strip()) is not None and len(self.statements()) <= 1
        return looks and (said or not self.comments() or not code.strip())


def function_at(target: Target, *, classes: bool = False) -> Function:
    """The innermost one around the start of the selection, or the one that begins in its line. Raises `Refused`."""
    kinds = _FUNCTIONS | _CLASSES if classes else _FUNCTIONS
    for at in (target.start, _line_code(target)):
        byte = target.tree.byte(at)
        node = target.tree.root.named_descendant_for_byte_range(byte, byte)
        for each in () if node is None else (node, *around(node)):
            for inside in (each, *_wrapped(each, kinds)):
                found = _function(target.tree, inside, kinds)
                if found is not None:
                    return found
    raise Refused("there is no function here" if not classes else "there is no function or class here")


def is_at_function(target: Target) -> bool:
    try:
        function_at(target)
    except Refused:
        return False
    return True


def of(tree: Tree, node: Node) -> Function | None:
    """What `node` defines, if it is a function or class."""
    return _function(tree, node, _FUNCTIONS | _CLASSES)


def _line_code(target: Target) -> int:
    start = target.text.rfind("\n", 0, target.start) + 1
    line = target.text[start:].partition("\n")[0]
    return start + len(line) - len(line.lstrip())


def _wrapped(node: Node, kinds: frozenset[str]) -> list[Node]:
    """What a decorated, exported or assigned definition is about."""
    found: list[Node] = []
    while node.type in _WRAPPERS:
        inner = [child for child in node.named_children if child.type in _WRAPPERS or child.type in kinds]
        if not inner:
            break
        node = inner[0]
        found.append(node)
    return found


def _function(tree: Tree, node: Node, kinds: frozenset[str]) -> Function | None:
    body = node.child_by_field_name("body")
    if node.type not in kinds or body is None or "expression" in body.type:
        return None
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        outer = outer.parent
    name = _name(node)
    if name is None or (node.type == "arrow_function" and body.type != "statement_block"):
        return None
    doc = _doc_inside(body) if tree.language == "python" else _doc_above(tree, outer)
    return Function(tree, node, outer, tree.text_of(name), body, doc)


def _name(node: Node) -> Node | None:
    holder = node.parent if node.type in ("arrow_function", "function_expression") else node
    named = holder.child_by_field_name("name") if holder is not None else None
    if named is None and holder is not None:  # C keeps it in nested declarators
        named = holder.child_by_field_name("declarator")
        while named is not None and (deeper := named.child_by_field_name("declarator")) is not None:
            named = deeper
    return named


def _doc_inside(body: Node) -> tuple[int, int] | None:
    first = next((child for child in body.named_children if "comment" not in child.type), None)
    if first is None or first.type != "expression_statement" or first.named_children[0].type not in ("string", "concatenated_string"):
        return None
    return first.start_byte, first.end_byte


def _doc_above(tree: Tree, outer: Node) -> tuple[int, int] | None:
    node, start, end = outer, None, 0
    mark = _LINE_DOCS.get(tree.language)
    while (before := node.prev_sibling) is not None and (before.type == "attribute_item" or "comment" in before.type):
        text = tree.text_of(before)
        if before.type != "attribute_item" and not text.startswith(mark or "/**"):
            break
        last_row = before.end_point.row - (before.end_point.column == 0)
        if node.start_point.row - last_row > 1:
            break
        if before.type != "attribute_item":
            start, end = before.start_byte, end or before.start_byte + len(text.rstrip().encode())
            if mark is None:
                break
        node = before
    return None if start is None else (start, end)


def above(function: Function) -> int:
    """The byte at which documentation above a definition goes: before what belongs to it."""
    node = function.outer
    while (before := node.prev_sibling) is not None and before.type == "attribute_item":
        node = before
    return node.start_byte

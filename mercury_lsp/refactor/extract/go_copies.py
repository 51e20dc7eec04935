"""Go's values: what is done to a part of a variable is done to the variable, and to a copy of it in another function it would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.extract.go_types import type_of
from mercury_lsp.refactor.grammars.grammar import field_of, inner
from mercury_lsp.refactor.names import Binding, Names, Use

if TYPE_CHECKING:
    from tree_sitter import Node

_ACCESSES = frozenset({"selector_expression", "index_expression", "parenthesized_expression", "slice_expression"})
_CHANGES = frozenset({"inc_statement", "dec_statement"})
# Handed on they are still the same thing, or there is nothing in them to change.
_SHARED = ("*", "[]", "map[", "chan", "<-chan", "func", "interface")
_INTERFACES = frozenset(
    "error any context.Context http.ResponseWriter http.Handler io.Reader io.Writer io.ReadCloser io.WriteCloser io.Closer testing.TB"
    " fmt.Stringer time.Time time.Duration string bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 byte rune float32 float64"
    " sort.Interface".split()
)


def is_shared(names: Names, binding: Binding) -> bool:
    """Whether a variable that is handed on stands for the same thing."""
    type_ = type_of(names, binding)
    if type_ is None:
        return False
    return type_.startswith(_SHARED) or type_ in _INTERFACES or _is_interface(names, type_)


def changes_part(names: Names, use: Use) -> bool:
    """Whether something of the variable is set, or may be: through its address, or by a method that can have it."""
    node, part = use.node, False
    while node.parent is not None and node.parent.type in _ACCESSES and node.parent.named_children[0].id == node.id:
        node, part = node.parent, True
    above = node.parent
    if above is None:
        return False
    if above.type == "unary_expression":
        return any(child.type == "&" for child in above.children)
    if above.type == "call_expression" and field_of(node) == "function":
        return node.type == "selector_expression" and not _takes_value(names, node)
    if not part:
        return False
    assigned = above.type == "expression_list" and above.parent is not None and field_of(above) == "left"
    return above.type in _CHANGES or (assigned and above.parent is not None and above.parent.type == "assignment_statement")


def _takes_value(names: Names, selector: Node) -> bool:
    """Whether all methods of the document with this name take a copy anyway, and there is one."""
    field = selector.child_by_field_name("field")
    wanted = names.tree.text_of(field) if field is not None else ""
    found = [
        names.tree.text_of(node.child_by_field_name("receiver") or node)
        for node in names.tree.root.named_children
        if node.type == "method_declaration" and names.tree.text_of(node.child_by_field_name("name") or node) == wanted
    ]
    return bool(found) and not any("*" in receiver for receiver in found)


def _is_interface(names: Names, type_: str) -> bool:
    specs = (node for node in inner(names.tree.root) if node.type == "type_spec")
    named = (node for node in specs if names.tree.text_of(node.child_by_field_name("name") or node) == type_)
    return any((inside := node.child_by_field_name("type")) is not None and inside.type == "interface_type" for node in named)

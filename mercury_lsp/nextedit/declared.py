"""Whether a name gets its meaning where it stands: as a parameter, a definition, a member, or by its first value. Knows no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.nextedit.kinds import (
    ASSIGNMENTS,
    BY_NAME,
    CLASS_BODIES,
    CLASSES,
    DECLARING,
    DECLARING_FIELDS,
    FUNCTION_SCOPED,
    FUNCTIONS,
    IN_FIELDS,
    NO_CLASSES,
    WRAPPED,
    is_field,
    is_value,
)

if TYPE_CHECKING:
    from tree_sitter import Node


def is_declared(node: Node, language: str) -> bool:
    """Whether the name gets its meaning there: as a parameter, a definition, or by its first value."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type in WRAPPED and not is_value(parent, child):
            child, parent = parent, parent.parent
        else:
            return _declares(parent, child, language)
    return False


def _declares(parent: Node, child: Node, language: str) -> bool:
    kind = parent.type
    if kind.endswith(("parameters", "parameter_list")) or kind == "match_pattern":
        return True
    if kind in ASSIGNMENTS:
        return language in FUNCTION_SCOPED and is_field(parent, "left" if kind != "variable_assignment" else "name", child)
    if kind == "assignment_statement":  # of Lua: only behind `local`
        return parent.parent is not None and parent.parent.type == "variable_declaration" and parent.named_child(0) == child
    if kind.endswith("_specifier"):
        return is_field(parent, "name", child) and parent.child_by_field_name("body") is not None
    if kind in FUNCTIONS and any(is_field(parent, field, child) for field in ("parameters", "parameter")):
        return True
    if kind in BY_NAME or kind in FUNCTIONS or kind in CLASSES:
        return any(is_field(parent, field, child) for field in ("name", "declarator", "property"))
    if not any(word in kind for word in DECLARING) or is_value(parent, child):
        return False
    if any(is_field(parent, field, child) for field in DECLARING_FIELDS):
        return True
    return parent.named_child(0) == child and ("parameter" in kind or language == "lua")


def is_declared_in_class(node: Node) -> bool:
    """Whether it is the name of a method or a field."""
    child, parent = node, node.parent
    while parent is not None and parent.type in IN_FIELDS:
        if parent.child_by_field_name("name") not in (None, child) or is_value(parent, child) or is_field(parent, "right", child):
            return False
        child, parent = parent, parent.parent
    if parent is None:
        return False
    if parent.type in ("field_declaration", "enumerator_list"):
        return not is_field(parent, "type", child)
    if parent.type == "method_declaration" and node.type == "field_identifier":  # of Go, outside of any class
        return is_field(parent, "name", child)
    if _is_class_body(parent):
        return child.type != "function_definition" and child != node
    named = any(is_field(parent, field, child) for field in ("name", "declarator", "property"))
    body = parent.parent if parent.parent is None or parent.parent.type != "decorated_definition" else parent.parent.parent
    return named and body is not None and _is_class_body(body)


def _is_class_body(body: Node) -> bool:
    """Not the list of what a namespace or a Rust module declares."""
    around = body.parent
    if body.type == "block":  # of Python
        return around is not None and around.type == "class_definition"
    return body.type in CLASS_BODIES and (around is None or around.type not in NO_CLASSES)

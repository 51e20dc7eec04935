"""The types of Rust's variables and expressions, as far as the document says them, and which of them are copied."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mercury_lsp.refactor.names import Binding, Names

if TYPE_CHECKING:
    from tree_sitter import Node

_COPIED = frozenset("bool char i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64".split())
_SUFFIX = re.compile(r"(?:i|u)(?:8|16|32|64|128|size)$|f(?:32|64)$")
_BOOLEAN = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_METHODS = {
    "len": "usize",
    "is_empty": "bool",
    "to_string": "String",
    "to_owned": "",
    "contains": "bool",
    "is_some": "bool",
    "is_none": "bool",
}
_DEEPEST = 8


def is_copied(type_: str) -> bool:
    return type_ in _COPIED or (type_.startswith("&") and not type_.startswith("&mut ") and "mut " not in type_[:12])


def type_of(names: Names, binding: Binding, depth: int = 0) -> str | None:
    declared = binding.declared
    if depth > _DEEPEST:
        return None
    if declared.type is not None:
        text = names.tree.text_of(declared.type)
        return None if "_" in re.findall(r"\b_\b", text) or "impl " in text else text
    return expression_type(names, declared.value, depth + 1) if declared.value is not None else None


def expression_type(names: Names, node: Node, depth: int = 0) -> str | None:
    """None also for a plain number: what it is depends on what is done with it."""
    kind, text = node.type, names.tree.text_of
    if depth > _DEEPEST:
        return None
    if kind == "boolean_literal":
        return "bool"
    if kind == "string_literal":
        return "&str"
    if kind == "char_literal":
        return "char"
    if kind in ("integer_literal", "float_literal"):
        suffix = _SUFFIX.search(text(node))
        return suffix[0] if suffix else None
    if kind == "parenthesized_expression":
        return expression_type(names, node.named_children[0], depth + 1)
    if kind == "identifier":
        binding = next((use.binding for use in names.within(node.start_byte, node.end_byte)), None)
        return type_of(names, binding, depth + 1) if binding is not None and not binding.is_type else None
    if kind == "type_cast_expression":
        type_ = node.child_by_field_name("type")
        return text(type_) if type_ is not None else None
    if kind == "reference_expression":
        value = node.child_by_field_name("value")
        inside = expression_type(names, value, depth + 1) if value is not None else None
        mutable = "mut " if any(child.type == "mutable_specifier" for child in node.children) else ""
        return f"&{mutable}{inside}" if inside is not None else None
    if kind == "binary_expression":
        return _binary(names, node, depth)
    if kind == "struct_expression":
        name = node.child_by_field_name("name")
        return text(name) if name is not None and name.type == "type_identifier" else None
    if kind == "macro_invocation":
        return "String" if text(node).startswith("format!") else None
    if kind == "call_expression":
        return _called(names, node)
    return None


def _binary(names: Names, node: Node, depth: int) -> str | None:
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if operator is None or left is None or right is None:
        return None
    if operator.type in _BOOLEAN:
        return "bool"
    found = expression_type(names, left, depth + 1) or expression_type(names, right, depth + 1)
    return found if found in _COPIED else None


def _called(names: Names, node: Node) -> str | None:
    function, text = node.child_by_field_name("function"), names.tree.text_of
    if function is None:
        return None
    if text(function) in ("String::from", "String::new"):
        return "String"
    if function.type == "field_expression":
        field = function.child_by_field_name("field")
        return _METHODS.get(text(field)) or None if field is not None else None
    if function.type != "identifier":
        return None
    binding = next((use.binding for use in names.within(function.start_byte, function.end_byte)), None)
    owner = binding.at.parent if binding is not None else None
    if owner is None or owner.type != "function_item" or owner.child_by_field_name("type_parameters") is not None:
        return None
    result = owner.child_by_field_name("return_type")
    said = text(result) if result is not None else "()"
    return None if "&" in said or "'" in said or "impl " in said else said

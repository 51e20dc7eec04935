"""The types of Java's variables and expressions, as far as the document says them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.names import Binding, Names

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = {
    "decimal_integer_literal": "int",
    "hex_integer_literal": "int",
    "decimal_floating_point_literal": "double",
    "string_literal": "String",
    "character_literal": "char",
    "true": "boolean",
    "false": "boolean",
}
_BOOLEAN = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})
_NUMBERS = ("int", "long", "float", "double")  # the wider one wins
_METHODS = {"length": "int", "size": "int", "isEmpty": "boolean", "equals": "boolean", "toString": "String", "hashCode": "int"}
_DEEPEST = 8


def type_of(names: Names, binding: Binding, depth: int = 0) -> str | None:
    declared = binding.declared
    if depth > _DEEPEST:
        return None
    if declared.type is not None and names.tree.text_of(declared.type) != "var":
        return names.tree.text_of(declared.type)
    above = binding.at.parent
    if above is not None and above.parent is not None and above.parent.type == "spread_parameter":
        types = [child for child in above.parent.named_children if child.type not in ("modifiers", "variable_declarator")]
        return f"{names.tree.text_of(types[0])}[]" if types else None
    if above is not None and above.type == "catch_formal_parameter":
        types = [child for child in above.named_children if child.type == "catch_type"]
        return names.tree.text_of(types[0]) if types and types[0].named_child_count == 1 else None
    return expression_type(names, declared.value, depth + 1) if declared.value is not None else None


def expression_type(names: Names, node: Node, depth: int = 0) -> str | None:
    kind, text = node.type, names.tree.text_of
    if depth > _DEEPEST:
        return None
    if kind in _LITERALS:
        return (
            "long"
            if text(node)[-1] in "lL" and "integer" in kind
            else "float"
            if text(node)[-1] in "fF" and "float" in kind
            else _LITERALS[kind]
        )
    if kind == "parenthesized_expression":
        return expression_type(names, node.named_children[0], depth + 1)
    if kind in ("object_creation_expression", "cast_expression"):
        type_ = node.child_by_field_name("type")
        return text(type_) if type_ is not None and "<>" not in text(type_) and node.named_children[-1].type != "class_body" else None
    if kind == "identifier":
        binding = next((use.binding for use in names.within(node.start_byte, node.end_byte)), None)
        return type_of(names, binding, depth + 1) if binding is not None else None
    if kind == "instanceof_expression":
        return "boolean"
    if kind == "unary_expression":
        operand = node.child_by_field_name("operand")
        found = expression_type(names, operand, depth + 1) if operand is not None else None
        return found if found in ("boolean", *_NUMBERS) else None
    if kind == "binary_expression":
        return _binary(names, node, depth)
    if kind == "method_invocation":
        return _returned(names, node)
    return None


def _binary(names: Names, node: Node, depth: int) -> str | None:
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if operator is None or left is None or right is None:
        return None
    if operator.type in _BOOLEAN:
        return "boolean"
    types = [expression_type(names, side, depth + 1) for side in (left, right)]
    if operator.type == "+" and "String" in types:
        return "String"
    return max(types, key=lambda each: _NUMBERS.index(each or "")) if all(each in _NUMBERS for each in types) else None


def _returned(names: Names, node: Node) -> str | None:
    name, text = node.child_by_field_name("name"), names.tree.text_of
    if name is None:
        return None
    if node.child_by_field_name("object") is not None:
        arguments = node.child_by_field_name("arguments")
        plain = text(name) == "equals" or (arguments is not None and not arguments.named_children)
        return _METHODS.get(text(name)) if plain else None
    methods = [each for each in inner(names.tree.root) if each.type == "method_declaration"]
    types = {
        text(type_)
        for each in methods
        if text(each.child_by_field_name("name") or each) == text(name) and (type_ := each.child_by_field_name("type")) is not None
    }
    generic = any(
        each.child_by_field_name("type_parameters") for each in methods if text(each.child_by_field_name("name") or each) == text(name)
    )
    return types.pop() if len(types) == 1 and not generic and types != {"void"} else None

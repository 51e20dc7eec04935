"""A private method of its own in Java, after the one that it came out of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import shape
from mercury_lsp.refactor.extract.java_types import expression_type, type_of
from mercury_lsp.refactor.extract.plan import Plan
from mercury_lsp.refactor.grammars.grammar import around, inner
from mercury_lsp.refactor.names import Binding
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_BODIES = frozenset({"class_body", "enum_body_declarations", "interface_body"})


def function(plan: Plan, name: str) -> list[Replace]:
    shape.only(plan, 1)
    member = shape.member(plan, _BODIES)
    if member is None:
        raise Refused("the selection is not inside of a class")
    space = layout.leading(plan.names.tree, member.start_byte)
    modifiers = ["private", *(["static"] if _is_static(plan, member) else [])]
    generics = _generics(plan, member)
    listed = shape.joined(f"{_type(plan, binding)} {binding.name}" for binding in plan.parameters)
    head = " ".join([*modifiers, *([generics] if generics else []), _result(plan, member), f"{name}({listed}){_throws(plan, member)} {{"])
    text = f"\n\n{space}{head}\n{_body(plan, space)}\n{space}}}"
    call = f"{name}({shape.joined(binding.name for binding in plan.parameters)})"
    return [shape.inserted(plan, shape.line_end(plan, member), text), shape.replaced(plan, _call(plan, member, call))]


def _body(plan: Plan, space: str) -> str:
    deep = space + layout.step(plan.names.tree, plan.start)
    if plan.value:
        return f"{deep}return {shape.expression(plan, deep)};"
    declared = [f"{deep}{_type(plan, binding)} {binding.name};" for binding in plan.declared]
    returned = [f"{deep}return {plan.results[0].name};"] if plan.results else []
    return "\n".join([*declared, shape.body(plan, deep), *returned])


def _call(plan: Plan, member: Node, call: str) -> str:
    if plan.value:
        return call
    if plan.leaves:
        return f"{call};\nreturn;" if _result(plan, member) == "void" else f"return {call};"
    if not plan.results:
        return f"{call};"
    (binding,) = plan.results
    return f"{_type(plan, binding)} {binding.name} = {call};" if binding in plan.fresh else f"{binding.name} = {call};"


def _result(plan: Plan, member: Node) -> str:
    if plan.value:
        expression = plan.selection.expression
        type_ = expression_type(plan.names, expression) if expression is not None else None
        if type_ is None:
            raise Refused("the type of the selected expression is not written in this file")
        return type_
    if plan.leaves:
        nearest = next((node for node in around(plan.nodes[0]) if node.type in plan.names.grammar.functions), member)
        if nearest.type not in ("method_declaration", "constructor_declaration"):
            raise Refused("what a lambda returns is not written in it")
        type_node = nearest.child_by_field_name("type")
        return plan.names.tree.text_of(type_node) if type_node is not None else "void"
    return _type(plan, plan.results[0]) if plan.results else "void"


def _is_static(plan: Plan, member: Node) -> bool:
    modifiers = [child for child in member.children if child.type == "modifiers"]
    return member.type == "static_initializer" or any(child.type == "static" for each in modifiers for child in each.children)


def _throws(plan: Plan, member: Node) -> str:
    """What the method throws, and what a statement around the selection catches: it may all come from the selection."""
    tree = plan.names.tree
    listed = [tree.text_of(type_) for child in member.named_children if child.type == "throws" for type_ in child.named_children]
    for node in around(plan.nodes[0]):
        body = node.child_by_field_name("body")
        if "try" in node.type and body is not None and body.start_byte <= plan.start < body.end_byte:
            types = [
                each for child in node.named_children if child.type == "catch_clause" for each in inner(child) if each.type == "catch_type"
            ]
            listed += [tree.text_of(type_) for each in types for type_ in each.named_children]
        if node.id == member.id:
            break
    if not any(
        each.type in ("method_invocation", "object_creation_expression", "throw_statement") for top in plan.nodes for each in inner(top)
    ):
        return ""
    return f" throws {shape.joined(dict.fromkeys(listed))}" if listed else ""


def _generics(plan: Plan, member: Node) -> str:
    used = shape.type_parameters(plan)
    listed = member.child_by_field_name("type_parameters")
    own = [each for each in used if listed is not None and listed.start_byte <= each.at.start_byte < listed.end_byte]
    return plan.names.tree.text_of(listed) if own and listed is not None else ""


def _type(plan: Plan, binding: Binding) -> str:
    type_ = type_of(plan.names, binding)
    if type_ is None:
        raise Refused(f"the type of `{binding.name}` is not written in this file")
    return type_

"""A function of its own in Go, or a method of the same type: after the function it came out of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import shape
from mercury_lsp.refactor.extract.go_copies import changes_part, is_shared
from mercury_lsp.refactor.extract.go_types import expression_type, result_types, type_of
from mercury_lsp.refactor.extract.plan import Plan
from mercury_lsp.refactor.grammars.grammar import around
from mercury_lsp.refactor.names import Binding
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_TOP = frozenset({"source_file"})


def function(plan: Plan, name: str) -> list[Replace]:
    top = shape.member(plan, _TOP)
    assert top is not None
    if any(use.binding is None and use.name == "recover" for use in plan.uses()):
        raise Refused("`recover` means something else in another function")
    plan = _errors_last(plan)
    _check_copies(plan)
    receiver = _receiver(plan, top)
    others = [binding for binding in plan.parameters if binding is not receiver]
    head = f"func {_owner(plan, top) if receiver is not None else ''}{name}{_generics(plan, top)}"
    called = name if receiver is None else f"{receiver.name}.{name}"
    listed = shape.joined(f"{binding.name} {_type(plan, binding)}" for binding in others)
    text = f"\n\n{head}({listed}){_results(plan, top)} {{\n{_body(plan)}\n}}"
    call = f"{called}({shape.joined(binding.name for binding in others)})"
    return [shape.inserted(plan, top.end_byte, text), shape.replaced(plan, _call(plan, top, call))]


def _check_copies(plan: Plan) -> None:
    """A variable that is handed over by value must not be changed in part."""
    for use in plan.uses():
        binding = use.binding
        if binding in plan.parameters and binding not in plan.results and binding is not None and changes_part(plan.names, use):
            seen = any(other.start >= plan.end or not plan.start <= other.start for other in plan.names.by_binding[binding])
            if seen and not is_shared(plan.names, binding):
                raise Refused(f"the selection may change `{use.name}`, and would change a copy of it")


def _errors_last(plan: Plan) -> Plan:
    """As every function in Go returns them."""
    ordered = sorted(plan.results, key=lambda binding: type_of(plan.names, binding) == "error")
    return replace(plan, results=tuple(ordered))


def _body(plan: Plan) -> str:
    if plan.value:
        return f"\treturn {shape.expression(plan, chr(9))}"
    declared = [f"\tvar {binding.name} {_type(plan, binding)}" for binding in plan.declared]
    returned = [f"\treturn {shape.joined(binding.name for binding in plan.results)}"] if plan.results else []
    return "\n".join([*declared, shape.body(plan, layout.step(plan.names.tree, plan.start)), *returned])


def _call(plan: Plan, top: Node, call: str) -> str:
    if plan.value:
        return call
    if plan.leaves:
        nearest = _nearest(plan, top)
        return f"return {call}" if result_types(plan.names, nearest) else f"{call}\nreturn"
    if not plan.results:
        return call
    names = shape.joined(binding.name for binding in plan.results)
    fresh = [binding for binding in plan.results if binding in plan.fresh]
    if len(fresh) == len(plan.results):
        return f"{names} := {call}"
    declared = "".join(f"var {binding.name} {_type(plan, binding)}\n" for binding in fresh)
    return f"{declared}{names} = {call}"


def _results(plan: Plan, top: Node) -> str:
    if plan.value:
        expression = plan.selection.expression
        type_ = expression_type(plan.names, expression) if expression is not None else None
        if type_ is None:
            raise Refused("the type of the selected expression is not written in this file")
        return f" {type_}"
    if plan.leaves:
        nearest = _nearest(plan, top)
        result = nearest.child_by_field_name("result")
        if (
            result is not None
            and result.type == "parameter_list"
            and any(each.children_by_field_name("name") for each in result.named_children)
        ):
            raise Refused("the results of the function have names")
        return f" {plan.names.tree.text_of(result)}" if result is not None else ""
    types = [_type(plan, binding) for binding in plan.results]
    return f" ({shape.joined(types)})" if len(types) > 1 else "".join(f" {type_}" for type_ in types)


def _nearest(plan: Plan, top: Node) -> Node:
    """The function that a `return` in the selection leaves."""
    return next((node for node in around(plan.nodes[0]) if node.type in plan.names.grammar.functions), top)


def _type(plan: Plan, binding: Binding) -> str:
    type_ = type_of(plan.names, binding)
    if type_ is None:
        raise Refused(f"the type of `{binding.name}` is not written in this file")
    return type_


def _receiver(plan: Plan, top: Node) -> Binding | None:
    holder = top.child_by_field_name("receiver")
    for binding in plan.parameters:
        if holder is not None and holder.start_byte <= binding.at.start_byte < holder.end_byte:
            if binding in plan.results:
                raise Refused(f"the selection changes `{binding.name}`")
            return binding
    return None


def _owner(plan: Plan, top: Node) -> str:
    holder = top.child_by_field_name("receiver")
    return f"{plan.names.tree.text_of(holder)} " if holder is not None else ""


def _generics(plan: Plan, top: Node) -> str:
    if not shape.type_parameters(plan):
        return ""
    listed = top.child_by_field_name("type_parameters")
    return plan.names.tree.text_of(listed) if listed is not None else ""

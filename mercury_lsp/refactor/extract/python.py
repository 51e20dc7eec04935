"""A function of its own in Python: before the statement it came out of, or a method of the same class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import shape
from mercury_lsp.refactor.extract.plan import Plan
from mercury_lsp.refactor.grammars.grammar import around
from mercury_lsp.refactor.names import Binding
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_FRAME = frozenset({"locals", "vars", "eval", "exec", "super", "__class__", "dir"})
_TOP = frozenset({"module"})


def function(plan: Plan, name: str) -> list[Replace]:
    _check(plan)
    method = _method(plan)
    owner = _first_parameter(plan, method) if method is not None else None
    if method is not None and owner is not None and _kind(plan, method) != "staticmethod":
        return _as_method(plan, name, method, owner)
    if method is not None and any(use.startswith("__") and not use.endswith("__") for use in _private(plan)):
        raise Refused("the selection uses a private name of the class")
    top = shape.member(plan, _TOP)
    assert top is not None
    unit = layout.step(plan.names.tree, plan.start)
    text = _definition(plan, name, plan.parameters, "", unit) + "\n\n\n"
    return [shape.inserted(plan, shape.above(top), text), shape.replaced(plan, _call(plan, name, plan.parameters))]


def _as_method(plan: Plan, name: str, method: Node, owner: Binding) -> list[Replace]:
    others = tuple(binding for binding in plan.parameters if binding is not owner)
    tree, place = plan.names.tree, _decorated(method)
    space, unit = layout.leading(tree, place.start_byte), layout.step(tree, plan.start)
    head = f"{space}@classmethod\n" if _kind(plan, method) == "classmethod" else ""
    text = f"\n\n{head}{_definition(plan, name, (owner, *others), space, unit)}"
    end = place.end_byte
    return [shape.inserted(plan, end, text), shape.replaced(plan, _call(plan, f"{owner.name}.{name}", others))]


def _definition(plan: Plan, name: str, parameters: tuple[Binding, ...], space: str, unit: str) -> str:
    listed = shape.joined(_parameter(plan, binding) for binding in parameters)
    lines = [f"{space}def {name}({listed}):"]
    if plan.value:
        text = shape.expression(plan, space + unit)
        bare = plan.nodes[0].type == "named_expression"
        lines.append(f"{space}{unit}return {f'({text})' if bare or _needs_brackets(text) else text}")
    else:
        lines.append(shape.body(plan, space + unit))
        if plan.results:
            lines.append(f"{space}{unit}return {shape.joined(binding.name for binding in plan.results)}")
    return "\n".join(lines)


def _needs_brackets(text: str) -> bool:
    return "\n" in text and not (text[0] in "([{" and text[-1] in ")]}")


def _call(plan: Plan, called: str, parameters: tuple[Binding, ...]) -> str:
    call = f"{called}({shape.joined(binding.name for binding in parameters)})"
    if plan.leaves:
        return f"return {call}"
    if plan.results and not plan.value:
        return f"{shape.joined(binding.name for binding in plan.results)} = {call}"
    return call


def _parameter(plan: Plan, binding: Binding) -> str:
    annotation = binding.declared.type
    above = binding.at.parent
    if annotation is None or (above is not None and above.type in ("list_splat_pattern", "dictionary_splat_pattern")):
        return binding.name
    text = plan.names.tree.text_of(annotation)
    return binding.name if "\n" in text else f"{binding.name}: {text}"


def _check(plan: Plan) -> None:
    for use in plan.uses():
        if use.binding is None and use.name in _FRAME:
            raise Refused(f"`{use.name}` means something else in another function")
        if use.binding is not None and use.binding.is_type and use.binding.is_local:
            raise Refused(f"the type parameter `{use.name}` is known in this function only")


def _private(plan: Plan) -> list[str]:
    tree = plan.names.tree
    return [tree.text_of(node) for top in plan.nodes for node in _identifiers(top)]


def _identifiers(node: Node) -> list[Node]:
    found, waiting = [], [node]
    while waiting:
        each = waiting.pop()
        if each.type == "identifier":
            found.append(each)
        waiting += each.children
    return found


def _method(plan: Plan) -> Node | None:
    """The method that the selection is directly in."""
    nodes = list(around(plan.nodes[0]))
    for place, node in enumerate(nodes):
        if node.type in ("function_definition", "lambda", "class_definition"):
            holders = [each.type for each in nodes[place + 1 :] if each.type != "decorated_definition"]
            return node if node.type == "function_definition" and holders[:2] == ["block", "class_definition"] else None
    return None


def _first_parameter(plan: Plan, method: Node) -> Binding | None:
    """That of the method, where the selection reads it. Raises `Refused` where it changes it."""
    parameters = method.child_by_field_name("parameters")
    first = parameters.named_children[0] if parameters is not None and parameters.named_children else None
    for binding in plan.parameters:
        if first is not None and binding.at.id == first.id:
            if binding in plan.results:
                raise Refused(f"the selection changes `{binding.name}`")
            return binding
    return None


def _decorated(method: Node) -> Node:
    above = method.parent
    return above if above is not None and above.type == "decorated_definition" else method


def _kind(plan: Plan, method: Node) -> str:
    """`staticmethod`, `classmethod` or nothing."""
    decorators = [plan.names.tree.text_of(child) for child in _decorated(method).children if child.type == "decorator"]
    return next((kind for kind in ("staticmethod", "classmethod") if f"@{kind}" in decorators), "")

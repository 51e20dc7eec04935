"""A function of its own in JavaScript or TypeScript: after the statement it came out of, or a method of the same class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import shape
from mercury_lsp.refactor.extract.plan import Plan, holds, last_end
from mercury_lsp.refactor.extract.semicolons import closing, opening
from mercury_lsp.refactor.grammars.grammar import around, inner
from mercury_lsp.refactor.names import Binding
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_TOP = frozenset({"program"})
_CLASS = frozenset({"class_body"})
_ARROWS = frozenset({"arrow_function"})
_LITERALS = {"number": "number", "string": "string", "template_string": "string", "true": "boolean", "false": "boolean"}


def function(plan: Plan, name: str) -> list[Replace]:
    if any(use.binding is None and use.name in ("arguments", "eval") for use in plan.uses()):
        raise Refused("`arguments` or `eval` means something else in another function")
    if holds(plan, frozenset({"this"})):
        return _as_method(plan, name)
    if any(node.type == "private_property_identifier" for top in plan.nodes for node in inner(top)):
        raise Refused("the selection uses a private name of the class")
    top = shape.member(plan, _TOP)
    assert top is not None
    generics = _generics(plan, None)
    text = f"\n\n{_definition(plan, f'function {name}{generics}', '')}"
    return [shape.replaced(plan, _call(plan, name)), shape.inserted(plan, max(top.end_byte, last_end(plan)), text)]


def _as_method(plan: Plan, name: str) -> list[Replace]:
    place = _member_with_this(plan)
    space = layout.leading(plan.names.tree, place.start_byte)
    static = "static " if any(child.type == "static" for child in place.children) else ""
    head = f"{static}{name}{_generics(plan, place)}"
    text = f"\n\n{space}{_definition(plan, head, space)}"
    return [shape.inserted(plan, shape.line_end(plan, place), text), shape.replaced(plan, _call(plan, f"this.{name}"))]


def _member_with_this(plan: Plan) -> Node:
    """The part of the class whose `this` the selection uses."""
    node = plan.nodes[0]
    for above in around(node):
        if above.type in _CLASS:
            return node
        if above.type in plan.names.grammar.functions - _ARROWS and above.type != "method_definition":
            break
        if above.type == "object":
            break
        node = above
    raise Refused("`this` in the selection is not that of a class")


def _definition(plan: Plan, head: str, space: str) -> str:
    unit = layout.step(plan.names.tree, plan.start)
    tree, deep = plan.names.tree, space + unit
    end = closing(tree, "}")
    lines = [f"{head}({shape.joined(_parameter(plan, binding) for binding in plan.parameters)}) {{"]
    if plan.declared:
        listed = shape.joined(_typed(plan, binding) for binding in plan.declared)
        lines.append(f"{deep}let {listed}{closing(tree, plan.selected)}")
    if plan.value:
        text = shape.expression(plan, deep)
        lines.append(f"{deep}return {text}{end}")
    else:
        body = shape.body(plan, deep)
        lines.append(body if body.endswith((";", "}")) or not end else body + end)
        if plan.results:
            lines.append(f"{deep}return {_returned(plan)}{end}")
    return "\n".join([*lines, f"{space}}}"])


def _several(plan: Plan) -> str:
    names = [binding.name for binding in plan.results]
    return names[0] if len(names) == 1 else f"[{shape.joined(names)}]"


def _returned(plan: Plan) -> str:
    """Without `as const` TypeScript would take values of several types for a list of any of them."""
    fixed = len(plan.results) > 1 and plan.names.tree.language != "javascript"
    return f"{_several(plan)} as const" if fixed else _several(plan)


def _call(plan: Plan, called: str) -> str:
    call = f"{called}({shape.joined(binding.name for binding in plan.parameters)})"
    if plan.value:
        return call
    tree = plan.names.tree
    end = closing(tree, tree.text[tree.char(last_end(plan)) :])
    if plan.leaves:
        return f"return {call}{end}"
    if not plan.results:
        return call + end
    fresh = [binding for binding in plan.results if binding in plan.fresh]
    if len(fresh) == len(plan.results):
        return f"{_keyword(plan, fresh)} {_several(plan)} = {call}{end}"
    kind = _keyword(plan, fresh).replace("const", "let")
    declared = f"{kind} {shape.joined(_typed(plan, binding) for binding in fresh)};\n" if fresh else ""
    guard = (
        opening(tree, plan.nodes[0]) if len(plan.results) > 1 and not fresh else ""
    )  # else the brackets would go on with the line before
    return f"{declared}{guard}{_several(plan)} = {call}{end}"


def _keyword(plan: Plan, fresh: list[Binding]) -> str:
    """`const` only where all are and nothing sets them later."""
    hoisted = any(binding.at.parent is not None and _declaration(binding.at) == "variable_declaration" for binding in fresh)
    if hoisted:
        return "var"
    return "const" if all(binding.declared.constant for binding in fresh) else "let"


def _declaration(name: Node) -> str:
    return next((node.type for node in around(name) if node.type in ("variable_declaration", "lexical_declaration")), "")


def _parameter(plan: Plan, binding: Binding) -> str:
    return _typed(plan, binding)


def _typed(plan: Plan, binding: Binding) -> str:
    """With its type where the language wants one: what is written, what a literal says, or `any`."""
    if plan.names.tree.language == "javascript":
        return binding.name
    declared = binding.declared
    if declared.type is not None:
        optional = any(node.type == "optional_parameter" for node in [binding.at.parent] if node is not None) and declared.value is None
        return f"{binding.name}{plan.names.tree.text_of(declared.type)}{' | undefined' if optional else ''}"
    literal = _LITERALS.get(declared.value.type, "any") if declared.value is not None else "any"
    return f"{binding.name}: {literal}"


def _generics(plan: Plan, place: Node | None) -> str:
    """The type parameters of the functions around that are used. Raises `Refused` for those that the new place does not know."""
    used = shape.type_parameters(plan)
    lists = {}
    for binding in used:
        owner = next((node for node in around(binding.at) if node.type == "type_parameters"), None)
        if owner is not None and (place is None or place.start_byte <= owner.start_byte < place.end_byte):
            lists[owner.id] = owner
    if any(binding.scope.kind == "class" for binding in used) and place is None:
        raise Refused("the selection uses a type parameter of the class")
    if len(lists) > 1:
        raise Refused("the selection uses type parameters of more than one function")
    return "".join(plan.names.tree.text_of(owner) for owner in lists.values())

"""A function of its own in Rust, or a method of the same `impl`. Values that are not copied go by reference, or it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import shape
from mercury_lsp.refactor.extract.plan import Plan, holds
from mercury_lsp.refactor.extract.rust_guards import check_let_go
from mercury_lsp.refactor.extract.rust_types import expression_type, is_copied, type_of
from mercury_lsp.refactor.grammars.grammar import around, field_of, inner
from mercury_lsp.refactor.grammars.rust import KNOWN_MACROS
from mercury_lsp.refactor.names import Binding, Use
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_BODIES = frozenset({"source_file", "declaration_list"})


def function(plan: Plan, name: str) -> list[Replace]:
    _check(plan)
    member = shape.member(plan, _BODIES)
    if member is None or member.type != "function_item":
        raise Refused("the selection is not inside of a function")
    receiver = _receiver(plan, member)
    space = layout.leading(plan.names.tree, member.start_byte)
    passed = [_passed(plan, binding) for binding in plan.parameters]
    listed = shape.joined([*([receiver] if receiver else []), *(parameter for parameter, _ in passed)])
    bounds = "".join(f" {plan.names.tree.text_of(child)}" for child in member.named_children if child.type == "where_clause")
    generics = _generics(plan, member)
    head = f"{space}fn {name}{generics}({listed}){_result(plan, member)}{bounds if generics else ''} {{"
    text = f"\n\n{head}\n{_body(plan, space)}\n{space}}}"
    called = f"self.{name}" if receiver else f"Self::{name}" if _in_type(member) else name
    call = f"{called}({shape.joined(argument for _, argument in passed)})"
    return [shape.inserted(plan, member.end_byte, text), shape.replaced(plan, _call(plan, call))]


def _check(plan: Plan) -> None:
    tree = plan.names.tree
    for top in plan.nodes:
        for node in inner(top):
            if node.type == "macro_invocation":
                macro = tree.text_of(node.child_by_field_name("macro") or node).rpartition("::")[2]
                if macro not in KNOWN_MACROS:
                    raise Refused(f"what the macro `{macro}!` does is not known")
    if plan.value and plan.selection.expression is not None:
        check_let_go(plan.names, plan.selection.expression, "the selection")
    for node in plan.selection.nodes:
        if node.type == "let_declaration" and not plan.value:
            _check_held(plan, node)
    for node in around(plan.nodes[0]):
        if node.type in ("unsafe_block", "async_block", "const_block") or (node.type == "closure_expression" and plan.leaves):
            raise Refused(f"the selection stands in {'an `unsafe`' if node.type == 'unsafe_block' else 'a'} block of its own")
        if node.type == "function_item":
            break


def _check_held(plan: Plan, node: Node) -> None:
    """Of a `let` right in the selection: what it holds until its block ends would be let go of earlier, where it is no result."""
    bound = [binding for binding in plan.names.by_binding if node.start_byte <= binding.at.start_byte < node.end_byte]
    kept = [binding for binding in bound if binding not in plan.results]
    for binding in kept:
        if binding.name.startswith("_"):
            raise Refused(f"`{binding.name}` may hold something until its block ends")
    value, type_ = node.child_by_field_name("value"), node.child_by_field_name("type")
    for part in (value, type_):
        if part is not None and kept:
            check_let_go(plan.names, part, f"`{kept[0].name}`")


def _body(plan: Plan, space: str) -> str:
    deep = space + layout.step(plan.names.tree, plan.start)
    if plan.value:
        return f"{deep}{shape.expression(plan, deep)}"
    declared = [f"{deep}let {binding.name}: {_type(plan, binding)};" for binding in plan.declared]
    returned = [f"{deep}{_several(plan)}"] if plan.results else []
    return "\n".join([*declared, shape.body(plan, deep), *returned])


def _several(plan: Plan) -> str:
    names = shape.joined(binding.name for binding in plan.results)
    return names if len(plan.results) == 1 else f"({names})"


def _call(plan: Plan, call: str) -> str:
    tree = plan.names.tree
    if plan.value:
        return call
    if plan.leaves:
        last = tree.text_of(plan.selection.statements[-1]).rstrip()
        return f"return {call};" if last.endswith(";") else call
    if not plan.results:
        return f"{call};"
    fresh = [binding for binding in plan.results if binding in plan.fresh]
    if not fresh:
        return f"{_several(plan)} = {call};"
    if len(fresh) < len(plan.results):
        raise Refused("the selection both declares and changes variables that are used after it")
    names = [f"mut {each.name}" if not each.declared.constant else each.name for each in fresh]
    return f"let {names[0] if len(names) == 1 else f'({shape.joined(names)})'} = {call};"


def _result(plan: Plan, member: Node) -> str:
    text = plan.names.tree.text_of
    if plan.value:
        expression = plan.selection.expression
        type_ = expression_type(plan.names, expression) if expression is not None else None
        if type_ is None:
            raise Refused("the type of the selected expression is not written in this file")
        _check_lifetime(type_)
        return f" -> {type_}"
    if plan.leaves:
        result = member.child_by_field_name("return_type")
        if result is not None:
            _check_lifetime(text(result))
        return f" -> {text(result)}" if result is not None else ""
    types = [_type(plan, binding) for binding in plan.results]
    for type_ in types:
        _check_lifetime(type_)
    return f" -> ({shape.joined(types)})" if len(types) > 1 else "".join(f" -> {type_}" for type_ in types)


def _check_lifetime(type_: str) -> None:
    if ("&" in type_ or "'" in type_) and type_ != "&'static str":
        raise Refused("the selection returns a reference, whose lifetime is not known")


def _type(plan: Plan, binding: Binding) -> str:
    type_ = type_of(plan.names, binding)
    if type_ is None:
        raise Refused(f"the type of `{binding.name}` is not written in this file")
    return type_


def _passed(plan: Plan, binding: Binding) -> tuple[str, str]:
    """A parameter, and what is handed over for it."""
    name, type_ = binding.name, _type(plan, binding)
    inside = [use for use in plan.uses() if use.binding is binding]
    if is_copied(type_):
        changes = any(use.writes for use in inside)
        return f"{'mut ' if changes else ''}{name}: {type_}", name
    if binding in plan.results or any(use.writes for use in inside):
        raise Refused(f"the selection changes `{name}`, which is not copied")
    if type_.startswith("&mut "):
        return f"{name}: {type_}", name
    if not all(_is_borrowed(plan, use) for use in inside):
        raise Refused(f"the selection may move `{name}` or take a reference to it")
    if binding.declared.constant:
        return f"{name}: &{type_}", f"&{name}"
    return f"{name}: &mut {type_}", f"&mut {name}"


def _is_borrowed(plan: Plan, use: Use) -> bool:
    """Whether a reference does as well in its place: a method is called, a field or an item looked at, or it is printed."""
    above = use.node.parent
    if above is None:
        return False
    if above.type == "field_expression" and field_of(use.node) == "value":
        outer = above.parent
        called = outer is not None and outer.type == "call_expression"
        name = plan.names.tree.text_of(above.child_by_field_name("field") or above)
        return called and not name.startswith("into_") and name != "unwrap"
    if above.type == "index_expression":
        return above.named_children[0].id == use.node.id
    if use.node.type == "string_literal":
        return True
    return above.type == "token_tree" and above.parent is not None and _prints(plan, above.parent)


def _prints(plan: Plan, macro: Node) -> bool:
    name = plan.names.tree.text_of(macro.child_by_field_name("macro") or macro)
    return name in ("println", "print", "eprintln", "eprint", "format")


def _receiver(plan: Plan, member: Node) -> str:
    """The function's own `self`, where the selection uses it."""
    if not holds(plan, frozenset({"self"})) and not any("self" in plan.names.tree.text_of(top) for top in plan.nodes):
        return ""
    parameters = member.child_by_field_name("parameters")
    found = [child for child in (parameters.named_children if parameters is not None else []) if child.type == "self_parameter"]
    if not found:
        return ""
    text = plan.names.tree.text_of(found[0])
    if not text.startswith("&"):
        raise Refused("the selection uses `self`, which the function owns")
    return text


def _in_type(member: Node) -> bool:
    holder = member.parent
    owner = holder.parent if holder is not None else None
    if owner is not None and owner.type == "trait_item":
        raise Refused("the selection is in a trait")
    if owner is not None and owner.type == "impl_item" and owner.child_by_field_name("trait") is not None:
        raise Refused("the selection is in the implementation of a trait, which takes no other function")
    return owner is not None and owner.type == "impl_item"


def _generics(plan: Plan, member: Node) -> str:
    used = shape.type_parameters(plan)
    listed = member.child_by_field_name("type_parameters")
    if "'" in "".join(plan.names.tree.text_of(node) for each in plan.parameters if (node := each.declared.type) is not None):
        return plan.names.tree.text_of(listed) if listed is not None else ""
    own = [each for each in used if listed is not None and listed.start_byte <= each.at.start_byte < listed.end_byte]
    return plan.names.tree.text_of(listed) if own and listed is not None else ""

"""Names and control flow of Rust. What stands in a macro counts as read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar, around, field_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"function_item", "closure_expression"})
_PATTERNS = frozenset(
    "tuple_pattern tuple_struct_pattern struct_pattern field_pattern slice_pattern ref_pattern mut_pattern reference_pattern or_pattern"
    " captured_pattern match_pattern remaining_field_pattern".split()
)
_LETS = frozenset({"if_expression", "while_expression", "match_arm"})
# What these do is known: they read what they are given.
KNOWN_MACROS = frozenset(
    "print println eprint eprintln format assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne vec panic todo"
    " unimplemented unreachable write writeln matches dbg info warn error debug trace concat stringify env".split()
)


def _bound(pattern: Node | None) -> Iterator[Node]:
    """The names that a pattern may bind: one that begins with a capital is a constant or a variant, which the text tells."""
    if pattern is None:
        return
    if pattern.type in ("identifier", "shorthand_field_identifier"):
        yield pattern
    elif pattern.type in _PATTERNS:
        for place, child in enumerate(pattern.children):
            field = pattern.field_name_for_child(place)
            if (
                child.is_named
                and field not in ("type", "condition")
                and not (pattern.type == "field_pattern" and child.type == "field_identifier")
            ):
                yield from _bound(child)


def _declared(node: Node) -> Iterator[Declared]:
    kind = node.type
    if kind == "let_declaration":
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        alone = pattern is not None and pattern.type == "identifier"
        constant = not any(child.type == "mutable_specifier" for child in node.children)
        for name in _bound(pattern):
            type_ = node.child_by_field_name("type") if alone else None
            yield Declared(name, "here", type_, value if alone else None, start=node.end_byte, constant=constant, written=value is not None)
    elif kind == "let_condition":
        yield from _in_condition(node)
    elif kind == "match_arm" or kind == "for_expression":
        pattern = node.child_by_field_name("pattern")
        body = node.child_by_field_name("value" if kind == "match_arm" else "body")
        start = body.start_byte if kind == "for_expression" and body is not None else pattern.end_byte if pattern is not None else None
        if kind == "match_arm" and pattern is not None and (condition := pattern.child_by_field_name("condition")) is not None:
            start = condition.start_byte
        yield from (Declared(name, start=start, constant=True) for name in _bound(pattern))
    elif kind == "parameter":
        pattern = node.child_by_field_name("pattern")
        type_ = node.child_by_field_name("type") if pattern is not None and pattern.type == "identifier" else None
        constant = not any(child.type == "mutable_specifier" for child in node.children)
        yield from (Declared(name, "here", type_, constant=constant) for name in _bound(pattern))
    elif kind == "closure_parameters":
        yield from (Declared(name, constant=True) for child in node.named_children if child.type != "parameter" for name in _bound(child))
    elif kind in (
        "function_item",
        "struct_item",
        "enum_item",
        "const_item",
        "static_item",
        "trait_item",
        "mod_item",
        "type_item",
        "union_item",
    ):
        if (own := node.child_by_field_name("name")) is not None:
            yield Declared(own, constant=True)
    elif kind in ("type_parameter", "const_parameter"):
        if (own := node.child_by_field_name("name")) is not None:
            yield Declared(own)
    elif kind in ("use_declaration", "use_as_clause", "use_list", "scoped_use_list"):
        yield from (Declared(name, constant=True) for name in _used(node))


def _in_condition(node: Node) -> Iterator[Declared]:
    """`if let` and `while let`: the names can be seen in the rest of the condition and in the body, not in `else`."""
    holder = next((above for above in around(node) if above.type in _LETS), None)
    body = None if holder is None else holder.child_by_field_name("consequence") or holder.child_by_field_name("body")
    for name in _bound(node.child_by_field_name("pattern")):
        yield Declared(name, start=node.end_byte, end=body.end_byte if body is not None else None, constant=True)


def _used(node: Node) -> Iterator[Node]:
    """The names that an import brings."""
    if node.type == "use_as_clause":
        yield from [alias for alias in [node.child_by_field_name("alias")] if alias is not None]
        return
    for child in node.named_children:
        if child.type == "identifier" and field_of(child) != "path":
            yield child
        elif child.type == "scoped_identifier" and node.type in ("use_declaration", "use_list") and field_of(child) != "path":
            yield from [name for name in [child.child_by_field_name("name")] if name is not None]


def _written(node: Node) -> Iterator[tuple[Node, bool]]:
    if node.type in ("assignment_expression", "compound_assignment_expr"):
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            yield left, node.type == "compound_assignment_expr"


def _is_variable(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    kind, field = above.type, field_of(node)
    if kind in ("scoped_identifier", "scoped_type_identifier"):
        if any(outer.type.startswith("use_") for outer in around(node)):
            return field == "name"
        return field == "path"
    if kind in ("label", "lifetime", "macro_invocation", "attribute", "macro_definition"):
        return False
    if node.type == "shorthand_field_identifier":
        return True
    return not (kind == "token_tree" and _after_dot(node))


def _after_dot(node: Node) -> bool:
    before = node.prev_sibling
    return before is not None and before.type in (".", "::")


def _outside(node: Node, scope: Node) -> bool:
    above = node.parent
    return above is not None and above.id == scope.id and scope.type == "function_item" and field_of(node) == "name"


GRAMMAR = Grammar(
    identifiers=frozenset({"identifier", "type_identifier", "shorthand_field_identifier"}),
    functions=_FUNCTIONS,
    classes=frozenset({"impl_item", "trait_item", "mod_item", "struct_item", "enum_item"}),
    blocks=frozenset("block match_arm if_expression while_expression for_expression".split()),
    bodies=frozenset({"block"}),
    declared=_declared,
    written=_written,
    is_variable=_is_variable,
    outside=_outside,
    assignments=frozenset({"assignment_expression", "compound_assignment_expr", "let_declaration"}),
    conditionals=frozenset({"binary_expression", "try_expression"}),
    branches=frozenset({"if_expression"}),
    loops=frozenset({"for_expression", "while_expression", "loop_expression"}),
    choices=frozenset({"match_expression"}),
    returns=frozenset({"return_expression", "try_expression"}),
    breaks=frozenset({"break_expression"}),
    continues=frozenset({"continue_expression"}),
    labels=frozenset({"for_expression", "while_expression", "loop_expression"}),
    forbidden={
        "await_expression": "an `.await`",
        "yield_expression": "a `yield`",
        "function_item": "a function",
        "use_declaration": "a `use`",
        "macro_definition": "a macro's definition",
        "unsafe_block": "an `unsafe` block",
    },
    calls=frozenset({"call_expression", "macro_invocation"}),
)

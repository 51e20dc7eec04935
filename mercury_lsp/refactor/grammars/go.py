"""Names and control flow of Go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar, around, field_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"function_declaration", "method_declaration", "func_literal"})
_CASES = frozenset({"expression_case", "type_case", "default_case", "communication_case"})


def _declared(node: Node) -> Iterator[Declared]:
    kind = node.type
    if kind in ("parameter_declaration", "variadic_parameter_declaration"):
        for name in node.children_by_field_name("name"):
            yield Declared(name, "here", node.child_by_field_name("type"))
    elif kind in ("var_spec", "const_spec"):
        yield from _specified(node)
    elif kind == "short_var_declaration":
        yield from _short(node, node.child_by_field_name("left"), node.child_by_field_name("right"), "known")
    elif kind in ("range_clause", "receive_statement") and any(child.type == ":=" for child in node.children):
        yield from _short(node, node.child_by_field_name("left"), None, "here")
    elif kind == "type_switch_statement" and (alias := node.child_by_field_name("alias")) is not None:
        yield from (Declared(name) for name in alias.named_children)
    elif kind in ("function_declaration", "type_spec", "type_alias"):
        if (own := node.child_by_field_name("name")) is not None:
            yield Declared(own, constant=True)
    elif kind == "type_parameter_declaration":
        yield from (Declared(name) for name in node.children_by_field_name("name"))
    elif kind == "import_spec" and (alias := node.child_by_field_name("name")) is not None:
        yield Declared(alias, constant=True)


def _specified(node: Node) -> Iterator[Declared]:
    names, values = node.children_by_field_name("name"), node.child_by_field_name("value")
    given = values.named_children if values is not None else []
    top = node.parent is not None and not any(above.type in _FUNCTIONS for above in around(node))
    for place, name in enumerate(names):
        value = given[place] if len(given) == len(names) else values
        start = None if top else node.end_byte
        yield Declared(name, "here", node.child_by_field_name("type"), value, start=start, constant=node.type == "const_spec")


def _short(node: Node, left: Node | None, right: Node | None, where: str) -> Iterator[Declared]:
    names = left.named_children if left is not None else []
    values = right.named_children if right is not None else []
    for place, name in enumerate(names):
        if name.type == "identifier":
            value = values[place] if len(values) == len(names) else right
            yield Declared(name, "known" if where == "known" else "here", None, value, start=node.end_byte)


def _written(node: Node) -> Iterator[tuple[Node, bool]]:
    kind = node.type
    if kind == "assignment_statement":
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        reads = operator is not None and operator.type != "="
        yield from ((name, reads) for name in (left.named_children if left else []) if name.type == "identifier")
    elif kind in ("inc_statement", "dec_statement"):
        yield from ((name, True) for name in node.named_children if name.type == "identifier")
    elif kind in ("range_clause", "receive_statement") and any(child.type == "=" for child in node.children):
        left = node.child_by_field_name("left")
        yield from ((name, False) for name in (left.named_children if left else []) if name.type == "identifier")


def _is_variable(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    if above.type == "qualified_type":
        return field_of(node) == "package"
    return above.type != "method_elem" and not _is_field(node, above)


def _is_field(node: Node, above: Node) -> bool:
    """Whether it is the key of a struct's literal; that of a map's is a variable."""
    pair = above.parent
    if above.type != "literal_element" or pair is None or pair.type != "keyed_element" or pair.named_children[0].id != above.id:
        return False
    literal = next((each for each in around(node) if each.type == "composite_literal"), None)
    type_ = literal.child_by_field_name("type") if literal is not None else None
    return type_ is None or type_.type != "map_type"


def _outside(node: Node, scope: Node) -> bool:
    above = node.parent
    return above is not None and above.id == scope.id and scope.type == "function_declaration" and field_of(node) == "name"


GRAMMAR = Grammar(
    identifiers=frozenset({"identifier", "type_identifier", "package_identifier"}),
    functions=_FUNCTIONS,
    classes=frozenset(),
    blocks=frozenset("block for_statement if_statement expression_switch_statement type_switch_statement select_statement".split())
    | _CASES,
    bodies=frozenset({"statement_list", "block", "source_file"}),
    declared=_declared,
    written=_written,
    is_variable=_is_variable,
    outside=_outside,
    assignments=frozenset({"assignment_statement", "short_var_declaration"}),
    conditionals=frozenset({"binary_expression"}),
    branches=frozenset({"if_statement"}),
    loops=frozenset({"for_statement"}),
    switches=frozenset({"expression_switch_statement", "type_switch_statement", "select_statement"}),
    choices=frozenset({"expression_switch_statement", "type_switch_statement", "select_statement"}),
    returns=frozenset({"return_statement"}),
    breaks=frozenset({"break_statement"}),
    continues=frozenset({"continue_statement"}),
    labels=frozenset({"labeled_statement"}),
    forbidden={
        "defer_statement": "a `defer`",
        "goto_statement": "a `goto`",
        "fallthrough_statement": "a `fallthrough`",
    },
    calls=frozenset({"call_expression"}),
)

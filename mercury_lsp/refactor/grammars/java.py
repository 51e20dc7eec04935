"""Names and control flow of Java."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar, field_of

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset(
    "method_declaration constructor_declaration compact_constructor_declaration lambda_expression static_initializer".split()
)
_CLASSES = frozenset(
    "class_declaration interface_declaration enum_declaration record_declaration class_body annotation_type_declaration".split()
)


def _declared(node: Node) -> Iterator[Declared]:
    kind = node.type
    if kind in ("local_variable_declaration", "field_declaration"):
        local = kind == "local_variable_declaration"
        for declarator in node.children_by_field_name("declarator"):
            name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
            type_ = node.child_by_field_name("type") if declarator.child_by_field_name("dimensions") is None else None
            if name is not None:
                yield Declared(name, "here", type_, value, start=name.end_byte if local else None, written=value is not None)
    elif kind in ("formal_parameter", "enhanced_for_statement", "resource", "catch_formal_parameter"):
        name = node.child_by_field_name("name")
        if name is not None:
            yield Declared(
                name, "here", node.child_by_field_name("type"), node.child_by_field_name("value") if kind == "resource" else None
            )
    elif kind == "spread_parameter":
        yield from (Declared(name) for child in node.named_children if (name := child.child_by_field_name("name")) is not None)
    elif kind == "inferred_parameters":
        yield from (Declared(name) for name in node.named_children if name.type == "identifier")
    elif kind == "lambda_expression":
        parameter = node.child_by_field_name("parameters")
        if parameter is not None and parameter.type == "identifier":
            yield Declared(parameter)
    elif kind in ("instanceof_expression", "type_pattern", "record_pattern_component"):
        yield from _matched(node)
    elif kind in ("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"):
        name = node.child_by_field_name("name")
        if name is not None:
            yield Declared(name, constant=True)
    elif kind == "type_parameter":
        yield from (Declared(child) for child in node.named_children if child.type == "type_identifier")


def _matched(node: Node) -> Iterator[Declared]:
    """A pattern's name can be seen in what follows: in the rest of the condition, and sometimes after its statement."""
    name = node.child_by_field_name("name")
    if name is None and node.type != "instanceof_expression" and node.named_children and node.named_children[-1].type == "identifier":
        name = node.named_children[-1]
    if name is not None:
        yield Declared(name, "function", node.child_by_field_name("right"), start=name.end_byte)


def _written(node: Node) -> Iterator[tuple[Node, bool]]:
    if node.type == "assignment_expression":
        left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if left is not None and left.type == "identifier":
            yield left, operator is not None and operator.type != "="
    elif node.type == "update_expression":
        yield from ((name, True) for name in node.named_children if name.type == "identifier")


def _is_variable(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    kind, field = above.type, field_of(node)
    if kind == "method_invocation":
        return field != "name"
    if kind == "field_access":
        return field != "field"
    if kind in ("break_statement", "continue_statement", "annotation", "marker_annotation", "element_value_pair"):
        return kind == "element_value_pair" and field == "value"
    if kind == "labeled_statement":
        return above.named_children[0].id != node.id
    if kind == "method_reference":
        return above.named_children[0].id == node.id
    if kind in ("scoped_identifier", "package_declaration", "import_declaration"):
        return False
    return not (kind in ("method_declaration", "constructor_declaration", "enum_constant") and field == "name")


def _outside(node: Node, scope: Node) -> bool:
    above = node.parent
    return above is not None and above.id == scope.id and scope.type in _CLASSES and field_of(node) == "name"


GRAMMAR = Grammar(
    identifiers=frozenset({"identifier", "type_identifier"}),
    functions=_FUNCTIONS,
    classes=_CLASSES,
    blocks=frozenset(
        "block constructor_body for_statement enhanced_for_statement try_with_resources_statement catch_clause switch_block"
        " switch_rule if_statement while_statement".split()
    ),
    bodies=frozenset({"block", "constructor_body", "switch_block_statement_group"}),
    declared=_declared,
    written=_written,
    is_variable=_is_variable,
    outside=_outside,
    assignments=frozenset({"assignment_expression", "variable_declarator"}),
    conditionals=frozenset({"binary_expression", "ternary_expression"}),
    branches=frozenset({"if_statement"}),
    loops=frozenset({"for_statement", "enhanced_for_statement", "while_statement", "do_statement"}),
    switches=frozenset({"switch_expression", "switch_statement"}),
    choices=frozenset({"switch_expression", "switch_statement"}),
    tries=frozenset({"try_statement", "try_with_resources_statement"}),
    handlers=frozenset({"catch_clause"}),
    returns=frozenset({"return_statement"}),
    throws=frozenset({"throw_statement"}),
    breaks=frozenset({"break_statement"}),
    continues=frozenset({"continue_statement"}),
    labels=frozenset({"labeled_statement"}),
    forbidden={"explicit_constructor_invocation": "a call of another constructor", "yield_statement": "a `yield`"},
    calls=frozenset({"method_invocation", "object_creation_expression"}),
)

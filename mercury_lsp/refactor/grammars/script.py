"""Names and control flow of JavaScript and TypeScript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar, field_of, leaves

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier"})
_BOUND = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_PATTERNS = frozenset(
    "object_pattern array_pattern rest_pattern pair_pattern assignment_pattern object_assignment_pattern parenthesized_expression"
    " non_null_expression".split()
)
_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_expression generator_function arrow_function method_definition"
    " function_signature class_static_block".split()
)
_TYPES = frozenset(
    "class_declaration abstract_class_declaration class interface_declaration type_alias_declaration enum_declaration".split()
)


def _bound(pattern: Node | None) -> Iterator[Node]:
    """The names that a pattern gives values to; keys and default values are none of them."""
    if pattern is None:
        return
    if pattern.type in ("pair_pattern", "assignment_pattern", "object_assignment_pattern"):
        yield from _bound(pattern.child_by_field_name("value" if pattern.type == "pair_pattern" else "left"))
    elif pattern.type in _PATTERNS:
        for child in pattern.named_children:
            yield from _bound(child)
    else:
        yield from leaves(pattern, _PATTERNS, _BOUND)


def _declared(node: Node) -> Iterator[Declared]:
    kind = node.type
    if kind == "variable_declarator":
        yield from _declarator(node)
    elif kind in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern")
        alone = pattern is not None and pattern.type == "identifier"
        for name in _bound(pattern):
            yield Declared(
                name, "here", node.child_by_field_name("type") if alone else None, node.child_by_field_name("value") if alone else None
            )
    elif kind == "formal_parameters":  # JavaScript has the patterns right here
        for child in node.named_children:
            yield from (Declared(name) for name in _bound(child))
    elif kind == "arrow_function":
        yield from (Declared(name) for name in _bound(node.child_by_field_name("parameter")))
    elif kind in ("function_declaration", "generator_function_declaration", "function_signature") or kind in _TYPES:
        if (own := node.child_by_field_name("name")) is not None:
            yield Declared(own, constant=True)
    elif kind == "catch_clause":
        yield from (Declared(name) for name in _bound(node.child_by_field_name("parameter")))
    elif kind == "for_in_statement" and node.child_by_field_name("kind") is not None:
        kept = node.child_by_field_name("kind")
        where = "function" if kept is not None and kept.type == "var" else "here"
        for name in _bound(node.child_by_field_name("left")):
            yield Declared(name, "function" if where == "function" else "here")
    elif kind == "import_clause":
        yield from (Declared(child, constant=True) for child in node.named_children if child.type == "identifier")
    elif kind in ("namespace_import", "import_specifier"):
        yield Declared(node.child_by_field_name("alias") or node.child_by_field_name("name") or node.named_children[-1], constant=True)
    elif kind == "type_parameter":
        yield from (Declared(child) for child in node.named_children if child.type == "type_identifier")


def _declarator(node: Node) -> Iterator[Declared]:
    above = node.parent
    hoisted = above is not None and above.type == "variable_declaration"
    constant = above is not None and any(child.type == "const" for child in above.children)
    pattern, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    alone = pattern is not None and pattern.type == "identifier"
    for name in _bound(pattern):
        yield Declared(
            name,
            "function" if hoisted else "here",
            node.child_by_field_name("type") if alone else None,
            value if alone else None,
            constant=constant,
            written=value is not None or not hoisted,
        )


def _written(node: Node) -> Iterator[tuple[Node, bool]]:
    kind = node.type
    if kind == "assignment_expression":
        yield from ((name, False) for name in _bound(node.child_by_field_name("left")))
    elif kind == "augmented_assignment_expression":
        yield from ((name, True) for name in _bound(node.child_by_field_name("left")))
    elif kind == "update_expression":
        yield from ((name, True) for name in _bound(node.child_by_field_name("argument")))
    elif kind == "for_in_statement" and node.child_by_field_name("kind") is None:
        yield from ((name, False) for name in _bound(node.child_by_field_name("left")))


def _is_variable(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    if above.type in ("import_specifier", "export_specifier"):
        return above.child_by_field_name("alias") is None or (field_of(node) == "alias") == (above.type == "import_specifier")
    if above.type == "namespace_export":
        return False
    return not (above.type in ("function_expression", "generator_function") and field_of(node) == "name")


def _outside(node: Node, scope: Node) -> bool:
    """The name of a declaration belongs to the scope around."""
    above = node.parent
    return above is not None and above.id == scope.id and field_of(node) == "name" and node.type in _NAMES


GRAMMAR = Grammar(
    identifiers=_NAMES,
    functions=_FUNCTIONS,
    classes=frozenset({"class_declaration", "abstract_class_declaration", "class", "interface_declaration", "type_alias_declaration"}),
    blocks=frozenset("statement_block for_statement for_in_statement switch_body catch_clause".split()),
    bodies=frozenset({"statement_block", "program", "switch_case", "switch_default"}),
    declared=_declared,
    written=_written,
    is_variable=_is_variable,
    outside=_outside,
    assignments=frozenset({"assignment_expression", "augmented_assignment_expression", "variable_declarator"}),
    conditionals=frozenset({"ternary_expression", "binary_expression", "optional_chain", "member_expression"}),
    branches=frozenset({"if_statement"}),
    loops=frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"}),
    switches=frozenset({"switch_statement"}),
    choices=frozenset({"switch_statement"}),
    tries=frozenset({"try_statement"}),
    handlers=frozenset({"catch_clause"}),
    returns=frozenset({"return_statement"}),
    throws=frozenset({"throw_statement"}),
    breaks=frozenset({"break_statement"}),
    continues=frozenset({"continue_statement"}),
    labels=frozenset({"labeled_statement"}),
    forbidden={
        "yield_expression": "a `yield`",
        "await_expression": "an `await`",
        "await": "an `await`",
        "super": "`super`",
        "meta_property": "`new.target` or `import.meta`",
        "with_statement": "a `with` statement",
        "using": "a `using` declaration",
    },
    calls=frozenset({"call_expression", "new_expression"}),
)

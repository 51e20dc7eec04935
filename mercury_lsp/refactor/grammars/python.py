"""Names and control flow of Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar, field_of, leaves

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = frozenset({"identifier"})
_PATTERNS = frozenset(
    "pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern as_pattern_target parenthesized_expression"
    " tuple list expression_list".split()
)
_PARAMETERS = frozenset(
    "default_parameter typed_parameter typed_default_parameter list_splat_pattern dictionary_splat_pattern tuple_pattern".split()
)
_COMPREHENSIONS = frozenset("list_comprehension set_comprehension dictionary_comprehension generator_expression".split())


def _declared(node: Node) -> Iterator[Declared]:
    kind = node.type
    if kind in ("parameters", "lambda_parameters"):
        yield from _parameters(node)
    elif kind in ("function_definition", "class_definition"):
        yield from _each([node.child_by_field_name("name")])
    elif kind == "assignment":
        value = node.child_by_field_name("right")
        type_ = node.child_by_field_name("type")
        left = node.child_by_field_name("left")
        alone = left is not None and left.type == "identifier"
        for name in leaves(left, _PATTERNS, _NAME):
            yield Declared(name, "function", type_, value if alone else None, written=value is not None)
    elif kind == "for_in_clause":
        for name in leaves(node.child_by_field_name("left"), _PATTERNS, _NAME):
            yield Declared(name)  # of the comprehension
    elif kind in ("import_statement", "import_from_statement"):
        yield from _each(map(_imported, node.children_by_field_name("name")))
    elif kind == "type_parameter":
        yield from _each(leaves(node.named_children[0] if node.named_children else None, frozenset({"type"}), _NAME))
    else:
        yield from _each(_others(node))


def _others(node: Node) -> Iterator[Node]:
    kind = node.type
    if kind in ("augmented_assignment", "for_statement"):
        yield from leaves(node.child_by_field_name("left"), _PATTERNS, _NAME)
    elif kind == "named_expression":
        yield from leaves(node.child_by_field_name("name"), _PATTERNS, _NAME)
    elif kind == "as_pattern":
        alias = node.child_by_field_name("alias") or (node.named_children[-1] if len(node.named_children) > 1 else None)
        yield from leaves(alias, _PATTERNS, _NAME)
    elif kind == "case_pattern":
        for child in node.named_children:
            if child.type == "dotted_name" and child.named_child_count == 1:
                yield child.named_children[0]
    elif kind == "keyword_pattern":
        last = node.named_children[-1]
        if last.type == "dotted_name" and last.named_child_count == 1:
            yield last.named_children[0]
    elif kind == "splat_pattern":
        yield from leaves(node, frozenset({"splat_pattern"}), _NAME)
    elif kind == "delete_statement":
        yield from leaves(node, frozenset({"delete_statement", *_PATTERNS}), _NAME)


def _each(names: Iterator[Node | None] | list[Node | None] | Iterator[Node] | map[Node | None]) -> Iterator[Declared]:
    return (Declared(name, "function") for name in names if name is not None)


def _imported(node: Node) -> Node | None:
    if node.type == "aliased_import":
        return node.child_by_field_name("alias")
    return node.named_children[0] if node.named_children else None


def _parameters(node: Node) -> Iterator[Declared]:
    for child in node.named_children:
        inner_name = child.child_by_field_name("name") or child
        name = next(leaves(inner_name, _PARAMETERS, _NAME), None)
        if name is not None:
            yield Declared(name, "here", child.child_by_field_name("type"), child.child_by_field_name("value"))


def _written(node: Node) -> Iterator[tuple[Node, bool]]:
    """Every declaration in Python is an assignment; this tells of those that read the old value too."""
    if node.type == "augmented_assignment":
        yield from ((name, True) for name in leaves(node.child_by_field_name("left"), _PATTERNS, _NAME))


def _is_variable(node: Node) -> bool:
    above = node.parent
    if above is None:
        return False
    kind, field = above.type, field_of(node)
    if kind == "attribute":
        return field == "object"
    if kind in ("keyword_argument", "keyword_pattern"):
        return field != "name" and not (kind == "keyword_pattern" and above.named_children[0].id == node.id)
    if kind == "dotted_name":  # of an import, or of a pattern
        outer = above.parent
        if outer is not None and outer.type in ("import_statement", "import_from_statement", "aliased_import", "relative_import"):
            return outer.type in ("import_statement", "import_from_statement") and field_of(above) == "name" and _first(above, node)
        return _first(above, node)
    if kind == "aliased_import":
        return field == "alias"
    return kind not in ("global_statement", "nonlocal_statement")


def _first(above: Node, node: Node) -> bool:
    return above.named_children[0].id == node.id


def _outside(node: Node, scope: Node) -> bool:
    """Defaults, annotations and decorators are evaluated around the function, and so is what a comprehension goes through first."""
    above = node.parent
    if above is None:
        return False
    if scope.type in ("function_definition", "lambda"):
        if above.id == scope.id:
            return field_of(node) in ("name", "return_type")
        is_default = above.type in ("default_parameter", "typed_default_parameter") and field_of(node) == "value"
        return is_default or (above.type in ("typed_parameter", "typed_default_parameter") and node.type == "type")
    if scope.type in _COMPREHENSIONS and above.type == "for_in_clause" and field_of(node) == "right":
        clauses = [child for child in scope.named_children if child.type == "for_in_clause"]
        return clauses[0].id == above.id
    return False


GRAMMAR = Grammar(
    identifiers=_NAME,
    functions=frozenset({"function_definition", "lambda", *_COMPREHENSIONS}),
    classes=frozenset({"class_definition"}),
    blocks=frozenset(),
    bodies=frozenset({"block", "module"}),
    declared=_declared,
    written=_written,
    is_variable=_is_variable,
    outside=_outside,
    assignments=frozenset({"assignment", "augmented_assignment", "named_expression"}),
    conditionals=frozenset({"boolean_operator", "conditional_expression", "comparison_operator"}),
    branches=frozenset({"if_statement"}),
    loops=frozenset({"for_statement", "while_statement"}),
    choices=frozenset({"match_statement"}),
    tries=frozenset({"try_statement"}),
    handlers=frozenset({"except_clause", "except_group_clause"}),
    returns=frozenset({"return_statement"}),
    throws=frozenset({"raise_statement"}),
    breaks=frozenset({"break_statement"}),
    continues=frozenset({"continue_statement"}),
    forbidden={
        "yield": "a `yield`",
        "await": "an `await`",
        "async": "an `async` statement",
        "global_statement": "a `global` statement",
        "nonlocal_statement": "a `nonlocal` statement",
        "delete_statement": "a `del` statement",
        "wildcard_import": "an `import *`",
        "future_import_statement": "an import from the future",
    },
    calls=frozenset({"call"}),
)

"""Whether an expression may be evaluated at the start of its statement instead of in its place. Knows no refactoring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Grammar, around, field_of, inner
from mercury_lsp.refactor.names import COMPREHENSIONS, Names
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset(
    "undefined integer float string string_start string_content string_end true false none null nil number string_fragment escape_sequence"
    " int_literal float_literal rune_literal interpreted_string_literal interpreted_string_literal_content raw_string_literal"
    " raw_string_literal_content decimal_integer_literal hex_integer_literal decimal_floating_point_literal string_literal"
    " character_literal null_literal integer_literal boolean_literal char_literal concatenated_string".split()
)
_OPERATORS = frozenset(
    {"binary_operator", "unary_operator", "binary_expression", "unary_expression", "parenthesized_expression", "not_operator"}
)
_ACCESSES = frozenset(
    "attribute subscript member_expression subscript_expression selector_expression index_expression field_access array_access"
    " field_expression slice_expression".split()
)
_EFFECTS = frozenset(
    "call call_expression new_expression method_invocation object_creation_expression macro_invocation await await_expression yield"
    " yield_expression assignment_expression augmented_assignment_expression update_expression named_expression compound_assignment_expr"
    " delete_statement unary_expression_delete receive_expression try_expression".split()
)
_HEADS = frozenset({"right", "value", "initializer", "init", "subject"})  # of what is evaluated once at the start of a statement
_SHORT = ("&&", "||", "??", "and", "or")
_NOT_HERE = frozenset(
    "parameters formal_parameters default_parameter typed_default_parameter decorator elif_clause else_clause except_clause catch_clause"
    " match_arm switch_case case_clause expression_case type_case switch_label switch_rule update increment type annotation"
    " communication_case".split()
)


def is_constant(node: Node) -> bool:
    """Whether it is made of literals alone."""
    return all(each.type in _LITERALS or each.type in _OPERATORS or not each.is_named for each in inner(node))


def is_plain(node: Node, names: Names) -> bool:
    """Whether it only computes with literals and variables."""
    allowed = _LITERALS | _OPERATORS | names.grammar.identifiers
    return all(each.type in allowed or not each.is_named for each in inner(node))


def has_effects(node: Node) -> bool:
    return any(each.type in _EFFECTS or "macro" in each.type for each in inner(node))


def has_access(node: Node) -> bool:
    """Whether it looks into something that a call may change."""
    return any(each.type in _ACCESSES for each in inner(node))


def statement_of(node: Node, grammar: Grammar) -> Node | None:
    """The statement of a block that `node` is in."""
    for above in around(node):
        if above.type in grammar.bodies and node.is_named:
            return node
        node = above
    return None


def check_first(node: Node, statement: Node, names: Names, value: Node | None = None) -> None:
    """Raises `Refused` where to evaluate `value` (else `node`) before all of `statement`, not in the place of `node`, would differ."""
    value = value or node
    if is_constant(value) and not _is_own_function(node, statement, names.grammar):
        return
    for above, child in _path(node, statement):
        _check_step(above, child, names.grammar)
    before = list(_before(node, statement, names))
    if any(each.type in _EFFECTS for each in before) or any(each.type == "optional_chain" for each in before):
        raise Refused("something before it in the same statement might change its value")
    if has_effects(value) and any(each.type in _ACCESSES and not _is_called(each) for each in before):
        raise Refused("it might change what stands before it in the same statement")


def _path(node: Node, statement: Node) -> Iterator[tuple[Node, Node]]:
    """Each node from the one above `node` up to the statement, with the child that the way comes from."""
    while node.id != statement.id:
        above = node.parent
        if above is None:
            return
        yield above, node
        node = above


def _is_own_function(node: Node, statement: Node, grammar: Grammar) -> bool:
    return any(above.type in grammar.classes for above, _ in _path(node, statement))


def _check_step(above: Node, child: Node, grammar: Grammar) -> None:
    kind, field = above.type, field_of(child)
    if kind in grammar.functions or kind in grammar.classes or kind in COMPREHENSIONS:
        raise Refused("it is evaluated in a function or a comprehension, not once in its statement")
    if kind in grammar.loops and field not in _HEADS:
        raise Refused("it is evaluated again and again in a loop")
    if kind in grammar.branches and field not in ("condition", "initializer"):
        raise Refused("it stands in a branch without braces")
    if kind in ("for_clause", "for_in_clause") and field not in _HEADS:
        raise Refused("it is evaluated again and again in a loop")
    if kind in _NOT_HERE or child.type in _NOT_HERE:
        raise Refused("it is only evaluated in some cases")
    if kind in grammar.conditionals and _is_conditional(above, child):
        raise Refused("it is only evaluated in some cases")


def _is_conditional(above: Node, child: Node) -> bool:
    children = above.named_children
    if above.type == "conditional_expression":
        return children[1].id != child.id
    if above.type in ("ternary_expression", "boolean_operator"):
        return children[0].id != child.id
    if above.type == "comparison_operator":
        return len(children) > 2 and child.id not in (children[0].id, children[1].id)
    operator = above.child_by_field_name("operator")
    return operator is not None and operator.type in _SHORT and children[0].id != child.id


def _before(node: Node, statement: Node, names: Names) -> Iterator[Node]:
    """What is evaluated before `node` in its statement."""
    for above, child in _path(node, statement):
        for sibling in above.children:
            if sibling.end_byte <= child.start_byte:
                yield from inner(sibling)
        late = names.tree.language == "python" and above.type in names.grammar.assignments
        right = above.child_by_field_name("right")
        if late and right is not None and field_of(child) == "left":
            yield from inner(right)


def _is_called(node: Node) -> bool:
    above = node.parent
    return above is not None and above.type in _EFFECTS and field_of(node) in ("function", "constructor")

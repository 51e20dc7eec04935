"""Whether an expression is a value that something else can stand for, or a place, a pattern, a part of something. Raises `Refused`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import around, field_of
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLS = frozenset({"call", "call_expression", "method_invocation"})
_CLOSED = frozenset(
    {"token_tree", "annotation", "marker_annotation", "macro_definition", "import_statement", "import_from_statement", "use_declaration"}
)
_TARGETS = frozenset(
    "array_pattern object_pattern pair_pattern pattern_list tuple_pattern list_pattern expression_list parenthesized_expression".split()
)
_SETTING = frozenset("for_statement for_in_statement for_in_clause range_clause short_var_declaration receive_statement".split())
_ACCESSES = frozenset("selector_expression field_expression index_expression parenthesized_expression".split())
_PLACES = frozenset("update_expression inc_statement dec_statement reference_expression delete_statement compound_assignment_expr".split())
_COPYING = frozenset({"go", "rust"})  # languages in which a value of its own is another one


def check_value(names: Names, expression: Node) -> None:
    above = expression.parent
    if expression.type in names.grammar.identifiers:
        raise Refused("the selection is a name already")
    if above is None or any(each.type in _CLOSED or each.type.startswith("attribute_") for each in around(expression)):
        raise Refused("the selection stands in a macro, an annotation or an import")
    if above.type in _CALLS and field_of(expression) == "function":
        raise Refused("the selection is a method that is called: select the call as well")
    if above.type in ("type_annotation", "generic_type", "labeled_statement", "keyed_element") or field_of(expression) == "alias":
        raise Refused("the selection is not a value")
    _check_place(names, expression)
    if names.tree.language in _COPYING:
        whole = expression
        while whole.parent is not None and whole.parent.type in _ACCESSES and whole.parent.named_children[0].id == whole.id:
            whole = whole.parent
        if whole.id != expression.id:
            _check_copied(names, expression, whole)


def _check_place(names: Names, expression: Node) -> None:
    """Whether it is set, changed, or referred to."""
    whole = expression
    while whole.parent is not None and whole.parent.type in _TARGETS:
        whole = whole.parent
    above = whole.parent
    assigns = above is not None and (above.type in names.grammar.assignments or above.type in _SETTING)
    if assigns and field_of(whole) in ("left", "name", "pattern"):
        raise Refused("the selection is set: it is not a value")
    if above is not None and above.type in _PLACES:
        raise Refused("the selection is a place, not a value")
    if above is not None and above.type == "unary_expression" and any(child.type in ("&", "delete", "typeof") for child in above.children):
        raise Refused("the selection is a place, not a value")


def _check_copied(names: Names, expression: Node, whole: Node) -> None:
    """Whether something is done to a part of it, which would be done to a part of a copy."""
    called = whole.parent is not None and whole.parent.type in _CALLS and field_of(whole) == "function"
    if called and expression.type not in _CALLS:
        raise Refused("a method is called on the selection, which would be called on a copy")
    _check_place(names, whole)

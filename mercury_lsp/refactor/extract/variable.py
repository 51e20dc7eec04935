"""Extracts the selected expression to a variable before its statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor import naming
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract.go_types import gives_one
from mercury_lsp.refactor.extract.java_types import expression_type
from mercury_lsp.refactor.extract.rust_guards import check_let_go
from mercury_lsp.refactor.extract.semicolons import closing
from mercury_lsp.refactor.extract.value import check_value
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.order import check_first, is_constant, statement_of
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import Selection

if TYPE_CHECKING:
    from tree_sitter import Node


def extract_variable(names: Names, selection: Selection, name: str = "") -> tuple[list[Replace], str]:
    """The changes, and the variable's name: `name`, or one made from the expression. Raises `Refused`."""
    expression, tree = _expression(selection), names.tree
    statement = statement_of(expression, names.grammar)
    if statement is None or (statement.parent is not None and _is_class(statement.parent)):
        raise Refused("the expression does not stand in a statement that something can go before")
    check_value(names, expression)
    if tree.language == "go" and not gives_one(names, expression):
        raise Refused("the call may return more than one value")
    if tree.language == "java" and ("<>" in tree.text_of(expression) or expression.type in ("lambda_expression", "method_reference")):
        raise Refused("the type of the selection comes from where it stands")
    if tree.language == "rust":
        check_let_go(names, expression, "the selection")
    _check_names(names, expression, statement)
    check_first(expression, statement, names)
    chosen = name or naming.for_variable(names, expression)
    start, end = tree.char(expression.start_byte), tree.char(expression.end_byte)
    at = tree.char(statement.start_byte)
    line_start = tree.text.rfind("\n", 0, at) + 1
    lead = tree.text[line_start:at]
    joint = f"\n{lead}" if not lead.strip() else " " if tree.language != "python" else "; "
    declaration = _declaration(names, expression, chosen, tree.text[start:end], tree.text[at:]) + joint
    if statement.id == expression.id or (statement.type == "expression_statement" and statement.named_children[0].id == expression.id):
        raise Refused("the expression is a statement of its own: there is nothing to use the variable in")
    return [Replace(at, at, declaration), Replace(start, end, chosen)], chosen


def _expression(selection: Selection) -> Node:
    if selection.expression is None:
        raise Refused("select one whole expression")
    expression = selection.expression
    while expression.type == "parenthesized_expression" and expression.named_child_count == 1:
        expression = expression.named_children[0]  # the brackets may be those of an `if`
    return expression


def _declaration(names: Names, expression: Node, name: str, text: str, following: str) -> str:
    language = names.tree.language
    if language == "python":
        bare = "\n" in text and not (text[0] in "([{" and text[-1] in ")]}")
        return f"{name} = ({text})" if bare else f"{name} = {text}"
    if language == "go":  # a constant stays without a type, as the literals are
        return f"const {name} = {text}" if is_constant(expression) else f"{name} := {text}"
    if language == "rust":
        return f"let {name} = {text};"
    if language == "java":
        return f"{expression_type(names, expression) or 'var'} {name} = {text};"
    return f"const {name} = {text}{closing(names.tree, following)}"


def _check_names(names: Names, expression: Node, statement: Node) -> None:
    for use in names.within(expression.start_byte, expression.end_byte):
        if use.writes and not (use.binding is not None and _is_inside(use.binding.scope.node, expression)):
            raise Refused(f"the selection changes `{use.name}`")
        if use.binding is not None and statement.start_byte <= use.binding.at.start_byte < expression.start_byte:
            raise Refused(f"`{use.name}` is only known inside of the statement")


def _is_inside(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _is_class(body: Node) -> bool:
    return body.parent is not None and body.parent.type == "class_definition"

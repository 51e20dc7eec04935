"""Types that the syntax tree of Python tells: what a default says, and that nothing is returned. Knows no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.written.functions import Function
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = {"true": "bool", "false": "bool", "string": "str"}  # a number may stand for one of another kind
_NESTED = frozenset({"function_definition", "class_definition", "lambda"})


def known_types(function: Function) -> list[Replace]:
    """Annotations where there are none; of other languages none."""
    parameters = function.node.child_by_field_name("parameters")
    if not function.is_python or parameters is None:
        return []
    found = [_typed(function.tree, each) for each in parameters.named_children if each.type == "default_parameter"]
    replaces = [each for each in found if each is not None]
    if function.node.child_by_field_name("return_type") is None and _returns_nothing(function):
        at = function.tree.char(parameters.end_byte)
        replaces.append(Replace(at, at, " -> None"))
    return replaces


def _typed(tree: Tree, parameter: Node) -> Replace | None:
    name, value = parameter.child_by_field_name("name"), parameter.child_by_field_name("value")
    if name is None or value is None or value.type not in _LITERALS or tree.text_of(value).startswith(("b", "B")):
        return None
    return Replace(tree.char(name.end_byte), tree.char(value.start_byte), f": {_LITERALS[value.type]} = ")


def _returns_nothing(function: Function) -> bool:
    """A stub returns what others make of it."""
    if function.name == "__init__":
        return True
    inside = list(inner(function.body, _NESTED))
    returns = any(node.type == "yield" or (node.type == "return_statement" and node.named_child_count) for node in inside)
    return not returns and not function.is_stub() and not any(node.type == "raise_statement" for node in function.statements())

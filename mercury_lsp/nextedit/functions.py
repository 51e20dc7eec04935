"""Functions with their parameters, and calls with their arguments, in the same words for every language. Knows no edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from mercury_lsp.nextedit.names import Place, places
from mercury_lsp.nextedit.scopes import enclosing_class, is_function
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLEES = ("function", "name", "method", "constructor", "type")
_SELF = re.compile(r"(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self\b|cls\b|this\b")
_CONSTRUCTORS = frozenset({"__init__", "constructor", "__construct", "initialize"})
_NAME = re.compile(r"[^\W\d]\w*")


class Item(NamedTuple):
    """A parameter or an argument."""

    start: int
    end: int
    text: str
    name: str  # of a parameter; of an argument with a name that name, else ""
    optional: bool  # a parameter that a call may leave out; of an argument whether it spreads


class Listed(NamedTuple):
    """A function or a call. `start` and `end` are of the list with its brackets."""

    name: str
    node: Node
    items: tuple[Item, ...]
    start: int
    end: int
    text: str  # of the list with its brackets
    has_body: bool = False


def function_at(tree: Tree, at: int) -> Listed | None:
    """The innermost function whose parameter list is around `at`."""
    node = tree.node_at(at, at)
    while node is not None:
        if _parameters(node) is not None:
            listed = _function(tree, node)
            if listed is not None and listed.start <= at <= listed.end:
                return listed
        node = node.parent
    return None


def functions_named(tree: Tree, name: str) -> Iterator[Listed]:
    """The functions and prototypes of that name, in order."""
    for place in places(tree, name):
        node = place.node.parent if place.declared else None
        for _ in range(3):
            if node is not None and _parameters(node) is not None:
                function = _function(tree, node)
                if function is not None and function.name == name and place.end <= function.start:
                    yield function
                break
            node = node.parent if node is not None else None


def callee_name(tree: Tree, function: Listed) -> str | None:
    """What a call of the function is known by: of a constructor the class."""
    if function.name not in _CONSTRUCTORS:
        return function.name
    home = enclosing_class(function.node)
    name = home.child_by_field_name("name") if home is not None else None
    return None if name is None else tree.text_of(name)


def calls(tree: Tree, name: str) -> Iterator[tuple[Place, Listed]]:
    """The calls of what has that name, in order, each with the place of the name."""
    for place in places(tree, name):
        call = call_of(tree, place)
        if call is not None:
            yield place, call


def call_of(tree: Tree, place: Place) -> Listed | None:
    """The call whose function's name stands at `place`."""
    callee, node = place.node, place.node.parent
    for _ in range(3):
        if node is None:
            return None
        arguments = node.child_by_field_name("arguments") or _object_arguments(node)
        if arguments is not None and callee != arguments:
            named = any(node.child_by_field_name(field) == callee for field in _CALLEES)
            return _listed(tree, tree.text_of(place.node), node, arguments, _argument) if named else None
        if callee.end_byte != node.end_byte or is_function(node):
            return None
        callee, node = node, node.parent
    return None


def keyword_places(tree: Tree, place: Place, old: str) -> Iterator[Place]:
    """Where calls name a parameter that is declared at `place` by its old name."""
    if tree.language not in ("python", "csharp", "ruby"):
        return
    function = function_at(tree, place.start)
    name = callee_name(tree, function) if function is not None else None
    for _, call in calls(tree, name) if name else ():
        yield from (each for each in places(tree, old, call.start, call.end) if each.role == "key" and _is_direct(tree, each, call))


def _is_direct(tree: Tree, place: Place, call: Listed) -> bool:
    return any(item.start == place.start and item.name for item in call.items)


def _object_arguments(node: Node) -> Node | None:
    """Arguments that a grammar gives no field."""
    if node.type not in ("object_creation_expression", "new_expression", "function_call"):
        return None
    return next((child for child in node.named_children if child.type.endswith("arguments") or child.type == "argument_list"), None)


def _parameters(node: Node) -> Node | None:
    return node.child_by_field_name("parameters")


def _function(tree: Tree, node: Node) -> Listed | None:
    parameters = _parameters(node)
    name = _name_of(node)
    if parameters is None or name is None:
        return None
    listed = _listed(tree, _last_word(tree.text_of(name)), node, parameters, _parameter)
    kept = tuple(item for number, item in enumerate(listed.items) if number or not _SELF.match(item.text))
    return listed._replace(items=kept)


def _has_body(node: Node) -> bool:
    while node.type.endswith("declarator") and node.parent is not None:
        node = node.parent
    return node.child_by_field_name("body") is not None


def _name_of(node: Node) -> Node | None:
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    parent = node.parent
    if (
        name is None
        and parent is not None
        and parent.type in ("variable_declarator", "public_field_definition", "field_definition", "pair")
    ):
        name = parent.child_by_field_name("name") or parent.child_by_field_name("property") or parent.child_by_field_name("key")
    return name


def _listed(tree: Tree, name: str, node: Node, listing: Node, item: Callable[[Tree, Node], Item]) -> Listed:
    start, end = tree.span(listing)
    children = [child for child in listing.named_children if "comment" not in child.type]
    return Listed(name, node, tuple(item(tree, child) for child in children), start, end, tree.text[start:end], _has_body(node))


def _parameter(tree: Tree, node: Node) -> Item:
    start, end = tree.span(node)
    text = tree.text_of(node)
    optional = "=" in text.replace("=>", "") or text.lstrip("&").startswith(("*", "...", "/")) or "..." in text or "optional" in node.type
    return Item(start, end, text, _parameter_name(tree, node), optional)


def _parameter_name(tree: Tree, node: Node) -> str:
    """The first word of most languages; behind a type the last one."""
    for field in ("name", "pattern", "declarator"):
        child = node.child_by_field_name(field)
        if child is not None and child != node:
            return _parameter_name(tree, child)
    words = _NAME.findall(tree.text_of(node))
    return words[0] if words else tree.text_of(node)


def _argument(tree: Tree, node: Node) -> Item:
    start, end = tree.span(node)
    text = tree.text_of(node)
    name = node.child_by_field_name("name") if node.type in ("keyword_argument", "argument", "pair") else None
    spreads = text.startswith(("*", "...", "**")) and node.type not in ("pointer_expression", "unary_expression") or text.endswith("...")
    return Item(start, end, text, tree.text_of(name) if name is not None else "", spreads)


def _last_word(text: str) -> str:
    words = _NAME.findall(text)
    return words[-1] if words else text

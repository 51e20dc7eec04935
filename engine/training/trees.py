"""Syntax trees of source files, asked for names, functions and calls in the same words for every language. Knows no edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType

from tree_sitter import Language, Node, Parser, Query, QueryCursor, QueryError

_GRAMMARS = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language"),
        "javascript": ("tree_sitter_javascript", "language"),
        "typescript": ("tree_sitter_typescript", "language_tsx"),
        "go": ("tree_sitter_go", "language"),
        "rust": ("tree_sitter_rust", "language"),
        "java": ("tree_sitter_java", "language"),
        "c": ("tree_sitter_c", "language"),
        "c++": ("tree_sitter_cpp", "language"),
        "c#": ("tree_sitter_c_sharp", "language"),
        "ruby": ("tree_sitter_ruby", "language"),
        "php": ("tree_sitter_php", "language_php"),
        "lua": ("tree_sitter_lua", "language"),
        "shell": ("tree_sitter_bash", "language"),
    }
)
# Patterns that a grammar without such nodes or fields refuses are left out for its language.
_NAMES = (
    "identifier", "property_identifier", "field_identifier", "type_identifier", "shorthand_property_identifier",
    "shorthand_property_identifier_pattern", "name", "constant", "variable_name",
)  # fmt: skip
_DECLARATOR = "(function_declarator declarator: (_) @name parameters: (_) @list)"
_FUNCTIONS = (
    "(_ name: (_) @name parameters: (_) @list) @whole",
    f"(function_definition declarator: {_DECLARATOR}) @whole",
    f"(function_definition declarator: (pointer_declarator declarator: {_DECLARATOR})) @whole",
)
_CALLS = (
    "(_ function: (_) @name arguments: (_) @list) @whole",
    "(_ name: (_) @name arguments: (_) @list) @whole",
    "(_ method: (_) @name arguments: (_) @list) @whole",
)
_MEMBERS = frozenset(
    "attribute keyword_argument field_access member_access_expression method_invocation dot_index_expression method_index_expression"
    " member_call_expression scoped_call_expression qualified_identifier scoped_identifier named_argument field_expression".split()
)
_MEMBER_FIELDS = ("attribute", "name", "field", "method")
_DECLARING_FIELDS = ("left", "pattern", "name", "declarator")
_DECLARING = ("assignment", "declara", "parameter", "for_", "foreach", "range_clause", "short_var", "with_item", "as_pattern")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A function with its parameters, or a call with its arguments."""

    name: str  # the last part of it
    whole: Node
    opening: Node  # the node that is its name, with what stands in front of a dot
    items: tuple[Node, ...]


def has_grammar(language: str) -> bool:
    return language in _GRAMMARS


def parse(language: str, text: str) -> Node:
    """The root. Offsets in its nodes are bytes of the text in UTF-8."""
    return _parser(language).parse(text.encode()).root_node


def functions(language: str, node: Node) -> list[Listed]:
    """The functions in a node that have a name, in order."""
    return list(_listed(_query(language, _FUNCTIONS), node))


def calls(language: str, node: Node) -> list[Listed]:
    """The calls in a node, in order."""
    return list(_listed(_query(language, _CALLS), node))


def names(language: str, node: Node) -> list[Node]:
    """The leaves in a node that are names, in order: no keyword, no string, no comment."""
    query = _query(language, tuple(f"({kind}) @name" for kind in _NAMES))
    if query is None:
        return []
    found = QueryCursor(query).captures(node).get("name", [])
    leaves = {leaf.start_byte: leaf for leaf in found if leaf.named_child_count == 0}
    return [leaves[start] for start in sorted(leaves)]


def is_member(node: Node) -> bool:
    """Whether a name is that of something inside of something else, or of an argument: a local variable it is not."""
    if node.type not in ("identifier", "name", "variable_name"):
        return True
    parent = node.parent
    if parent is None or (parent.type not in _MEMBERS and not (parent.type == "call" and parent.child_by_field_name("receiver"))):
        return False
    return any(parent.child_by_field_name(field) == node for field in _MEMBER_FIELDS)


def is_declared(node: Node) -> bool:
    """Whether a name is given its first value there, as a parameter or by an assignment."""
    child, parent = node, node.parent
    for _ in range(3):
        if parent is None:
            return False
        if parent.type.endswith(("parameters", "parameter_list")):
            return True
        if any(word in parent.type for word in _DECLARING):
            return any(parent.child_by_field_name(field) == child for field in _DECLARING_FIELDS) or (
                "parameter" in parent.type and parent.named_child(0) == child
            )
        child, parent = parent, parent.parent
    return False


def text_of(node: Node) -> str:
    assert node.text is not None
    return node.text.decode()


def _listed(query: Query | None, node: Node) -> Iterator[Listed]:
    if query is None:
        return
    for _, found in QueryCursor(query).matches(node):
        opening, listing, whole = found["name"][0], found["list"][0], found["whole"][0]
        name = text_of(opening).replace("::", ".").replace("->", ".").replace(":", ".").rpartition(".")[2]
        items = tuple(child for child in listing.named_children if child.type != "comment")
        yield Listed(name=name, whole=whole, opening=opening, items=items)


@cache
def _language(language: str) -> Language:
    module, function = _GRAMMARS[language]
    return Language(getattr(import_module(module), function)())


@cache
def _parser(language: str) -> Parser:
    return Parser(_language(language))


@cache
def _query(language: str, patterns: tuple[str, ...]) -> Query | None:
    """The patterns that the grammar takes, as one query."""
    taken = [pattern for pattern in patterns if _takes(language, pattern)]
    return Query(_language(language), "\n".join(taken)) if taken else None


def _takes(language: str, pattern: str) -> bool:
    try:
        Query(_language(language), pattern)
    except QueryError:
        return False
    return True

"""Where a name stands in a syntax tree, and as what: a variable, a member, a key. Knows no edit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from mercury_lsp.nextedit.declared import is_declared, is_declared_in_class
from mercury_lsp.nextedit.kinds import ACCESS, KEYS, NAMES, is_field
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_IMPORTS = frozenset("import_statement import_from_statement use_declaration import_declaration import_spec".split())

# plain: a variable, function or type, used or declared; member: behind a dot, or declared in a class; key: of an argument or a field of a
# literal; shorthand: `{name}`, a key and a variable in one.
Role = Literal["plain", "member", "key", "shorthand"]


class Place(NamedTuple):
    """A name in a text; offsets are code points."""

    start: int
    end: int
    node: Node
    role: Role
    declared: bool


def places(tree: Tree, name: str, start: int = 0, end: int | None = None) -> Iterator[Place]:
    """Everywhere that `name` stands as a name, in order: not in strings, comments and longer words."""
    name_alone = re.compile(rf"(?<![\w$])\$?({re.escape(name)})(?![\w$])")
    for match in name_alone.finditer(tree.text, max(0, start - 1), len(tree.text) if end is None else end):
        if match.start(1) >= start and (place := place_at(tree, match.start(1), match.end(1))) is not None:
            yield place


def place_at(tree: Tree, start: int, end: int) -> Place | None:
    """The name that is exactly there."""
    node = tree.node_at(start, end)
    if node is None or node.type not in NAMES or tree.span(node) not in ((start, end), (start - 1, end)):
        return None
    if node.type == "variable_name" and node.parent is not None and node.named_child_count:
        return None
    if node.type == "name" and node.parent is not None and node.parent.type == "variable_name":
        node = node.parent
    return Place(start, end, node, role(node), is_declared(node, tree.language))


def role(node: Node) -> Role:
    kind, parent = node.type, node.parent
    if kind.startswith("shorthand") or (parent is not None and parent.type == "shorthand_field_initializer"):
        return "shorthand"
    if parent is None:
        return "plain"
    if is_field(parent, ACCESS.get(parent.type), node) or (
        parent.type == "call" and parent.child_by_field_name("receiver") and is_field(parent, "method", node)
    ):
        return "member"
    if is_field(parent, KEYS.get(parent.type), node) or parent.type == "field_designator" or _is_key_of_struct(node):
        return "key"
    return "member" if is_declared_in_class(node) else "plain"


def is_imported(place: Place) -> bool:
    """Whether it stands in an import: as what is brought in, or in the path that leads there."""
    around = place.node.parent
    while around is not None and around.type not in _IMPORTS:
        around = around.parent
    return around is not None


def _is_key_of_struct(node: Node) -> bool:
    """`Point{x: 1}` of Go."""
    element = node.parent
    keyed = element.parent if element is not None and element.type == "literal_element" else None
    if keyed is None or keyed.type != "keyed_element" or keyed.named_child(0) != element:
        return False
    literal = keyed.parent.parent if keyed.parent is not None else None
    of = literal.child_by_field_name("type") if literal is not None else None
    return of is not None and of.type in ("type_identifier", "qualified_type")

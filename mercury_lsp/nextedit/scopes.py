"""How far a name reaches, and whose member it is. Knows no edit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mercury_lsp.nextedit.kinds import BLOCKS, BY_NAME, CLASSES, FUNCTION_SCOPED, FUNCTIONS, OWN, PROTOTYPES, RECEIVERS, is_field
from mercury_lsp.nextedit.names import Place
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node


def scope_of(place: Place, language: str) -> Node:
    """The node in which a plain declared name means this."""
    node, name_of, in_list = place.node.parent, _named_by(place.node), False
    while node is not None and node.parent is not None:
        in_list = in_list or node.type == "parameter_list"
        if node != name_of and (_is_scope(node, language) or (in_list and node.type in PROTOTYPES)):
            return node
        node = node.parent
    assert node is not None
    return node


def is_class(node: Node) -> bool:
    return node.type in CLASSES


def is_function(node: Node) -> bool:
    return node.type in FUNCTIONS


def enclosing_class(node: Node) -> Node | None:
    around = node.parent
    while around is not None and not is_class(around):
        around = around.parent
    return around


def receiver(tree: Tree, place: Place) -> str | None:
    """The text before the dot of a member, None where there is none."""
    parent = place.node.parent
    for field in RECEIVERS if parent is not None else ():
        before = parent.child_by_field_name(field) if parent is not None else None
        if before is not None and before != place.node:
            return tree.text_of(before)
    return None


def is_own(text: str | None) -> bool:
    """Whether a receiver is the object itself."""
    return text in OWN


def class_of(tree: Tree, node: Node) -> str | None:
    """The name of the type whose member `node` is or lies in: by the class around it, or a method's receiver."""
    around = node.parent
    while around is not None:
        named = around.child_by_field_name("type" if around.type == "impl_item" else "name") if is_class(around) else None
        if named is not None:
            return tree.text_of(named).partition("<")[0]
        owner = around.child_by_field_name("receiver") if around.type == "method_declaration" else None
        if owner is not None:
            return _last_word(tree.text_of(owner).partition("[")[0])
        around = around.parent
    return None


def is_own_place(tree: Tree, place: Place) -> bool:
    """Whether a member is the object's own: of `self`, of `this`, or of what a method of Go calls its receiver."""
    before = receiver(tree, place)
    if is_own(before) or before is None:
        return True
    around = place.node.parent
    while around is not None and around.type != "method_declaration":
        around = around.parent
    owner = around.child_by_field_name("receiver") if around is not None else None
    return owner is not None and tree.text_of(owner).strip("()").split(" ")[0] == before


def _last_word(text: str) -> str | None:
    words = re.findall(r"[^\W\d]\w*", text)
    return words[-1] if words else None


def _named_by(node: Node) -> Node | None:
    """The function or class that `node` is the name of: it reaches beyond that."""
    child, parent = node, node.parent
    while parent is not None and parent.type.endswith("declarator") and parent.type != "variable_declarator":
        child, parent = parent, parent.parent
    if parent is None or not (parent.type in FUNCTIONS or parent.type in CLASSES or parent.type in BY_NAME):
        return None
    return parent if any(is_field(parent, field, child) for field in ("name", "declarator")) else None


def _is_scope(node: Node, language: str) -> bool:
    if node.type in FUNCTIONS or node.type in CLASSES:
        return True
    return language not in FUNCTION_SCOPED and node.type in BLOCKS

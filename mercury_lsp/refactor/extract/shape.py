"""What all languages share when a function is made of a plan: where it goes, what its body is, what calls it. Knows no language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mercury_lsp.refactor import layout
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract.plan import Plan, last_end
from mercury_lsp.refactor.grammars.grammar import around
from mercury_lsp.refactor.names import Binding
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node


def member(plan: Plan, bodies: frozenset[str]) -> Node | None:
    """The part of a class (or of the document) that the selection is in: what stands directly in a node of kinds `bodies`."""
    node = plan.nodes[0]
    for above in around(node):
        if above.type in bodies:
            return node
        node = above
    return None


def body(plan: Plan, space: str) -> str:
    """The selected statements at the depth `space`."""
    return layout.moved(plan.names.tree, plan.start, last_end(plan), plan.nodes, space)


def expression(plan: Plan, space: str) -> str:
    """The selected expression as it follows a `return` at the depth `space`."""
    tree = plan.names.tree
    return layout.moved(tree, plan.start, plan.end, plan.nodes, space).removeprefix(space)


def replaced(plan: Plan, call: str) -> Replace:
    """The call in place of the selection."""
    tree = plan.names.tree
    lines = call.split("\n")
    space = layout.leading(tree, plan.start)
    text = "\n".join([lines[0], *(space + line for line in lines[1:])])
    return Replace(tree.char(plan.start), tree.char(plan.end if plan.value else last_end(plan)), text)


def inserted(plan: Plan, byte: int, text: str) -> Replace:
    at = plan.names.tree.char(byte)
    return Replace(at, at, text)


def above(node: Node) -> int:
    """Where something goes before `node`: above the comments that stand right over it."""
    start = node
    while (before := start.prev_sibling) is not None and "comment" in before.type and start.start_point.row - _last_row(before) <= 1:
        if before.prev_sibling is not None and before.prev_sibling.end_point.row == before.start_point.row:
            break  # it belongs to the line that it stands behind
        start = before
    return start.start_byte


def line_end(plan: Plan, node: Node) -> int:
    """Where something goes after `node`: at the end of its last line."""
    tree = plan.names.tree
    char = tree.char(node.end_byte)
    if char > 0 and tree.text[char - 1] == "\n":
        return tree.byte(char - 1)
    end = tree.text.find("\n", char)
    rest = tree.text[char : end if end >= 0 else len(tree.text)].strip()
    return tree.byte(end if end >= 0 else len(tree.text)) if not rest or rest[0] in ";,#/" else node.end_byte


def joined(names: Iterable[str]) -> str:
    return ", ".join(names)


def type_parameters(plan: Plan) -> list[Binding]:
    """Those that the selection or the types of its parameters speak of."""
    spans = [(plan.start, plan.end)]
    spans += [(node.start_byte, node.end_byte) for each in (*plan.parameters, *plan.results) if (node := each.declared.type) is not None]
    used = [use.binding for span in spans for use in plan.names.within(*span)]
    owned = [each for each in used if each is not None and each.at.parent is not None and each.at.parent.type.startswith("type_parameter")]
    return list(dict.fromkeys(owned))


def only(plan: Plan, most: int) -> None:
    """Raises `Refused` where more results are needed than a function can have."""
    if len(plan.results) > most:
        names = " and ".join(f"`{binding.name}`" for binding in plan.results)
        raise Refused(f"{names} are all used after the selection, and a function returns one value")


def _last_row(node: Node) -> int:
    return node.end_point.row - (node.end_point.column == 0)

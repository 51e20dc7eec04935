"""What rewriters of code ask about nodes, and the edits they answer with. Knows no task."""

from __future__ import annotations

import re

import tree_sitter

from engine.training.syntax import Source

Edit = tuple[int, int, str]  # from, to, what is written there instead

_OPPOSITE = {"===": "!==", "!==": "===", "==": "!=", "!=": "==", ">=": "<", "<=": ">", "<": ">=", ">": "<="}


def replaced(source: Source, node: tree_sitter.Node, text: str) -> Edit:
    """The edit that puts `text` in place of a node."""
    return (*source.span(node), text)


def line_indent(source: Source, node: tree_sitter.Node) -> str:
    """The indentation of the line a node starts in."""
    line = source.lines[node.start_point.row]
    return line[: len(line) - len(line.lstrip())]


def alone(source: Source, node: tree_sitter.Node) -> bool:
    """Whether a node has its lines for itself."""
    start, end = source.span(node)
    before = source.text[source.starts[node.start_point.row] : start]
    after = source.lines[node.end_point.row][end - source.starts[node.end_point.row] :]
    return not before.strip() and after.strip() in ("", ";")


def own_step(source: Source, node: tree_sitter.Node) -> str:
    """What the block that holds a statement is indented by."""
    holder = node.parent.parent if node.parent is not None else None
    outer, own = line_indent(source, holder) if holder is not None else "", line_indent(source, node)
    return own[len(outer) :] if len(own) > len(outer) else "    "


def deeper(source: Source, first: int, end: int, by: str) -> str | None:
    """Rows `first`…`end` − 1 indented further; None where a string runs over a line's end, which that would change."""
    if any(line.startswith("\x01") for line in source.code_lines[first + 1 : end]):
        return None
    return "\n".join(by + line if line.strip() else line for line in source.lines[first:end])


def field(node: tree_sitter.Node, name: str, *kinds: str) -> tree_sitter.Node | None:
    """The child of this name, if it is of one of these kinds or none are given."""
    child = node.child_by_field_name(name)
    return child if child is not None and (not kinds or child.type in kinds) else None


def only(node: tree_sitter.Node, *kinds: str) -> tree_sitter.Node | None:
    """The one named child, if it is of these kinds."""
    return node.named_children[0] if node.named_child_count == 1 and node.named_children[0].type in kinds else None


def one_line(*nodes: tree_sitter.Node) -> bool:
    """Whether none of the nodes runs over a line's end."""
    return all(node.start_point.row == node.end_point.row for node in nodes)


def negated(source: Source, comparison: tree_sitter.Node) -> str | None:
    """A comparison with the opposite sign."""
    text, code = source.of(comparison), source.code[slice(*source.span(comparison))]
    signs = list(re.finditer(r" (===|!==|==|!=|>=|<=|<|>) ", code))
    if len(signs) != 1 or "\n" in text or "&&" in code or "||" in code:
        return None
    start, end = signs[0].span(1)
    return text[:start] + _OPPOSITE[signs[0][1]] + text[end:]

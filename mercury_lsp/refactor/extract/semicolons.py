"""Where a statement of JavaScript needs a semicolon: where the document has them, and where the next line would go on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_GOES_ON = tuple("([`+-*/.,?:%&|^<>=!")
_BLOCKS = frozenset(
    "if_statement for_statement for_in_statement while_statement try_statement switch_statement function_declaration class_declaration"
    " generator_function_declaration statement_block labeled_statement".split()
)


def closing(tree: Tree, after: str) -> str:
    """What ends a statement that `after` follows."""
    following = after.lstrip()
    goes_on = following.startswith(_GOES_ON) and not following.startswith(("//", "/*"))
    return ";" if goes_on or _usual(tree) else ""


def opening(tree: Tree, first: Node) -> str:
    """What a statement that begins with a bracket needs before it, in the place of `first`."""
    before = first.prev_named_sibling
    while before is not None and "comment" in before.type:
        before = before.prev_named_sibling
    if before is None or tree.text_of(before).endswith(";"):
        return ""
    return "" if before.type in _BLOCKS and tree.text_of(before).endswith("}") else ";"


def _usual(tree: Tree) -> bool:
    """Whether the document ends its statements with them."""
    lines = [line.rstrip() for line in tree.text.split("\n")]
    return sum(line.endswith(";") for line in lines) >= sum(line.endswith((")", "'", '"')) for line in lines) / 4

"""What a range of a document selects: whole statements of one block, or one expression. Knows no refactoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Grammar, around
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_NOT_EXPRESSIONS = frozenset(
    "argument_list arguments parameters block statement_block string_content string_fragment comment line_comment block_comment type"
    " property_identifier field_identifier type_identifier keyword_argument pair escape_sequence interpolation string_start string_end"
    " keyed_element wildcard dimensions use_wildcard match_block scoped_type_identifier switch_case match_arm label statement_identifier"
    " dotted_name list_splat dictionary_splat slice template_substitution array_initializer literal_value literal_element dimensions_expr"
    " spread_element computed_property_name decorator format_expression modifiers module".split()
)
# What stands in these is no expression, whatever it looks like.
_PATTERNS = frozenset({"concatenated_string", "case_pattern", "match_pattern", "switch_label", "tuple_struct_pattern", "import_statement"})
_SUFFIXES = tuple(
    "_statement _declaration _definition _clause _pattern _item _list _declarator _parameter _spec _type _body _arguments _parameters"
    " _specifier _annotation _label _tree _rule _group _signature _initializer".split()
)


@dataclass(frozen=True)
class Selection:
    """`nodes` are statements next to each other, comments among them, or `expression` is what was selected; of one may be both."""

    start: int  # bytes
    end: int
    nodes: tuple[Node, ...]
    expression: Node | None

    @property
    def statements(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if "comment" not in node.type)


def trimmed(tree: Tree, start: int, end: int) -> tuple[int, int]:
    """A range of characters as bytes, without white space at its ends. Raises `Refused` where nothing is left."""
    text = tree.text[start:end]
    kept = text.strip()
    if not kept:
        raise Refused("nothing is selected")
    start += len(text) - len(text.lstrip())
    return tree.byte(start), tree.byte(start + len(kept))


def select(tree: Tree, grammar: Grammar, start: int, end: int) -> Selection:
    """Of a range of bytes without white space at its ends. Raises `Refused`."""
    node = tree.root.named_descendant_for_byte_range(start, end)
    if node is None:
        raise Refused("nothing is selected")
    if node.type in grammar.functions and node.start_byte < start:
        raise Refused("the selection goes over the edge of a function: select whole statements inside of one")
    holder = next((each for each in (node, *around(node)) if each.type in grammar.bodies and _covers(each, start, end)), None)
    nodes = _without_remark(tree, _statements(tree, holder, start, end)) if holder is not None else ()
    expression = _expression(node, start, end)
    if not nodes and expression is None:
        raise Refused("select whole statements, or one whole expression")
    if nodes:
        start, end = nodes[0].start_byte, max(end, said_end(tree, nodes[-1]))
    elif expression is not None:
        start, end = expression.start_byte, expression.end_byte
    return Selection(start, end, nodes, expression)


def _covers(node: Node, start: int, end: int) -> bool:
    return node.start_byte <= start and end <= node.end_byte


def _statements(tree: Tree, holder: Node, start: int, end: int) -> tuple[Node, ...]:
    """The named children of a block that the range holds whole; none where one of them is only touched."""
    touched = [
        child
        for place, child in enumerate(holder.children)
        if child.is_named and child.start_byte < end and child.end_byte > start and not _is_label(holder, place, child)
    ]
    if any(_is_label(holder, place, child) and start <= child.start_byte < end for place, child in enumerate(holder.children)):
        return ()
    inside = [child for child in touched if start <= child.start_byte and said_end(tree, child) <= end + _semicolon(child)]
    if len(inside) == 1 and inside[0].type in ("statement_list", "block", "statement_block"):
        return ()
    return tuple(inside) if touched == inside else ()


def _without_remark(tree: Tree, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Without a comment at the start that belongs to the code left of it."""
    if not nodes or "comment" not in nodes[0].type:
        return nodes
    at = tree.char(nodes[0].start_byte)
    before = tree.text[tree.text.rfind("\n", 0, at) + 1 : at]
    return _without_remark(tree, nodes[1:]) if before.strip() else nodes


def _is_label(holder: Node, place: int, child: Node) -> bool:
    """Whether it says which case of a switch a group of statements is."""
    return child.type == "switch_label" or (holder.type == "switch_case" and holder.field_name_for_child(place) == "value")


def _semicolon(node: Node) -> int:
    """A selection that leaves out a statement's `;` means the statement all the same."""
    return 1 if node.children and node.children[-1].type == ";" else 0


def said_end(tree: Tree, node: Node) -> int:
    """The end of what a node says: some grammars count a comment's line break to it."""
    text = tree.text_of(node)
    return node.end_byte - (len(text) - len(text.rstrip()))


def _expression(node: Node, start: int, end: int) -> Node | None:
    """The outermost node that is exactly the range and an expression."""
    if (node.start_byte, node.end_byte) != (start, end):
        return None
    while node.parent is not None and (node.parent.start_byte, node.parent.end_byte) == (start, end) and is_expression(node.parent):
        node = node.parent
    while not is_expression(node) and node.named_child_count == 1 and node.named_children[0].end_byte >= end - 1:
        node = node.named_children[0]
    if not is_expression(node) or any(above.type in _PATTERNS for above in around(node)):
        return None
    return node


def is_expression(node: Node) -> bool:
    return node.is_named and node.type not in _NOT_EXPRESSIONS and not node.type.endswith(_SUFFIXES)

"""What a file defines: functions, methods, types and top-level values, each with its first lines. Knows no other file.

Found by kinds of nodes, which hardly differ between grammars. Bodies of functions are not entered: what they define nobody else can name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST = 280  # characters that are kept of a definition, a little more than are sent
_SHORTEST_NAME = 4  # shorter ones mean too many things; training looks for none either

LANGUAGES = frozenset("python javascript typescript tsx go rust java c cpp csharp ruby php lua bash".split())

# Kinds of nodes that have a name and are not entered.
_LEAVES = frozenset(
    "function_definition function_declaration generator_function_declaration function_signature method_definition method_declaration"
    " method_signature abstract_method_signature function_item function_signature_item method singleton_method type_alias_declaration"
    " type_item type_spec type_definition alias_declaration macro_definition const_item static_item const_spec var_spec"
    " delegate_declaration property_declaration preproc_def preproc_function_def variable_declarator".split()
)
# That have a name and are entered.
_CLASSES = frozenset(
    "class_definition class_declaration abstract_class_declaration class class_specifier struct_specifier union_specifier"
    " enum_specifier interface_declaration enum_declaration record_declaration struct_declaration annotation_type_declaration"
    " trait_declaration trait_item struct_item enum_item union_item mod_item module internal_module".split()
)
# That have none, and are entered all the same.
_AROUND = frozenset(
    "program module source_file translation_unit compilation_unit chunk export_statement ambient_declaration expression_statement"
    " block statement_block lexical_declaration variable_declaration namespace_definition namespace_declaration compound_statement"
    " file_scoped_namespace_declaration declaration_list class_body interface_body enum_body enum_body_declarations"
    " annotation_type_body field_declaration_list template_declaration linkage_specification preproc_ifdef preproc_if preproc_else"
    " impl_item foreign_mod_item type_declaration const_declaration var_declaration var_spec_list body_statement singleton_class"
    " decorated_definition if_statement try_statement".split()
)
_PROTOTYPES = frozenset({"declaration", "field_declaration"})  # of C: only those of functions count
_FUNCTIONS = frozenset({"function_definition", "function_declarator"})
_LAST_WORD = re.compile(r"[^\W\d]\w*$")


class Source(msgspec.Struct, frozen=True):
    """A file, or a document that is none. `key` tells it from all others; of a file on disk it is the path."""

    key: str
    path: str
    language: str  # normalised


class Definition(msgspec.Struct, frozen=True, gc=False):
    """One name that a file defines. There is one for each place: an overloaded function has several."""

    name: str
    source: Source
    text: str  # whole lines from the one that it begins in, as the file has them; not more than belong to it


def definitions(source: Source, text: str, pause: Callable[[], None] = lambda: None) -> tuple[Definition, ...]:
    """In document order; none of a language that is not one of `LANGUAGES`, or of a text that is too much for its grammar.

    `pause` is called every now and then.
    """
    tree = Tree.parse(text, source.language, pause=pause) if source.language in LANGUAGES else None
    return () if tree is None else tuple(_found(tree, source, pause))


def _found(tree: Tree, source: Source, pause: Callable[[], None]) -> Iterator[Definition]:
    for node in _entered(tree.root, pause):
        name = _LAST_WORD.search(tree.text_of(_name(node))) if _defines(node) else None
        if name and len(name[0]) >= _SHORTEST_NAME and not name[0].startswith("__"):
            yield Definition(name[0], source, tree.first_lines(node, LONGEST))


def _entered(root: Node, pause: Callable[[], None]) -> Iterator[Node]:
    """Nodes outside of functions, in document order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type in _AROUND or node.type in _CLASSES:
            pause()
            waiting += reversed(node.named_children)


def _defines(node: Node) -> bool:
    kind = node.type
    if kind == "assignment":  # of Python: what stands at the margin
        return node.start_point.column == 0
    if kind == "assignment_statement":  # of Lua
        return any(child.type in _FUNCTIONS for child in node.named_children[-1].named_children)
    if kind in _PROTOTYPES:
        return any(part.type in _FUNCTIONS for part in _declarators(node))
    if kind.endswith("_specifier"):  # without a body C only mentions it
        return node.child_by_field_name("body") is not None
    return kind in _LEAVES or (kind in _CLASSES and node.child_by_field_name("name") is not None)


def _name(node: Node) -> Node:
    """The node that ends with the name."""
    if node.type == "assignment_statement":
        return node.named_children[0]
    return node.child_by_field_name("name") or node.child_by_field_name("left") or [node, *_declarators(node)][-1]


def _declarators(node: Node) -> Iterator[Node]:
    """C's way to a name: through pointers and parameter lists."""
    inner: Node | None = node
    while inner is not None:
        below = inner.child_by_field_name("declarator")
        if below is None and inner.type.endswith("_declarator") and inner.named_children:
            below = inner.named_children[-1]
        inner = below
        if inner is not None:
            yield inner

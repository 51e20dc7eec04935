"""Whether a document still does the same after a region of it was written anew. Knows no reason for the change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.meaning import TYPED, Surroundings, TooMuch, meaning
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

# Between a document and the statements that were changed: only what these hold may differ.
_HOLDERS = frozenset(
    "function_definition function_declaration method_definition method_declaration function_item arrow_function function_expression"
    " class_definition class_declaration class_body declaration_list impl_item block statement_block compound_statement statement_list"
    " decorated_definition export_statement lexical_declaration variable_declarator constructor_declaration constructor_body mod_item"
    " field_declaration_list class_specifier namespace_definition".split()
)
_FUNCTIONS = frozenset(
    "function_definition function_declaration method_definition method_declaration function_item arrow_function function_expression"
    " constructor_declaration".split()
)
_BODIES = frozenset({"block", "statement_block", "compound_statement", "statement_list", "constructor_body"})
_LISTS = _BODIES | {"module", "program", "source_file", "translation_unit", "chunk", "class_body", "declaration_list"}
_BOOLEAN = frozenset({"bool", "boolean", "->bool"})


class _Level(NamedTuple):
    """What differs of the children of two nodes, of which everything around is the same."""

    old: Node
    new: Node
    left: list[Node]
    right: list[Node]
    is_end: bool  # nothing follows that is the same
    owner: Node | None  # the function that the old ones are in
    new_owner: Node | None


def check_same(before: Tree, after: Tree) -> None:
    """Raises `Unfit` where the statements that differ are not seen to do the same."""
    level = _differing(before, after)
    if level is None:
        return
    if level.old.type == "arrow_function":
        pairs = [(before, level.left, level.owner), (after, level.right, level.new_owner)]
        whole = all(len(nodes) == 1 and nodes[0] == _body(owner) for _, nodes, owner in pairs)
        if not whole:
            raise Unfit("the result changes more than statements")
    inside = level.owner is not None and level.new_owner is not None
    local = _local(before, level.owner) & _local(after, level.new_owner)
    live = _live(before, level.owner or before.root, level.left) | _live(after, level.new_owner or after.root, level.right)
    if not inside:  # of a module every name may be looked at from elsewhere
        live |= _names(before, level.left) | _names(after, level.right)
    ends = inside and level.is_end and level.old.type in (*_BODIES, "arrow_function")
    how = Surroundings(frozenset(live), local, ends_function=ends, is_boolean=_gives_boolean(before, level.owner))
    try:
        same = meaning(before, level.left, how) == meaning(after, level.right, how)
    except (TooMuch, RecursionError):
        raise Unfit("the result is too different to be sure that it does the same") from None
    if not same:
        raise Unfit("it is not certain that the result does the same")


def _differing(before: Tree, after: Tree) -> _Level | None:
    """The innermost statements that differ; None where none do."""
    old, new = before.root, after.root
    owner = new_owner = None
    found: _Level | None = None
    while True:
        left, right = _children(old), _children(new)
        first, last = _same_ends(before, after, left, right)
        left, right = left[first : len(left) - last], right[first : len(right) - last]
        if not left and not right:
            return found if found is not None and before.text_of(found.old) != after.text_of(found.new) else None
        if old.type in _LISTS or old.parent is None or (old.type == "arrow_function" and _body(old) == left[-1]):
            found = _Level(old, new, left, right, not last, owner, new_owner)
        if not len(left) == len(right) == 1 or left[0].type != right[0].type or left[0].type not in _HOLDERS:
            return found
        old, new = left[0], right[0]
        if old.type in _FUNCTIONS:
            owner, new_owner = old, new


def _body(function: Node | None) -> Node | None:
    return function.child_by_field_name("body") if function is not None else None


def _gives_boolean(tree: Tree, function: Node | None) -> bool:
    """Whether it says that it returns one, in a language where only that can be tested."""
    if function is None or tree.language not in TYPED:
        return False
    types = [function.child_by_field_name(field) for field in ("result", "return_type", "type")]
    return any(type_ is not None and tree.text_of(type_).strip() in _BOOLEAN for type_ in types)


def _names(tree: Tree, nodes: Sequence[Node]) -> set[str]:
    return {tree.text_of(each) for node in nodes for each in inner(node) if each.type == "identifier"}


def _children(node: Node) -> list[Node]:
    children = node.named_children if node.type in _LISTS else node.children
    return [child for child in children if "comment" not in child.type]


def _same_ends(before: Tree, after: Tree, left: Sequence[Node], right: Sequence[Node]) -> tuple[int, int]:
    """How many children are the same at the start, and of the others at the end."""
    same = [before.text_of(one) == after.text_of(other) for one, other in zip(left, right, strict=False)]
    first = next((place for place, is_same in enumerate(same) if not is_same), len(same))
    most = min(len(left), len(right)) - first
    pairs = zip(reversed(left), reversed(right), strict=False)
    ends = [before.text_of(one) == after.text_of(other) for one, other in itertools.islice(pairs, most)]
    return first, next((place for place, is_same in enumerate(ends) if not is_same), len(ends))


def _live(tree: Tree, owner: Node, changed: Sequence[Node]) -> set[str]:
    """The words of the function outside of what changed."""
    start, end = (changed[0].start_byte, changed[-1].end_byte) if changed else (0, 0)
    return {tree.text_of(each) for each in inner(owner) if each.type == "identifier" and not start <= each.start_byte < end}


def _local(tree: Tree, owner: Node | None) -> frozenset[str]:
    """Parameters, and what is set in the function alone: names that a call cannot change, for all that is seen here."""
    if owner is None:
        return frozenset()
    parameters = owner.child_by_field_name("parameters") or owner.child_by_field_name("parameter")
    found = {tree.text_of(each) for each in inner(parameters) if each.type == "identifier"} if parameters is not None else set()
    shared = [each for each in inner(owner) if each.type in ("global_statement", "nonlocal_statement")]
    captured = any(each.type in _FUNCTIONS or "lambda" in each.type or "closure" in each.type for each in inner(owner) if each != owner)
    return frozenset() if shared or captured else frozenset(found)

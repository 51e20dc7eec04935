"""What a selection needs to be a function of its own: parameters, results, where it leaves. Raises `Refused` where it cannot be one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercury_lsp.refactor.extract.value import check_value
from mercury_lsp.refactor.extract.variables import Variables, function_of
from mercury_lsp.refactor.flow import ends, leaving
from mercury_lsp.refactor.grammars.grammar import Grammar, inner
from mercury_lsp.refactor.names import Binding, Names, Scope, Use
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import Selection, said_end

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Plan:
    """`start`…`end` (bytes) moves. Lists are in the order in which names first come."""

    names: Names
    selection: Selection
    function: Scope | None  # that it moves out of; None: the document's top level
    parameters: tuple[Binding, ...]
    results: tuple[Binding, ...]
    fresh: frozenset[Binding]  # results that the selection itself declares
    declared: tuple[Binding, ...]  # written before they are read: the new function declares them, without a value
    leaves: bool  # every way through it ends in a `return`
    value: bool  # it is an expression whose value is wanted

    @property
    def start(self) -> int:
        return self.selection.start

    @property
    def end(self) -> int:
        return self.selection.end

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.selection.nodes or ((self.selection.expression,) if self.selection.expression is not None else ())

    @property
    def selected(self) -> str:
        return self.names.tree.cut(self.start, self.end)

    def uses(self) -> list[Use]:
        return self.names.within(self.start, self.end)


def plan(names: Names, selection: Selection) -> Plan:
    grammar = names.grammar
    tops = list(selection.statements)
    value = _is_value(names, selection)
    if value and selection.expression is not None:
        check_value(names, selection.expression)
        tops = [selection.expression]
    if not tops:
        raise Refused("only comments are selected")
    returns = _leaves(names, tops, grammar)
    if value and returns:
        raise Refused("the selection holds a `return`")
    scope = names.scope_at(tops[0])
    function = function_of(scope)
    _check_place(names, scope, function, selection)
    parameters, results, declared = Variables(names, selection, tops, function).split()
    _check_types(names, [*parameters, *results])
    fresh = frozenset(binding for binding in results if selection.start <= binding.at.start_byte < selection.end)
    if returns and results:
        raise Refused(f"the selection returns, and `{results[0].name}` is used after it")
    if value and results:
        raise Refused(f"the selection changes `{results[0].name}`, which is used outside of it")
    return Plan(names, selection, function, tuple(parameters), tuple(results), fresh, tuple(declared), returns, value)


def _check_types(names: Names, bindings: list[Binding]) -> None:
    """Raises `Refused` where a type that has to be written speaks of something that only the function knows."""
    for binding in bindings:
        written = binding.declared.type
        for use in names.within(written.start_byte, written.end_byte) if written is not None else ():
            if use.binding is not None and use.binding.is_local and not use.binding.is_type:
                raise Refused(f"the type of `{binding.name}` speaks of `{use.name}`, which only this function knows")


def _is_value(names: Names, selection: Selection) -> bool:
    """Whether what is selected is an expression whose value goes on."""
    if not selection.statements:
        return True
    last = selection.statements[-1]
    if not _is_tail(names, last) or _ends_function(last) or _has_no_value(last):
        return False
    if len(selection.statements) > 1 or selection.expression is None:
        raise Refused("the selection ends with the value of a block that is not the function's: select without it, or it alone")
    return True


def _leaves(names: Names, tops: list[Node], grammar: Grammar) -> bool:
    """Whether the selection always returns. Raises `Refused` where it goes elsewhere, or only sometimes returns."""
    found = [what for _, what in leaving(tops, grammar, names.tree)]
    for what in found:
        if what not in ("a `return`", "a `?`"):
            raise Refused(f"the selection holds {what}, which cannot move to another function")
    last = tops[-1]
    if _is_tail(names, last) and _ends_function(last):
        return True
    if found and not ends(last, grammar):
        raise Refused(f"the selection holds {found[0]}, and may also go on behind it")
    return bool(found)


def _is_tail(names: Names, node: Node) -> bool:
    """Rust: whether it gives a block its value."""
    block = node.parent
    if names.tree.language != "rust" or block is None or block.type != "block" or names.tree.text_of(node).rstrip().endswith(";"):
        return False
    return block.named_children[-1].id == node.id and not node.type.endswith(("_declaration", "_item"))


def _ends_function(node: Node) -> bool:
    block = node.parent
    return block is not None and block.parent is not None and block.parent.type == "function_item"


def _has_no_value(node: Node) -> bool:
    """A loop, or an `if` without an `else`."""
    node = node.named_children[0] if node.type == "expression_statement" else node
    return node.type in ("for_expression", "while_expression") or (
        node.type == "if_expression" and node.child_by_field_name("alternative") is None
    )


def _check_place(names: Names, scope: Scope, function: Scope | None, selection: Selection) -> None:
    if function is None and names.tree.language not in ("python", "javascript", "typescript", "tsx"):
        raise Refused("the selection is not inside of a function")
    if selection.statements and any(each.kind == "class" for each in _up_to(scope, function)):
        raise Refused("the selection is the body of a class: select statements of a function")
    for use in names.within(selection.start, selection.end):
        binding = use.binding
        if names.tree.language == "python" and binding is not None and binding.scope.kind == "class" and not use.declares:
            raise Refused(f"`{use.name}` belongs to the class around, a function does not see it")
        uses = names.by_binding.get(binding, []) if binding is not None and use.declares and binding.is_type else []
        if any(not _inside(other.node, selection) for other in uses):
            raise Refused(f"the selection defines `{use.name}`, which is used outside of it")
        if binding is not None and binding.is_local and binding.is_type and not _inside(binding.at, selection):
            owner = binding.at.parent
            if owner is None or not owner.type.startswith("type_parameter"):
                raise Refused(f"the type `{use.name}` is known in this function only")


def _up_to(scope: Scope, last: Scope | None) -> Iterator[Scope]:
    for each in scope.chain():
        if each is last:
            return
        yield each


def _inside(node: Node, selection: Selection) -> bool:
    return selection.start <= node.start_byte and node.end_byte <= selection.end


def holds(plan: Plan, kinds: frozenset[str]) -> bool:
    """Whether a node of one of `kinds` stands in the selection, or in an arrow function there."""
    stop = frozenset(plan.names.grammar.functions - {"arrow_function", "closure_expression", "lambda_expression", "lambda"})
    return any(node.type in kinds for top in plan.nodes for node in inner(top, stop | plan.names.grammar.classes))


def last_end(plan: Plan) -> int:
    """The last byte that moves."""
    return max(said_end(plan.names.tree, node) for node in plan.nodes)

"""What a selection needs to be a function of its own: parameters, results, where it leaves. Raises `Refused` where it cannot be one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercury_lsp.refactor.extract.value import check_value
from mercury_lsp.refactor.flow import Effect, Flow, ends, leaving, swallows
from mercury_lsp.refactor.grammars.grammar import Grammar, around, inner
from mercury_lsp.refactor.names import COMPREHENSIONS, Binding, Names, Scope, Use
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import Selection, said_end

if TYPE_CHECKING:
    from tree_sitter import Node

_LATE = "list_comprehension set_comprehension dictionary_comprehension".split()  # scopes that are left before anything else happens
_PARAMETERS = ("parameters", "lambda_parameters", "formal_parameters")


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
    function = _function(scope)
    _check_place(names, scope, function, selection)
    parameters, results, declared = _Work(names, selection, tops, function).split()
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


def _function(scope: Scope) -> Scope | None:
    """The function that a scope is in: comprehensions and arrow functions are functions too."""
    return next((each for each in scope.chain() if each.kind == "function"), None)


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


class _Work:
    """Goes through the variables of a selection."""

    def __init__(self, names: Names, selection: Selection, tops: list[Node], function: Scope | None) -> None:
        self.names, self.selection, self.tops, self.function = names, selection, tops, function
        self.grammar = names.grammar
        self.python = names.tree.language == "python"

    def split(self) -> tuple[list[Binding], list[Binding], list[Binding]]:
        parameters: list[Binding] = []
        results: list[Binding] = []
        declared: list[Binding] = []
        for binding in self._variables():
            inside = [use for use in self.names.by_binding[binding] if self._holds(use.start)]
            outside = [use for use in self.names.by_binding[binding] if not self._holds(use.start)]
            if not outside and not (self.function is None and binding.scope.kind == "module"):
                continue  # its own
            self._check_nested(binding, inside, outside)
            written, effect = any(use.writes for use in inside), Flow(self.names, binding).through(self.tops)
            brought = self._holds(binding.at.start_byte) and not (self.python and self._maybe_before(binding, outside))
            result = written and self._is_read_after(binding, outside, effect)
            needs_old = effect.reads or (result and not effect.writes)
            if result:
                self._check_result(binding, outside, effect, brought)
                results.append(binding)
            elif brought and not self.python:
                raise Refused(f"the selection defines `{binding.name}`, which is used outside of it")
            if brought:
                continue
            if needs_old and self._has_value(binding, outside):
                parameters.append(binding)
            elif written and not self.python:
                (parameters if self._starts_with_value(binding, outside) else declared).append(binding)
        return parameters, results, declared

    def _variables(self) -> list[Binding]:
        """Those that are not the whole document's, in the order in which they come."""
        found: dict[Binding, None] = {}
        written = {use.binding for use in self.names.within(self.selection.start, self.selection.end) if use.writes}
        for use in self.names.within(self.selection.start, self.selection.end):
            binding = use.binding
            if binding is None or binding.is_type:
                continue
            of_document = self.function is None and binding in written and binding.scope.kind in ("module", "block")
            if (binding.is_local and not self._is_own(binding)) or of_document:
                found[binding] = None
            elif binding in written and self.python and not binding.is_local:
                raise Refused(f"the selection changes the global `{binding.name}`")
        return list(found)

    def _is_own(self, binding: Binding) -> bool:
        """Whether the scope of a variable lies in the selection."""
        node = binding.scope.node
        return self.selection.start <= node.start_byte and node.end_byte <= self.selection.end and not self._is_whole(node)

    def _is_whole(self, node: Node) -> bool:
        return node.parent is None

    def _holds(self, at: int) -> bool:
        return self.selection.start <= at < self.selection.end

    # ------------------------------------------------------------------------------------------ before and after

    def _loop(self, binding: Binding) -> tuple[int, int] | None:
        """The span in which what comes before the selection comes after it as well."""
        spans = [
            (node.start_byte, node.end_byte)
            for node in self._around()
            if node.type in self.grammar.loops and _spans(binding.scope.node, node)
        ]
        return spans[-1] if spans else None

    def _around(self) -> Iterator[Node]:
        """What the selection is in, as far as its function."""
        last = self.function.node.id if self.function is not None else None
        for node in around(self.tops[0]):
            if node.id == last:
                return
            yield node

    def _after(self, binding: Binding, at: int) -> bool:
        loop = self._loop(binding)
        return at >= self.selection.end or (loop is not None and loop[0] <= at < loop[1])

    def _is_read_after(self, binding: Binding, outside: list[Use], effect: Effect) -> bool:
        if self.function is None and binding.scope.kind == "module":
            return True  # others may import it
        if effect.reads and self._loop(binding) is not None and not self._holds(binding.at.start_byte):
            return True  # the selection itself reads it the next time
        return any(use.reads and self._after(binding, use.start) for use in outside)

    def _maybe_before(self, binding: Binding, outside: list[Use]) -> bool:
        loop = self._loop(binding)
        return any(
            use.writes and (use.start < self.selection.start or (loop is not None and loop[0] <= use.start < loop[1])) for use in outside
        )

    def _has_value(self, binding: Binding, outside: list[Use]) -> bool:
        """Whether there is a value to hand over. Raises `Refused` where there is one only sometimes."""
        if not self.python or self._surely_before(binding):
            return True
        if self._maybe_before(binding, outside):
            raise Refused(f"`{binding.name}` may not have a value yet where the selection begins")
        return False

    def _starts_with_value(self, binding: Binding, outside: list[Use]) -> bool:
        if self.names.tree.language in ("go", "javascript", "typescript", "tsx"):
            return True  # a variable without one has nothing, and that can be handed over
        return binding.declared.written or self._surely_before(binding)

    def _surely_before(self, binding: Binding) -> bool:
        if binding.scope.node.type in COMPREHENSIONS or any(node.type in _PARAMETERS for node in around(binding.at)):
            return True
        flow, node = Flow(self.names, binding), self.tops[0]
        for above in [*self._around(), *([self.function.node] if self.function else [])]:
            before = [child for child in above.children if child.end_byte <= node.start_byte]
            if above.type in self.grammar.tries:
                before = []
            if flow.through(before).writes or (above.type in self.grammar.functions and not self._is_in(binding, above)):
                return True
            node = above
        return False

    def _is_in(self, binding: Binding, function: Node) -> bool:
        """Whether a variable is one of this function; of one around it, it is not known when it gets its value."""
        return binding.scope.node.id == function.id or _spans(function, binding.scope.node)

    # ------------------------------------------------------------------------------------------ what cannot be moved

    def _check_nested(self, binding: Binding, inside: list[Use], outside: list[Use]) -> None:
        """Functions inside of functions see a variable, not its value: it must not become two."""
        name, home = binding.name, binding.scope.function
        nested_outside = [use for use in outside if self._is_nested(use, home)]
        nested_inside = [use for use in inside if self._is_nested(use, self.function)]
        if any(use.writes for use in inside) and nested_outside:
            raise Refused(f"`{name}` changes in the selection, and another function uses it too")
        if any(use.writes for use in nested_outside):
            raise Refused(f"`{name}` may be changed by another function meanwhile")
        if any(use.writes for use in nested_inside):
            raise Refused(f"a function in the selection changes `{name}`")
        if nested_inside and any(use.writes and self._after(binding, use.start) for use in outside):
            raise Refused(f"a function in the selection uses `{name}`, which changes afterwards")

    def _is_nested(self, use: Use, home: Scope | None) -> bool:
        function = _function(use.scope)
        while function is not None and function is not home and function.node.type in _LATE:
            function = _function(function.above) if function.above is not None else None
        return function is not home and function is not self.function

    def _check_result(self, binding: Binding, outside: list[Use], effect: Effect, brought: bool) -> None:
        name = binding.name
        if binding.declared.name.parent is not None and binding.declared.name.parent.type.endswith(
            ("function_definition", "class_definition")
        ):
            raise Refused(f"the selection defines `{name}`, which is used outside of it")
        if binding.declared.name.parent is not None and "function_declaration" in binding.declared.name.parent.type:
            raise Refused(f"the selection defines `{name}`, which is used outside of it")
        if brought and not effect.writes and self.python:
            raise Refused(f"`{name}` does not always get a value in the selection, and is used after it")
        if brought and any(use.start < self.selection.start for use in outside):
            raise Refused(f"`{name}` is used before the selection, which declares it")
        if len(self.tops) == 1 and "try" not in self.tops[0].type and not any(self._is_deep(use) for use in self.names.by_binding[binding]):
            return  # nothing can go wrong between its being set and the end
        for node in self._around():
            self._check_caught(node, name, outside)

    def _is_deep(self, use: Use) -> bool:
        """Whether a write is not the last thing that the only statement does."""
        return (
            use.writes and self._holds(use.start) and any(above.type in self.grammar.bodies for above in _between(use.node, self.tops[0]))
        )

    def _check_caught(self, node: Node, name: str, outside: list[Use]) -> None:
        """What was set before an error would be lost."""
        refused = Refused(f"`{name}` is set inside of a statement that catches errors, and used after one")
        if node.type == "with_statement" and swallows(node, self.names.tree):
            raise refused
        if node.type not in self.grammar.tries:
            return
        handlers = [child for child in node.named_children if child.type in self.grammar.handlers]
        finals = [child for child in node.named_children if child.type == "finally_clause"]
        if not any(_spans(node.child_by_field_name("body"), top) for top in self.tops):
            return
        if any(_spans(part, use.node) for part in (*handlers, *finals) for use in outside):
            raise refused
        goes_on = any(not any(ends(part, self.grammar) for part in handler.named_children) for handler in handlers)
        if goes_on and any(use.reads and use.start >= node.end_byte for use in outside):
            raise refused


def _spans(outer: Node | None, node: Node) -> bool:
    return outer is not None and outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _between(node: Node, top: Node) -> Iterator[Node]:
    for above in around(node):
        if above.id == top.id:
            return
        yield above


def holds(plan: Plan, kinds: frozenset[str]) -> bool:
    """Whether a node of one of `kinds` stands in the selection, or in an arrow function there."""
    stop = frozenset(plan.names.grammar.functions - {"arrow_function", "closure_expression", "lambda_expression", "lambda"})
    return any(node.type in kinds for top in plan.nodes for node in inner(top, stop | plan.names.grammar.classes))


def last_end(plan: Plan) -> int:
    """The last byte that moves."""
    return max(said_end(plan.names.tree, node) for node in plan.nodes)

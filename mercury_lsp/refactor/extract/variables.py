"""Which variables a selection takes in and gives out as a function of its own. Raises `Refused` where one would become two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mercury_lsp.refactor.flow import Effect, Flow, ends, swallows
from mercury_lsp.refactor.grammars.grammar import around
from mercury_lsp.refactor.names import COMPREHENSIONS, Binding, Names, Scope, Use
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import Selection

if TYPE_CHECKING:
    from tree_sitter import Node

_LATE = "list_comprehension set_comprehension dictionary_comprehension".split()  # scopes that are left before anything else happens
_BRANCHES = frozenset(
    "elif_clause else_clause case_clause switch_case switch_default switch_block_statement_group switch_rule match_arm expression_case"
    " type_case default_case communication_case".split()
)
_PARAMETERS = ("parameters", "lambda_parameters", "formal_parameters")


class Variables:
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
            before = () if above.type in self.grammar.tries else tuple(_sure(above, node))
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
        function = function_of(use.scope)
        while function is not None and function is not home and function.node.type in _LATE:
            function = function_of(function.above) if function.above is not None else None
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


def _sure(above: Node, node: Node) -> Iterator[Node]:
    """What of `above` is surely evaluated before `node`: no other branch of it."""
    for place, child in enumerate(above.children):
        if child.end_byte > node.start_byte:
            return
        other = above.field_name_for_child(place) in ("consequence", "alternative", "body") or child.type in _BRANCHES
        if not other:
            yield child


def _spans(outer: Node | None, node: Node) -> bool:
    return outer is not None and outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def _between(node: Node, top: Node) -> Iterator[Node]:
    for above in around(node):
        if above.id == top.id:
            return
        yield above


def function_of(scope: Scope) -> Scope | None:
    """The function that a scope is in: comprehensions and arrow functions are functions too."""
    return next((each for each in scope.chain() if each.kind == "function"), None)

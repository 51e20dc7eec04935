"""What every name in a document stands for: its scope, where it is declared, read and written. Knows no refactoring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from mercury_lsp.refactor.grammars.grammar import Declared, Grammar
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

Kind = Literal["module", "class", "function", "block"]
_SHOWN = re.compile(r"(?<!\{)\{([a-z_]\w*)[:}]")  # in a format string of Rust
COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")


@dataclass(eq=False)
class Binding:
    """A variable, function, class or type of the document."""

    name: str
    scope: Scope
    at: Node  # its name where it is declared, the first place if there are several
    declared: Declared

    @property
    def is_local(self) -> bool:
        return self.scope.function is not None or self.scope.kind == "block"

    @property
    def is_type(self) -> bool:
        above = self.at.parent
        return self.at.type == "type_identifier" or (above is not None and above.type.startswith("type_parameter"))


@dataclass(eq=False)
class Scope:
    node: Node
    above: Scope | None
    kind: Kind
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # names that Python's `global` and `nonlocal` speak of

    @property
    def function(self) -> Scope | None:
        """The function's scope that this is in or is."""
        scope: Scope | None = self
        while scope is not None and scope.kind == "block":
            scope = scope.above
        return scope if scope is not None and scope.kind == "function" else None

    def chain(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.above


@dataclass(eq=False)
class Use:
    """One place where a name stands. `binding` is None where the document does not declare it."""

    node: Node
    name: str
    scope: Scope
    binding: Binding | None
    reads: bool
    writes: bool
    declares: bool

    @property
    def start(self) -> int:
        return self.node.start_byte


class Names:
    """All uses in document order. Raises nothing: a name that cannot be told has no binding."""

    def __init__(self, tree: Tree, grammar: Grammar) -> None:
        self.tree, self.grammar = tree, grammar
        self.module = Scope(tree.root, None, "module")
        self._declares: dict[int, tuple[Binding, Declared]] = {}
        self._writes: dict[int, bool] = {}  # by node, whether it is read too
        self._found: list[tuple[Node, Scope]] = []
        self._texts: list[tuple[Node, Scope]] = []  # format strings that may name variables
        self._walk()
        self.uses = [self._use(node, scope) for node, scope in self._found]
        self.uses += [self._shown(name, node, scope) for node, scope in self._texts for name in _SHOWN.findall(tree.text_of(node))]
        self.uses.sort(key=lambda use: use.start)

    @cached_property
    def by_binding(self) -> dict[Binding, list[Use]]:
        found: dict[Binding, list[Use]] = {}
        for use in self.uses:
            if use.binding is not None:
                found.setdefault(use.binding, []).append(use)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """All names that the document has, whatever they stand for."""
        return frozenset(self.tree.text_of(node) for node in self._identifiers())

    @cached_property
    def unresolved(self) -> frozenset[str]:
        """Names that are read and not declared here: built in, imported as a whole, or missing."""
        return frozenset(use.name for use in self.uses if use.binding is None)

    def within(self, start: int, end: int) -> list[Use]:
        """The uses between two bytes."""
        return [use for use in self.uses if start <= use.start < end]

    def scope_at(self, node: Node) -> Scope:
        """The innermost scope that `node` is in."""
        best = self.module
        for scope in self._scopes:
            inside = scope.node.start_byte <= node.start_byte and node.end_byte <= scope.node.end_byte
            if (
                inside
                and scope.node.id != node.id
                and scope.node.end_byte - scope.node.start_byte <= best.node.end_byte - best.node.start_byte
            ):
                best = scope
        return best

    # ------------------------------------------------------------------------------------------ building

    def _walk(self) -> None:
        grammar = self.grammar
        self._scopes = [self.module]
        waiting: list[tuple[Node, Scope]] = [(self.tree.root, self.module)]
        while waiting:
            node, scope = waiting.pop()
            if grammar.outside(node, scope.node) and scope.above is not None:
                scope = scope.above
            if node.type in grammar.identifiers and grammar.is_variable(node):
                self._found.append((node, scope))
            if node.type == "string_literal" and node.parent is not None and node.parent.type == "token_tree":
                self._texts.append((node, scope))
            inner = self._opened(node, scope)
            for declared in grammar.declared(node):
                self._declare(declared, self._holder(node, inner, scope, declared))
            for name, reads in grammar.written(node):
                self._writes[name.id] = reads
            self._note_elsewhere(node, scope)
            waiting += [(child, inner) for child in reversed(node.children)]

    def _opened(self, node: Node, scope: Scope) -> Scope:
        grammar, kind = self.grammar, node.type
        opened: Kind | None = (
            "function" if kind in grammar.functions else "class" if kind in grammar.classes else "block" if kind in grammar.blocks else None
        )
        if (
            opened is None
            or node.child_count == 0
            or (opened == "block" and node.parent is not None and node.parent.id == scope.node.id and scope.kind == "function")
        ):
            return scope  # the body of a function shares a scope with its parameters
        self._scopes.append(Scope(node, scope, opened))
        return self._scopes[-1]

    def _holder(self, node: Node, inner: Scope, scope: Scope, declared: Declared) -> Scope:
        """The scope that a declared name belongs to."""
        within = node.start_byte <= declared.name.start_byte and inner is not scope and not self.grammar.outside(declared.name, node)
        holder = inner if within else scope
        if declared.where != "function":
            return holder
        while holder.above is not None and (holder.kind == "block" or holder.node.type in COMPREHENSIONS):
            holder = holder.above
        return holder

    def _declare(self, declared: Declared, holder: Scope) -> None:
        name = self.tree.text_of(declared.name)
        above = declared.name.parent
        if self.tree.language == "rust" and name[:1].isupper() and above is not None and not above.type.endswith(("_item", "_parameter")):
            return  # a constant or a variant in a pattern
        holder = self._sent_elsewhere(name, holder)
        there = holder.bindings.setdefault(name, [])
        merged = there and ((declared.where == "function" and declared.start is None) or declared.where == "known")
        if merged:
            binding = there[-1]
        else:
            binding = Binding(name, holder, declared.name, declared)
            there.append(binding)
        self._declares[declared.name.id] = binding, declared

    def _note_elsewhere(self, node: Node, scope: Scope) -> None:
        if node.type in ("global_statement", "nonlocal_statement"):
            for child in node.named_children:
                scope.elsewhere[self.tree.text_of(child)] = node.type

    def _sent_elsewhere(self, name: str, scope: Scope) -> Scope:
        kind = scope.elsewhere.get(name)
        if kind == "global_statement":
            return self.module
        if kind == "nonlocal_statement":
            return next((above for above in scope.chain() if above is not scope and name in above.bindings), scope)
        return scope

    # ------------------------------------------------------------------------------------------ resolving

    def _shown(self, name: str, node: Node, scope: Scope) -> Use:
        return Use(node, name, scope, self._resolve(name, node.start_byte, scope), True, False, declares=False)

    def _use(self, node: Node, scope: Scope) -> Use:
        name = self.tree.text_of(node)
        if node.id in self._declares:
            binding, declared = self._declares[node.id]
            writes, reads = declared.written, self._writes.get(node.id, False)
            return Use(node, name, scope, binding, reads, writes, declares=True)
        found = self._resolve(name, node.start_byte, scope)
        writes = node.id in self._writes
        return Use(node, name, scope, found, not writes or self._writes[node.id], writes, declares=False)

    def _resolve(self, name: str, at: int, scope: Scope) -> Binding | None:
        python = self.tree.language == "python"
        for place, holder in enumerate(scope.chain()):
            if holder.elsewhere.get(name) == "global_statement":
                return next(iter(self.module.bindings.get(name, ())), None)
            if python and holder.kind == "class" and place:
                continue  # what a class has is not seen in its methods
            seen = [each for each in holder.bindings.get(name, ()) if _visible(each.declared, at)]
            if seen:
                return seen[-1]
        return None

    def _identifiers(self) -> Iterator[Node]:
        waiting = [self.tree.root]
        while waiting:
            node = waiting.pop()
            if node.child_count == 0 and ("identifier" in node.type or node.type == "shorthand_property_identifier_pattern"):
                yield node
            waiting += node.children


def _visible(declared: Declared, at: int) -> bool:
    return (declared.start is None or declared.start <= at) and (declared.end is None or at < declared.end)

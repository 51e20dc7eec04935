"""Where control goes in some statements: what leaves them, and when a variable is surely read or written. Knows no refactoring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import Grammar, around, field_of, inner
from mercury_lsp.refactor.names import Binding, Names, Use
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Effect:
    """What a piece of code does to a variable."""

    reads: bool = False  # the value from before may be read
    writes: bool = False  # at its end the variable has a new value, or the end is never reached


_SWALLOWING = ("suppress", "raises", "ExitStack")


class Flow:
    """Of one variable."""

    def __init__(self, names: Names, binding: Binding) -> None:
        self._grammar, self._tree = names.grammar, names.tree
        self._uses: dict[int, Use] = {use.node.id: use for use in names.by_binding.get(binding, ())}
        self._places = sorted(use.start for use in self._uses.values())

    def through(self, nodes: Iterable[Node]) -> Effect:
        """Of nodes that are evaluated one after the other."""
        reads = writes = False
        for node in nodes:
            effect = self.of(node)
            reads = reads or (effect.reads and not writes)
            writes = writes or effect.writes
        return Effect(reads, writes)

    def of(self, node: Node) -> Effect:
        kind, grammar = node.type, self._grammar
        if node.id in self._uses:
            use = self._uses[node.id]
            return Effect(use.reads, use.writes)
        if not any(node.start_byte <= place < node.end_byte for place in self._places):
            return Effect(writes=ends(node, grammar))
        if kind in grammar.functions or kind in grammar.classes:  # it may be called at any time
            return Effect(reads=any(self.of(child).reads for child in node.children))
        if kind in grammar.branches:
            return self._branch(node)
        if kind in grammar.loops:
            return self._loop(node)
        if kind in grammar.tries:
            return self._try(node)
        if kind == "with_statement" and swallows(node, self._tree):
            return Effect(self.through(node.children).reads, False)
        if kind in grammar.choices:
            return Effect(self.through(node.children).reads or any(self.of(child).reads for child in _arms(node)), False)
        if kind in grammar.conditionals:
            first, rest = node.children[:1], node.children[1:]
            if kind == "conditional_expression":  # of Python: the condition stands in the middle
                first, rest = node.named_children[1:2], [*node.named_children[:1], *node.named_children[2:]]
            head = self.through(first)
            return Effect(head.reads or (not head.writes and any(self.of(child).reads for child in rest)), head.writes)
        effect = self.through(_evaluated(node, grammar))
        return Effect(effect.reads, effect.writes or ends(node, grammar))

    def _branch(self, node: Node) -> Effect:
        head: list[Node] = []
        arms: list[Node] = []
        for place, child in enumerate(node.children):
            arm = node.field_name_for_child(place) in ("consequence", "alternative") or child.type in ("elif_clause", "else_clause")
            (arms if arm else head).append(child)
        before = self.through(head)
        effects = [self.of(arm) for arm in arms]
        exhaustive = len(arms) > 1 and arms[-1].type != "elif_clause"
        reads = before.reads or (not before.writes and any(effect.reads for effect in effects))
        return Effect(reads, before.writes or (exhaustive and all(effect.writes for effect in effects)))

    def _loop(self, node: Node) -> Effect:
        """The body may not run at all; what heads it is evaluated once at least, but for what a `for` gives its variable."""
        order = list(node.children)
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if right is not None:
            order = [right, *(child for child in order if child.id != right.id)]
        return Effect(self.through(order).reads, False)

    def _try(self, node: Node) -> Effect:
        handlers = [child for child in node.children if child.type in self._grammar.handlers]
        finals = [child for child in node.children if child.type == "finally_clause"]
        body = self.through(child for child in node.children if child not in handlers and child not in finals)
        caught = [self.of(handler) for handler in handlers]
        last = self.through(finals)
        reads = body.reads or any(effect.reads for effect in caught) or last.reads
        return Effect(reads, last.writes or (body.writes and all(effect.writes for effect in caught)))


def _arms(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        yield from child.named_children


def _evaluated(node: Node, grammar: Grammar) -> list[Node]:
    """The children of a node in the order of their evaluation."""
    if node.type not in grammar.assignments:
        return node.children
    late = [node.child_by_field_name(name) for name in ("left", "name", "pattern")]
    last = next((child for child in late if child is not None), None)
    if last is None or _reads_first(node):
        return node.children
    return [*(child for child in node.children if child.id != last.id), last]


def _reads_first(node: Node) -> bool:
    return "augmented" in node.type or "compound" in node.type


def swallows(node: Node, tree: Tree) -> bool:
    """Python: whether a `with` statement is one that goes on after an error, as far as its words tell."""
    return any(word in tree.text_of(node.named_children[0]) for word in _SWALLOWING)


def ends(node: Node, grammar: Grammar) -> bool:
    """Whether what follows `node` is surely not reached."""
    kind = node.type
    if kind in grammar.throws | grammar.breaks | grammar.continues or (kind in grammar.returns and kind != "try_expression"):
        return True
    if kind in grammar.bodies or kind in grammar.handlers or kind in ("expression_statement", "else_clause", "block"):
        return any(ends(child, grammar) for child in node.named_children)
    if kind in grammar.branches or kind == "elif_clause":
        arms = [
            child
            for place, child in enumerate(node.children)
            if node.field_name_for_child(place) in ("consequence", "alternative") or child.type in ("elif_clause", "else_clause")
        ]
        full = kind == "elif_clause" or (len(arms) > 1 and arms[-1].type != "elif_clause")
        return full and all(ends(arm, grammar) for arm in arms)
    if kind in grammar.tries:
        body = node.child_by_field_name("body")
        handlers = [child for child in node.named_children if child.type in grammar.handlers]
        return (
            body is not None and ends(body, grammar) and all(any(ends(part, grammar) for part in each.named_children) for each in handlers)
        )
    return False


def leaving(nodes: Iterable[Node], grammar: Grammar, tree: Tree) -> Iterator[tuple[Node, str]]:
    """What in `nodes` goes somewhere else, with what it is called: returns, breaks and continues out of them, and what cannot be moved."""
    for top in nodes:
        if top.type in grammar.functions or top.type in grammar.classes:
            continue
        for node in inner(top, grammar.functions | grammar.classes):
            kind = node.type
            if kind in grammar.forbidden:
                yield node, grammar.forbidden[kind]
            elif kind in grammar.returns:
                yield node, "a `?`" if kind == "try_expression" else "a `return`"
            elif kind in grammar.breaks and not _stays(node, top, grammar, tree, grammar.loops | grammar.switches):
                yield node, "a `break` out of it"
            elif kind in grammar.continues and not _stays(node, top, grammar, tree, grammar.loops):
                yield node, "a `continue` out of it"


def _stays(node: Node, top: Node, grammar: Grammar, tree: Tree, targets: frozenset[str]) -> bool:
    """Whether what a break or continue goes to lies in `top`."""
    if node.id == top.id:
        return False
    label = _label(node, tree)
    for above in around(node):
        if label is None and above.type in targets:
            return True
        if label is not None and above.type in grammar.labels and _label(above, tree) == label:
            return True
        if above.id == top.id:
            return False
    return False


def _label(node: Node, tree: Tree) -> str | None:
    """The label that a statement has or names."""
    for child in node.named_children:
        if child.type in ("label", "label_name", "statement_identifier") or (child.type == "identifier" and field_of(child) is None):
            return tree.text_of(child)
        if node.type not in ("break_statement", "continue_statement", "break_expression", "continue_expression"):
            return None
    return None

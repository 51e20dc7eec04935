"""What is to be known of a language to follow its names and its control flow. Knows no language itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node

# "here": in the scope around. "function": in the function's. "known": in the scope around, unless it has the name already (Go's `:=`).
Where = Literal["here", "function", "known"]


@dataclass(frozen=True)
class Declared:
    """A name that a node brings. Without `start` and `end` (bytes) it can be seen in the whole of its scope."""

    name: Node
    where: Where = "here"
    type: Node | None = None
    value: Node | None = None  # what it begins with, where one expression says that
    start: int | None = None
    end: int | None = None
    constant: bool = False
    written: bool = True  # it has a value from here on


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """Kinds of nodes by what they do. `functions` and `blocks` open scopes; names are found by the callables.

    `outside(node, scope_node)` tells of a child of a scope that it belongs to the scope around: a default value, the name itself.
    """

    identifiers: frozenset[str]
    functions: frozenset[str]
    classes: frozenset[str]
    blocks: frozenset[str]  # scopes that are no function's
    bodies: frozenset[str]  # whose named children are statements
    declared: Callable[[Node], Iterator[Declared]]
    written: Callable[[Node], Iterator[tuple[Node, bool]]]  # names that get a value, and whether the old one is read for it
    is_variable: Callable[[Node], bool]  # of a node in `identifiers`: not a field, a label, a type
    outside: Callable[[Node, Node], bool] = lambda node, scope: False

    # Control flow
    assignments: frozenset[str] = frozenset()  # the right side is evaluated before the left one
    conditionals: frozenset[str] = frozenset()  # expressions of which only the first part is sure to be evaluated
    branches: frozenset[str] = frozenset()  # if statements
    loops: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()  # that a `break` ends
    choices: frozenset[str] = frozenset()  # of which any arm may be taken, or none
    tries: frozenset[str] = frozenset()
    handlers: frozenset[str] = frozenset()
    returns: frozenset[str] = frozenset()
    throws: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    continues: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()  # statements that have one
    forbidden: dict[str, str] = field(default_factory=dict)  # kinds of nodes that cannot move to another function, and what they are called
    calls: frozenset[str] = frozenset()  # calls, that may do anything


def inner(node: Node, stop: frozenset[str] = frozenset()) -> Iterator[Node]:
    """`node` and all that is in it, in document order; nodes of kinds in `stop` come, what is in them does not."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if current is node or current.type not in stop:
            waiting += reversed(current.children)


def around(node: Node) -> Iterator[Node]:
    """The nodes that `node` is in, the nearest first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def field_of(node: Node) -> str | None:
    """The name of the field that `node` is of the node above it."""
    above = node.parent
    if above is None:
        return None
    for place, child in enumerate(above.children):
        if child.id == node.id:
            return above.field_name_for_child(place)
    return None


def leaves(pattern: Node | None, through: frozenset[str], kinds: frozenset[str]) -> Iterator[Node]:
    """The names in a pattern: nodes of `kinds`, looked for in nodes of kinds `through` only."""
    if pattern is None:
        return
    if pattern.type in kinds:
        yield pattern
    elif pattern.type in through:
        for child in pattern.named_children:
            yield from leaves(child, through, kinds)

"""Rust: whether a value, or what is made on the way to it, may do something when it is let go of, as the guard of a lock does.

Where it is let go of depends on where it stands: a `let` holds it until its block ends, an expression until its statement ends. Knows no
refactoring.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.refused import Refused

if TYPE_CHECKING:
    from tree_sitter import Node

# Methods that give a guard, of the standard library and the crates that most use.
_METHODS = frozenset(
    "lock try_lock blocking_lock lock_owned read try_read blocking_read read_owned write try_write blocking_write write_owned"
    " upgradable_read borrow borrow_mut try_borrow try_borrow_mut enter entered in_scope acquire acquire_owned acquire_many try_acquire"
    " begin transaction savepoint drain guard pin subscribe".split()
)
_TYPES = re.compile(r"Guard|Lock|Permit|Transaction|Entered|Span|Timer|Temp|File|BufWriter|Drain|Ref\b|RefMut\b|JoinHandle|Defer|Scope")
_DROP = re.compile(r"\bimpl\b[^{;]*\bDrop\s+for\s+(\w+)")


def check_let_go(names: Names, value: Node, what: str) -> None:
    """Raises `Refused` where the value of `what` may have to be held just as long as it is."""
    if may_hold(names, value):
        raise Refused(f"{what} may hold something, such as a lock, and would let go of it at another time")


def may_hold(names: Names, value: Node) -> bool:
    """Of an expression, or of a type."""
    tree = names.tree
    dropped = set(_DROP.findall(tree.text))
    for node in inner(value):
        if node.type == "field_identifier" and tree.text_of(node) in _METHODS and _is_called(node):
            return True
        if node.type in ("type_identifier", "identifier") and ((word := tree.text_of(node)) in dropped or _is_type_of_guard(word)):
            return True
    return False


def _is_called(node: Node) -> bool:
    access = node.parent
    outer = access.parent if access is not None else None
    return outer is not None and outer.type in ("call_expression", "generic_function")


def _is_type_of_guard(word: str) -> bool:
    """By its name, or as a variable's."""
    return (word[:1].isupper() and _TYPES.search(word) is not None) or "guard" in word.lower()

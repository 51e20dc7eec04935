"""What a text that a model wrote must hold before it may stand in a document. Knows no model."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from mercury_lsp import boundary
from mercury_lsp.definitions import Source, definitions
from mercury_lsp.refactor.changes import Replace, applied
from mercury_lsp.refactor.grammars.table import GRAMMARS
from mercury_lsp.refactor.names import Names, Use
from mercury_lsp.refactor.target import Target
from mercury_lsp.syntax import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

# Control characters, halves of surrogate pairs, and what turns the direction of a line or breaks it unseen.
_UNUSABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")
BUILT_IN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__all__", "__class__", "__path__"}


class Unfit(Exception):
    """Why a text cannot stand there. `at` is the character of the document afterwards where the fault lies, where it lies somewhere."""

    def __init__(self, reason: str, at: int | None = None) -> None:
        super().__init__(reason)
        self.at = at


Check = Callable[[str], None]  # of a new text; raises `Unfit`


def check(target: Target, replace: Replace, *, faults_allowed: bool = False) -> Tree:
    """The tree of the document with the change made. Raises `Unfit`."""
    new = replace.text
    if _UNUSABLE.search(new):
        raise Unfit("the result holds characters that do not belong in code")
    old = target.text[replace.start : replace.end]
    if boundary.loops(new.split("\n")) and not boundary.loops(old.split("\n")):
        raise Unfit("the result repeats itself")
    text = applied(target.text, [replace])
    tree = Tree.parse(text, target.language)
    if tree is None:
        raise Unfit("the result does not parse")
    _check_faults(target, replace, tree, faults_allowed)
    _check_names(target, replace, tree)
    return tree


def _check_faults(target: Target, replace: Replace, tree: Tree, allowed: bool) -> None:
    before, after = target.tree.faults(), tree.faults()
    if after is None or (before is not None and len(after) > len(before)) or (len(after) and not allowed and not len(before or ())):
        at = after.spans[0][0] if after is not None and len(after) else None
        raise Unfit("the result does not parse", at)


def _check_names(target: Target, replace: Replace, tree: Tree) -> None:
    """What stands around still means the same."""
    if target.language not in GRAMMARS:
        _check_definitions(target, replace)
        return
    before, after = target.names, Names(tree, target.grammar)
    start, end = target.tree.byte(replace.start), target.tree.byte(replace.end)
    stop = start + len(replace.text.encode())
    outside, now = _outside(before, start, end), _outside(after, start, stop)
    if [use.name for use in outside] != [use.name for use in now]:
        raise Unfit("the result changes what stands around it")
    for old, new in zip(outside, now, strict=True):
        if old.binding is not None and new.binding is None:
            raise Unfit(f"`{old.name}` is used elsewhere and would be missing")
        if [each.kind for each in old.scope.chain()] != [each.kind for each in new.scope.chain()]:
            raise Unfit("the result changes what stands around it")
    if target.language == "python":
        missing = sorted(after.unresolved - before.unresolved - BUILT_IN)
        if missing and not any(node.type == "wildcard_import" for node in _imports(tree)):
            place = next(use for use in after.uses if use.binding is None and use.name in missing)
            raise Unfit(f"`{missing[0]}` is not known in this file", tree.char(place.start))


def _outside(names: Names, start: int, end: int) -> list[Use]:
    return [use for use in names.uses if not start <= use.start < end]


def _imports(tree: Tree) -> list[Node]:
    return [child for node in tree.root.named_children if node.type == "import_from_statement" for child in node.named_children]


def _check_definitions(target: Target, replace: Replace) -> None:
    """Where names cannot be followed: what is defined here and spoken of elsewhere is still spoken of here."""
    source = Source("", target.snapshot.path, target.language)
    old = target.text[replace.start : replace.end]
    elsewhere = target.text[: replace.start] + "\n" + target.text[replace.end :]
    for each in definitions(source, target.text):
        word = re.compile(rf"\b{re.escape(each.name)}\b")
        if each.text.partition("\n")[0] in old and word.search(elsewhere) and not word.search(replace.text):
            raise Unfit(f"`{each.name}` is used elsewhere and would be missing")

"""Diagnostics whose mend the syntax tree knows: an import that is not used, and one of the standard library that is missing (Python)."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from mercury_lsp.refactor.changes import Changes, Replace
from mercury_lsp.refactor.target import Target

if TYPE_CHECKING:
    from tree_sitter import Node

_UNUSED = re.compile(r"[\"'`](?:[\w.]+\.)?(\w+)[\"'`] (?:imported but unused|is not accessed)|[Uu]nused import:? [\"'`]?(\w+)")
_MISSING = re.compile(r"(?:undefined name|[Uu]ndefined name|name) [\"'`](\w+)[\"'`]|[\"'`](\w+)[\"'`] is not defined")


def mended(target: Target, message: str) -> Changes | None:
    """None where the tree does not tell."""
    if target.language != "python":
        return None
    if unused := _UNUSED.search(message):
        return _without(target, unused[1] or unused[2])
    if missing := _MISSING.search(message):
        return _with(target, missing[1] or missing[2])
    return None


def _without(target: Target, name: str) -> Changes | None:
    """The file without the import of `name` that the diagnostic is about, if nothing uses it."""
    names, tree = target.names, target.tree
    bindings = [binding for binding in names.module.bindings.get(name, ()) if all(use.declares for use in names.by_binding[binding])]
    row = target.text.count("\n", 0, target.start)
    for node in tree.root.named_children:
        if node.type in ("import_statement", "import_from_statement") and bindings and node.start_point.row <= row <= node.end_point.row:
            listed = node.children_by_field_name("name")
            places = [place for place, each in enumerate(listed) if _bound(target, each) == name]
            if len(places) == 1:
                return Changes((_gone(target, node, listed, places[0]),), generated=False)
    return None


def _bound(target: Target, node: Node) -> str:
    alias = node.child_by_field_name("alias")
    return target.tree.text_of(alias) if alias is not None else target.tree.text_of(node).partition(".")[0]


def _gone(target: Target, node: Node, listed: list[Node], place: int) -> Replace:
    char, text = target.tree.char, target.text
    if len(listed) == 1:
        start, end = char(node.start_byte), char(node.end_byte)
        if start == 0:  # no blank lines at the top of the file
            return Replace(0, len(text) - len(text[end:].lstrip("\n")), "")
        return Replace(start, end + 1 if text[start - 1] == text[end : end + 1] == "\n" else end, "")
    if place + 1 < len(listed):
        return Replace(char(listed[place].start_byte), char(listed[place + 1].start_byte), "")
    return Replace(char(listed[place - 1].end_byte), char(listed[place].end_byte), "")


def _with(target: Target, name: str) -> Changes | None:
    if name not in sys.stdlib_module_names or name not in target.names.unresolved:
        return None
    imports = [node for node in target.tree.root.named_children if node.type in ("import_statement", "import_from_statement")]
    if imports:
        at = target.tree.char(imports[0].start_byte)
        return Changes((Replace(at, at, f"import {name}\n"),), generated=False)
    at = _after_head(target)
    return Changes((Replace(at, at, f"import {name}\n" if at == 0 else f"\nimport {name}\n"),), generated=False)


def _after_head(target: Target) -> int:
    """Behind the file's documentation and what imports from the future."""
    at = 0
    for node in target.tree.root.named_children:
        is_doc = node.type == "expression_statement" and node.named_children[0].type == "string"
        if not (is_doc or node.type in ("comment", "future_import_statement")):
            break
        end = target.text.find("\n", target.tree.char(node.end_byte))
        at = end + 1 if end >= 0 else len(target.text)
    return at

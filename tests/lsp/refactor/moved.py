"""Refactorings that move code, without a server: a text with a marked selection in, the text afterwards out."""

from __future__ import annotations

import textwrap

import pytest

from mercury_lsp.refactor.changes import applied
from mercury_lsp.refactor.extract.function import extract_function
from mercury_lsp.refactor.extract.variable import extract_variable
from mercury_lsp.refactor.grammars.table import GRAMMARS
from mercury_lsp.refactor.inline import inline_variable
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.selection import select, trimmed
from mercury_lsp.syntax import Tree


def moved(how: str, language: str, marked: str, name: str) -> str:
    start, end = marked.index("«"), marked.replace("«", "").index("»")
    text = marked.replace("«", "").replace("»", "")
    tree = Tree.parse(text, language)
    assert tree is not None and len(tree.faults() or ()) == 0, "the example does not parse"
    names = Names(tree, GRAMMARS[language])
    if how == "inline":
        replaces, _ = inline_variable(names, tree.byte(start), tree.byte(end))
    else:
        extract = extract_function if how == "function" else extract_variable
        replaces, chosen = extract(names, select(tree, GRAMMARS[language], *trimmed(tree, start, end)), name)
        assert chosen == name
    after = applied(text, replaces)
    parsed = Tree.parse(after, language)
    assert parsed is not None and len(parsed.faults() or ()) == 0, after
    return after


def check(how: str, language: str, marked: str, after: str, name: str = "extracted") -> None:
    got = moved(how, language, plain(marked), name)
    assert got == plain(after), got


def refused(how: str, language: str, marked: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        moved(how, language, plain(marked), "extracted")


def plain(text: str) -> str:
    """Without the margin; an arrow is a tab."""
    return textwrap.dedent(text).lstrip("\n").replace("→", "\t")

"""Names for what a refactoring makes: proposed from the code, in the language's way, and not taken yet. Knows no model."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from mercury_lsp.refactor.grammars.grammar import inner
from mercury_lsp.refactor.names import Names

if TYPE_CHECKING:
    from tree_sitter import Node

_SNAKE = frozenset({"python", "rust"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_LONGEST = 4  # words
_KEYWORDS = frozenset(
    "and as assert async await break case catch class const continue default def del do elif else enum except export extends false final"
    " finally fn for from func function global go goto if impl import in interface is lambda let loop map match mod move mut new nil none"
    " nonlocal not null or package pass private protected pub public raise range return select self static struct super switch this throw"
    " trait true try type use using var void where while with yield int float str string bool char long double byte len print".split()
)
_CALLS = frozenset({"call", "call_expression", "method_invocation", "macro_invocation"})


def styled(words: list[str], language: str) -> str:
    """Words as one name: `like_this` or `likeThis`."""
    lowered = [word.lower() for word in words if word][:_LONGEST]
    if language in _SNAKE:
        return "_".join(lowered)
    return "".join(word if place == 0 else word.capitalize() for place, word in enumerate(lowered))


def words_of(text: str) -> list[str]:
    return _WORDS.findall(text)


def is_name(text: str) -> bool:
    return _IDENTIFIER.fullmatch(text) is not None and text.lower() not in _KEYWORDS


def free(wanted: str, names: Names) -> str:
    """`wanted`, or the like of it that the document does not have."""
    if wanted not in names.words:
        return wanted
    return next(
        f"{wanted}{mark}{number}"
        for mark in ["_" if names.tree.language in _SNAKE else ""]
        for number in range(2, 10_000)
        if f"{wanted}{mark}{number}" not in names.words
    )


def for_function(names: Names, results: list[str], nodes: list[Node]) -> str:
    """From what it gives, else from what it calls first."""
    language = names.tree.language
    if results:
        return free(styled(["compute", *words_of(results[0])], language), names)
    called = _first_called(names, nodes)
    return free(styled([*words_of(called), "step"] if called else ["extracted"], language), names)


def for_variable(names: Names, expression: Node) -> str:
    """From the attribute or the call that it is, else `value`."""
    text = names.tree.text_of
    field = (
        expression.child_by_field_name("attribute") or expression.child_by_field_name("property") or expression.child_by_field_name("field")
    )
    if field is not None:
        return free(_plain(text(field), names), names)
    if expression.type in _CALLS:
        called = _first_called(names, [expression])
        return free(_plain(called, names) if called else "result", names)
    if "comparison" in expression.type or "boolean" in expression.type:
        return free(styled(["condition"], names.tree.language), names)
    return free(styled(["text"] if "string" in expression.type else ["value"], names.tree.language), names)


def _plain(name: str, names: Names) -> str:
    wanted = styled(words_of(name), names.tree.language)
    return wanted if is_name(wanted) else "value"


def _first_called(names: Names, nodes: list[Node]) -> str:
    text = names.tree.text_of
    for top in nodes:
        for node in inner(top):
            if node.type in _CALLS:
                called = node.child_by_field_name("function") or node.child_by_field_name("name") or node.child_by_field_name("macro")
                last = re.findall(r"[^\W\d]\w*", text(called)) if called is not None else []
                if last:
                    return str(last[-1])
    return ""


def proposed(answer: str, names: Names, fallback: str, fits: Callable[[str], bool] = is_name) -> str:
    """A model's answer as a name, if it is one that nothing has yet; else the fallback."""
    found = _IDENTIFIER.match(answer.strip())
    if found is None or not fits(found[0]) or found[0] in names.words or len(found[0]) < 3:
        return fallback
    return styled(words_of(found[0]), names.tree.language) or fallback

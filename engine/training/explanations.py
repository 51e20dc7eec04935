"""Conversations about a function: its code, a question, and what its documentation says first. Knows no token."""

from __future__ import annotations

import random
import re

from engine.api import Turn
from engine.instructions import about
from engine.training.syntax import Source
from engine.training.tasks.docs import is_documented
from engine.training.tasks.functions import Definition, functions

_LONGEST = 25  # rows of code
_QUESTIONS = (
    "What does this function do?", "What does this do?", "Explain this function.", "Explain this code.", "What is {name} for?",
    "Describe {name} in a sentence.", "What does `{name}` do?", "Summarise this code.",
)  # fmt: skip
_MARKS = re.compile(r'^\s*(?:/\*\*?|\*/|\*(?!\*)|///?!?|--+|#+|[rub]?"""|[rub]?\'\'\'|"|\')? ?|\s*(?:\*/|"""|\'\'\')\s*$')
_FIELD = re.compile(r"^\s*(?:[:@]\w+|Args:|Parameters|Returns:|Raises:|Example|>>>|\.\. |-{3,}|```|# )", re.IGNORECASE)
_FIRST = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)


def explanation(source: Source, rng: random.Random) -> tuple[Turn, Turn] | None:
    """A question about one of the file's documented functions, and its answer; None where there is none that is short enough."""
    found = [each for each in functions(source) if is_documented(source, each) and each.end - each.top <= _LONGEST]
    found = [each for each in found if not each.name.lower().startswith("test")]
    for function in rng.sample(found, min(4, len(found))):
        answer = _answer(source, function)
        if answer:
            question = rng.choice(_QUESTIONS).format(name=function.name)
            return Turn("user", about(question, _code(source, function), source.language)), Turn("assistant", answer)
    return None


def _code(source: Source, function: Definition) -> str:
    """The function without its documentation, as far left as it can stand."""
    assert function.doc is not None
    first, end = function.doc
    rows = [line for row, line in enumerate(source.lines[function.top : function.end], function.top) if not first <= row < end]
    return "\n".join(row.removeprefix(function.indent) for row in rows)


def _answer(source: Source, function: Definition) -> str:
    """The documentation's first sentence or two, as one line; nothing where it is not prose."""
    assert function.doc is not None
    said: list[str] = []
    for line in source.lines[slice(*function.doc)]:
        text = _MARKS.sub("", line).strip()
        if (said and not text) or _FIELD.match(text):
            break
        said += [text] if text else []
    words = " ".join(said)
    sentences = [match[0].strip() for match in _FIRST.finditer(words)] or [words]
    answer = " ".join(sentences[:2])
    if len(answer) < 20 or len(answer) > 300 or not answer[0].isalnum():
        return ""
    answer = answer if answer.endswith((".", "!", "?")) else answer.rstrip(":;,") + "."
    return answer if answer.startswith(function.name) else answer[0].upper() + answer[1:]

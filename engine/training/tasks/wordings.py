"""How a task is asked for: mostly as its command does, sometimes as a person might. Knows no file and no token."""

from __future__ import annotations

import random
from collections.abc import Mapping

from engine.instructions import instruction

_CANONICAL = 0.65  # share of the rows that ask as the command does
_PARAPHRASES = {
    "docstring": ("add a docstring", "document this", "write documentation for {symbol}", "add documentation",
                  "describe what {symbol} does in its docstring"),
    "update_docstring": ("complete the docstring", "bring the documentation up to date",
                         "the docstring is incomplete, fix it", "finish the documentation of {symbol}"),
    "types": ("add types", "annotate the signature", "type this function", "add type hints", "add the missing types"),
    "body": ("implement this", "implement {symbol}", "fill in the body", "write the implementation", "finish this function"),
    "comment": ("implement the comment", "write the code for this comment", "turn the comment into code", "do what the comment says"),
    "simplify": ("make this simpler", "clean this up", "simplify this code", "refactor this to be simpler", "make it shorter"),
    "fix": ("fix this error: {message}", "{message}", "resolve: {message}", "correct this: {message}", "the linter says: {message}"),
    "rename": ("rename `{old}` to `{new}`", "call {old} {new} instead", "change the name {old} to {new}",
               "{old} should be called {new}", "replace {old} by {new}"),
    "parameter": ("add a parameter {parameter}", "add parameter `{parameter}`", "take {parameter} as the last parameter",
                  "give it a parameter {parameter}"),
    "handle_errors": ("catch {error}", "handle {error} here", "wrap this in try for {error}", "add error handling for {error}"),
    "add_comments": ("comment this code", "add a comment", "explain this with a comment", "add short comments"),
    "remove_comments": ("delete the comments", "strip comments", "remove all comments", "no comments please"),
    "log": ("log this", "add a log statement", "add log output", "log what happens here"),
}  # fmt: skip


def wording(name: str, symbol: str, values: Mapping[str, str], rng: random.Random) -> str:
    """What is asked for task `name`, of the definition `symbol` where there is one."""
    if rng.random() < _CANONICAL:
        return instruction(name, **values)
    choices = [words for words in _PARAPHRASES[name] if symbol or "{symbol}" not in words]
    words = rng.choice(choices).format(symbol=symbol, **values)
    return _as_typed(words, rng) if not values else words


def _as_typed(words: str, rng: random.Random) -> str:
    """Capitals and a stop, or neither."""
    words = words[0].upper() + words[1:] if rng.random() < 0.3 else words
    return words + "." if rng.random() < 0.15 else words

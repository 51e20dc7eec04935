"""How an answer calls functions: the form it is written in, its grammar, and the calls read back while it is written. Knows no model.

    <tool_call>
    {"name": "weather", "arguments": {"city": "Paris"}}
    </tool_call>

The form is the one that most open models with tools were trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from engine.serving.schemas import checked

_OPEN, _NAME_ENDS, _CLOSE = '<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>"
_PROMISES = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


class Function(msgspec.Struct, frozen=True):
    """A function an answer may call; `parameters` is a JSON Schema as text."""

    name: str
    parameters: str
    description: str = ""
    strict: bool = False  # False: what the grammar cannot hold arguments to is left out of it


class CallPiece(msgspec.Struct, frozen=True):
    """Something more of the call `index`: its name, once, or more of its arguments' text."""

    index: int
    name: str | None = None
    arguments: str = ""


def described(functions: Sequence[Function]) -> str:
    """What a model is told of the functions."""
    shown = "\n".join(
        json.dumps({"name": each.name, "description": each.description, "parameters": json.loads(each.parameters)}) for each in functions
    )
    return f"You may call these functions:\n<tools>\n{shown}\n</tools>\nA call is written as\n{written('name', '{}')}"


def written(name: str, arguments: str) -> str:
    """A call in its form."""
    return f"{_OPEN}{name}{_NAME_ENDS}{arguments}{_CLOSE}"


def grammar(functions: Sequence[Function], *, several: bool, text: bool) -> str:
    """The grammar of answers that call functions, more than one where `several`; with `text` they may be text instead.

    Raises `GrammarUnsupported` where a schema is not one.
    """
    alternatives = " | ".join(f"call_{number}" for number in range(len(functions)))
    lines = [
        f"start: {'TEXT | ' if text else ''}calls",
        'calls: call ("\\n" call)*' if several else "calls: call",
        f"call: {alternatives}",
        *(["TEXT: /([^<](.|\\n)*)?/"] if text else []),
    ]
    for number, function in enumerate(functions):
        head = json.dumps(_OPEN + function.name + _NAME_ENDS)
        lines += [f"call_{number}: {head} arguments_{number} {json.dumps(_CLOSE)}", f"arguments_{number}: %json {_arguments(function)}"]
    return "\n".join(lines)


def _arguments(function: Function) -> str:
    schema = checked(function.parameters)
    options = {**_PROMISES, "lenient": not function.strict}
    return json.dumps({**(schema if isinstance(schema, dict) else {}), "type": "object", "x-guidance": options})


class CallReader:
    """Reads an answer as it is written: text, or calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._held = ""
        self._is_text = False
        self._reading = "open"  # open → name → arguments → close → open
        self._depth = 0
        self._in_string = self._escaped = False

    def push(self, piece: str) -> tuple[str, list[CallPiece]]:
        """The text and the pieces of calls that `piece` brings."""
        self._held += piece
        if self._is_text or not (self.calls or self._reading != "open" or _may_begin(self._held, _OPEN)):
            self._is_text = True
            text, self._held = self._held, ""
            return text, []
        found: list[CallPiece] = []
        while (more := self._next()) is not None:
            found += more
        return "", found

    def close(self) -> str:
        """Text that was held back because it might have begun a call."""
        text, self._held = (self._held, "") if not self.calls and self._reading == "open" else ("", "")
        return text

    def _next(self) -> list[CallPiece] | None:
        """One step on; None where more text must come first."""
        if self._reading == "open":
            self._held = self._held.removeprefix("\n") if self.calls else self._held
            return self._past(_OPEN, "name")
        if self._reading == "name":
            name, found, rest = self._held.partition(_NAME_ENDS)
            if not found:
                return None
            self._held, self._reading, self._depth = rest, "arguments", 0
            self.calls += 1
            return [CallPiece(self.calls - 1, json.loads(f'"{name}"'))]
        if self._reading == "arguments":
            return self._arguments()
        return self._past(_CLOSE, "open")

    def _past(self, expected: str, then: str) -> list[CallPiece] | None:
        if not self._held.startswith(expected):
            return None
        self._held, self._reading = self._held[len(expected) :], then
        return []

    def _arguments(self) -> list[CallPiece] | None:
        """All of the held text that is arguments still."""
        for place, char in enumerate(self._held):
            self._see(char)
            if self._depth == 0 and char == "}" and not self._in_string:
                text, self._held, self._reading = self._held[: place + 1], self._held[place + 1 :], "close"
                return [CallPiece(self.calls - 1, None, text)]
        text, self._held = self._held, ""
        return [CallPiece(self.calls - 1, None, text)] if text else None

    def _see(self, char: str) -> None:
        if self._in_string:
            self._in_string = self._escaped or char != '"'
            self._escaped = char == "\\" and not self._escaped
        elif char == '"':
            self._in_string = True
        else:
            self._depth += (char in "{[") - (char in "}]")


def _may_begin(text: str, opening: str) -> bool:
    """Whether `text` may still turn out to begin with `opening`."""
    return text.startswith(opening) or opening.startswith(text)

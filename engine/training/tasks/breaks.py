"""How a line of right code is broken, with what a checker says then: names, brackets, quotes, ends of statements, slips. Knows no task."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.training.syntax import Source
from engine.training.tasks.names import KEYWORDS
from engine.training.tasks.slips import SLIPS, Slip

_HIDDEN = "\x01"
_NAME = re.compile(r"(?<![\w.$@:>\"'-])[A-Za-z_]\w{3,}\b(?!\s*(?:=[^=]|:=|:[^:=]))")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_STATEMENT_END = frozenset({"java", "c", "c++", "c#", "rust", "php"})
_BRACKET = {
    "python": ("'{open}' was never closed", '"{open}" was not closed', "unexpected EOF while parsing"),
    "javascript": ("'{close}' expected.", "Parsing error: Unexpected token"),
    "typescript": ("'{close}' expected.",),
    "go": ("syntax error: unexpected newline, expected {close}", "missing '{close}'"),
    "rust": ("mismatched closing delimiter", "this file contains an unclosed delimiter"),
    "java": ("'{close}' expected", "'{close}' or ',' expected"),
    "c": ("expected '{close}'",),
    "c++": ("expected '{close}'",),
}
_QUOTE = {
    "python": ("unterminated string literal", "missing closing quote in string literal", "String literal is unterminated"),
    "javascript": ("Unterminated string literal.", "Parsing error: Unterminated string constant"),
    "typescript": ("Unterminated string literal.",),
    "go": ("newline in string", "string literal not terminated"),
    "rust": ("unterminated double quote string",),
    "java": ("unclosed string literal",),
    "c": ("missing terminating '{quote}' character",),
    "c++": ("missing terminating '{quote}' character",),
}
_SEMICOLON = {
    "java": ("';' expected",),
    "rust": ("expected `;`", "expected `;`, found `{next}`"),
    "php": ('syntax error, unexpected token, expecting ";"',),
    "c#": ("; expected",),
}
_COMMA = {
    "python": ("invalid syntax. Perhaps you forgot a comma?", "'(' was never closed", "Expected ','"),
    "javascript": ("',' expected.", "Parsing error: Unexpected token"),
    "typescript": ("',' expected.",),
    "go": ("syntax error: unexpected newline in argument list; possibly missing comma or )",),
    "rust": ("expected one of `,` or `)`",),
}
_UNDEFINED = {
    "python": ("undefined name '{name}'", "Undefined name `{name}`", '"{name}" is not defined', "name '{name}' is not defined"),
    "javascript": ("'{name}' is not defined.", "Cannot find name '{name}'.", "Cannot find name '{name}'. Did you mean '{right}'?"),
    "typescript": ("Cannot find name '{name}'.", "Cannot find name '{name}'. Did you mean '{right}'?"),
    "go": ("undefined: {name}",),
    "rust": ("cannot find value `{name}` in this scope", "use of undeclared identifier `{name}`"),
    "java": ("cannot find symbol: variable {name}", "cannot find symbol", "{name} cannot be resolved"),
    "c": ("use of undeclared identifier '{name}'", "use of undeclared identifier '{name}'; did you mean '{right}'?"),
    "c++": ("use of undeclared identifier '{name}'", "use of undeclared identifier '{name}'; did you mean '{right}'?"),
    "lua": ("Undefined global `{name}`.",),
    "php": ("Undefined variable ${name}",),
}
_NO_TYPE = {
    "rust": ("cannot find type `{name}` in this scope", "use of undeclared type `{name}`"),
    "java": ("cannot find symbol: class {name}", "{name} cannot be resolved to a type"),
    "c": ("unknown type name '{name}'",),
    "c++": ("unknown type name '{name}'", "use of undeclared identifier '{name}'"),
}


@dataclass(frozen=True, kw_only=True)
class Break:
    """`line` is what the row becomes; the checker points at `column` of it."""

    line: str
    message: str
    column: int


Breaker = Callable[[Source, int, random.Random], Break | None]


def slip(source: Source, row: int, rng: random.Random) -> Break | None:
    """One of the table's slips."""
    code, line = source.code_lines[row], source.lines[row]
    found = [(each, match) for each in SLIPS if source.language in each.languages and (match := each.pattern.search(code))]
    if not found:
        return None
    chosen, match = rng.choice(found)
    return _slipped(chosen, match, line, rng)


def _slipped(chosen: Slip, match: re.Match[str], line: str, rng: random.Random) -> Break:
    groups = [line[slice(*match.span(number))] if match.span(number)[0] >= 0 else "" for number in range(len(match.groups()) + 1)]
    wrong = chosen.wrong.format(*groups)
    column = match.start() + (len(wrong) if chosen.at_end else len(wrong) - len(wrong.lstrip()))
    broken = line[: match.start()] + wrong + line[match.end() :]
    return Break(line=broken, message=rng.choice(chosen.messages).format(*groups), column=column)


def misspelling(source: Source, row: int, rng: random.Random) -> Break | None:
    """A name that the file knows already, with a letter wrong."""
    matches = [
        match for match in _NAME.finditer(source.code_lines[row]) if match[0].lower() not in KEYWORDS and "from " not in source.lines[row]
    ]
    if not matches or source.language not in _UNDEFINED:
        return None
    match = rng.choice(matches)
    name, wrong = match[0], misspelt(match[0], rng)
    known = re.search(rf"(?<![\w.]){name}\b", source.code[: source.starts[row]])
    if known is None or wrong == name or re.search(rf"\b{re.escape(wrong)}\b", source.text):
        return None
    messages = _NO_TYPE.get(source.language, ()) if name[0].isupper() else ()
    message = rng.choice(messages or _UNDEFINED[source.language]).format(name=wrong, right=name)
    line = source.lines[row]
    return Break(line=line[: match.start()] + wrong + line[match.end() :], message=message, column=match.start())


def misspelt(name: str, rng: random.Random) -> str:
    """The name with two letters exchanged, one left out, or one doubled."""
    at = rng.randrange(1, len(name) - 1)
    exchanged = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return rng.choice((exchanged, name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:]))


def bracket(source: Source, row: int, rng: random.Random) -> Break | None:
    """A closing bracket left out of a line in which all were closed."""
    code, line = source.code_lines[row], source.lines[row]
    places = [place for place, character in enumerate(code) if character in _CLOSERS]
    if not places or any(code.count(close) != code.count(opening) for close, opening in _CLOSERS.items()):
        return None
    at = rng.choice(places[-2:])
    messages = _BRACKET.get(source.language, ("syntax error: expected '{close}'",))
    opening = code.rindex(_CLOSERS[code[at]], 0, at)
    message = rng.choice(messages).format(open=_CLOSERS[code[at]], close=code[at])
    return Break(
        line=line[:at] + line[at + 1 :], message=message, column=opening if "close" not in message and source.language == "python" else at
    )


def quote(source: Source, row: int, rng: random.Random) -> Break | None:
    """A string of one line that lost its closing quote."""
    code, line = source.code_lines[row], source.lines[row]
    strings = [match.span() for match in re.finditer(f"{_HIDDEN}+", code)]
    strings = [
        (first, end)
        for first, end in strings
        if end - first > 2 and line[end - 1] in "\"'" and line[end - 2] not in "\"'\\" and line[first] not in "#/-"
    ]
    if not strings:
        return None
    first, end = rng.choice(strings)
    message = rng.choice(_QUOTE.get(source.language, ("unterminated string meets end of file",))).format(quote=line[end - 1])
    return Break(line=line[: end - 1] + line[end:], message=message, column=first)


def separator(source: Source, row: int, rng: random.Random) -> Break | None:
    """A semicolon or comma missing at a line's end."""
    code, line = source.code_lines[row].rstrip(), source.lines[row].rstrip()
    following = source.code_lines[row + 1].strip() if row + 1 < len(source.lines) else ""
    if code.endswith(";") and source.language in _STATEMENT_END:
        messages = _SEMICOLON.get(source.language, ("expected ';' after expression", "expected ';'"))
    elif code.endswith(",") and following[:1].isalnum() and source.language in _COMMA:
        messages = _COMMA[source.language]
    else:
        return None
    message = rng.choice(messages).format(next=following.split("(")[0].split(" ")[0] or "}")
    return Break(line=line[:-1], message=message, column=len(line) - 1)


def indentation(source: Source, row: int, rng: random.Random) -> Break | None:
    """A line of Python that stands too deep, or the first of a block that does not stand deep enough."""
    line, above = source.lines[row], source.code_lines[row - 1].rstrip() if row else ""
    depth = len(line) - len(line.lstrip())
    if source.language != "python" or depth < 4 or not source.code_lines[row].strip(f"{_HIDDEN} "):
        return None
    if above.endswith(":"):
        word = above.split()[0].rstrip(":")
        return Break(line=line[4:], message=f"expected an indented block after '{word}' statement", column=depth - 4)
    if above.endswith((",", "(", "[", "{", "\\")) or not above or len(above) - len(above.lstrip()) != depth:
        return None
    return Break(line="    " + line, message=rng.choice(("unexpected indent", "Unexpected indentation")), column=depth + 4)


BREAKERS: tuple[tuple[float, Breaker], ...] = (
    (0.40, slip),
    (0.25, misspelling),
    (0.10, bracket),
    (0.10, quote),
    (0.08, separator),
    (0.07, indentation),
)

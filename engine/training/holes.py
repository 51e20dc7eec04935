"""Where a hole is cut in a text: the rest of a line, a line, some lines, a body, a random span. Knows no token."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

import tree_sitter

from engine.training.syntax import LANGUAGES, Source

# Shares of the rows.
_KINDS = {"rest": 0.35, "line": 0.15, "lines": 0.27, "body": 0.05, "span": 0.18}
_CLOSERS = re.compile(r"[)\]}>'\"`;:,]+\s*$")
_OPENS_BODY = re.compile(r"[:{]\s*$")
_LONGEST_SPAN = 120
_LONGEST_BODY = 1500
# Of the holes that begin with a line: the cursor stands before its indentation, or within it. Without such rows the model took a blank
# line for one that stays blank: of 150 lines of HumanEval-Infilling, which begin at the margin, 4 % passed (2026-12-01).
_AT_MARGIN, _IN_INDENT = 0.4, 0.1
_TRIES = 20
_LARGEST_PARSED = 40_000  # characters; parsing costs 1 ms in 5,000
_BLOCKS = ("block", "statement_block", "compound_statement", "body_statement", "constructor_body", "do_block", "do_group", "then")


@dataclass(frozen=True, kw_only=True)
class Hole:
    """`text[start:end]` is the middle."""

    start: int
    end: int
    kind: str


def cut(text: str, rng: random.Random, language: str = "", path: str = "") -> Hole:
    """A hole drawn by the shares. Falls back to a random span where the text has no place for the kind drawn.

    Bodies are those of the syntax tree where the language has a grammar, else told by indentation.
    """
    kind = rng.choices(list(_KINDS), weights=list(_KINDS.values()))[0]
    if kind == "body" and language in LANGUAGES and len(text) <= _LARGEST_PARSED:
        parsed = _parsed_body(Source(text, language, path), rng)
        return parsed or _span(text, rng.randrange(max(1, len(text))), rng)
    for _ in range(_TRIES):
        first = rng.randrange(max(1, len(text)))
        start = text.rfind("\n", 0, first) + 1
        hole = _CUTTERS[kind](text, start, rng)
        if hole is not None:
            return hole
    return _span(text, rng.randrange(max(1, len(text))), rng)


def _rest(text: str, start: int, rng: random.Random) -> Hole | None:
    """From a character of a line to its end; in half of the cases closing characters at the line's end stay."""
    indent, end = _indent(text, start), _line_end(text, start)
    if end <= indent:
        return None
    cursor = rng.randint(indent, end)
    closers = _CLOSERS.search(text, indent, end)
    if closers and cursor < closers.start() and rng.random() < 0.5:
        end = closers.start()
    return Hole(start=cursor, end=end, kind="rest")


def _line(text: str, start: int, rng: random.Random) -> Hole | None:
    """A line to its end, from its indentation or before that."""
    indent, end = _indent(text, start), _line_end(text, start)
    return Hole(start=_beginning(start, indent, rng), end=end, kind="line") if end > indent else None


def _lines(text: str, start: int, rng: random.Random) -> Hole | None:
    """Two to six lines, from an indentation or before it, or from somewhere in the first."""
    indent, end = _indent(text, start), _line_end(text, start)
    if end <= indent:
        return None
    cursor = rng.randint(indent, end) if rng.random() < 0.3 else _beginning(start, indent, rng)
    for _ in range(rng.randint(1, 5)):
        if end < len(text):
            end = _line_end(text, end + 1)
    while end > cursor and text[end - 1] in "\n \t":
        end -= 1
    return Hole(start=cursor, end=end, kind="lines") if "\n" in text[cursor:end] else None


def _parsed_body(source: Source, rng: random.Random) -> Hole | None:
    """The statements of a block that begins on a line of its own."""
    spans = [span for node in source.nodes(*_BLOCKS) if (span := _statements(source, node)) and span[1] - span[0] <= _LONGEST_BODY]
    if not spans:
        return None
    start, end = rng.choice(spans)
    return Hole(start=start, end=end, kind="body")


def _statements(source: Source, node: tree_sitter.Node) -> tuple[int, int] | None:
    """From the first statement of a block to its last, where they have their lines for themselves."""
    if not node.named_children or node.has_error:
        return None
    start, end = source.span(node.named_children[0])[0], source.span(node.named_children[-1])[1]
    begins_line = not source.text[source.text.rfind("\n", 0, start) + 1 : start].strip()
    ends_line = not source.text[end : _line_end(source.text, end)].strip()
    return (start, end) if begins_line and ends_line else None


def _body(text: str, start: int, rng: random.Random) -> Hole | None:
    """All lines that are indented deeper than the line that opens them."""
    opening = _line_end(text, start)
    if not _OPENS_BODY.search(text, start, opening) or opening >= len(text):
        return None
    depth = _indent(text, start) - start
    first = end = opening + 1
    while end < len(text):
        indent, stop = _indent(text, end), _line_end(text, end)
        if stop > indent and indent - end <= depth:
            break
        end = stop + 1
    end = min(end, len(text))
    while end > first and text[end - 1] in "\n \t":
        end -= 1
    cursor = _indent(text, first)
    return Hole(start=cursor, end=end, kind="body") if cursor < end <= cursor + _LONGEST_BODY else None


def _span(text: str, start: int, rng: random.Random) -> Hole:
    """Up to 120 characters from anywhere near `start`."""
    start = min(len(text), start + rng.randrange(40))
    return Hole(start=start, end=min(len(text), start + rng.randint(1, _LONGEST_SPAN)), kind="span")


_CUTTERS = {"rest": _rest, "line": _line, "lines": _lines, "body": _body, "span": _span}


def _beginning(start: int, indent: int, rng: random.Random) -> int:
    """Where the cursor stands that is to begin a line."""
    at = rng.random()
    if at < _AT_MARGIN:
        return start
    return rng.randint(start, indent) if at < _AT_MARGIN + _IN_INDENT else indent


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _indent(text: str, start: int) -> int:
    """The place of the first character of a line that is not blank, or the line's end."""
    while start < len(text) and text[start] in " \t":
        start += 1
    return start

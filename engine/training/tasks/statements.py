"""Tasks that add or take away statements and comments: log output, handling of an error, remarks. Knows no token."""

from __future__ import annotations

import random
import re

import tree_sitter

from engine.training.syntax import Source, parses
from engine.training.tasks.bodies import is_prose
from engine.training.tasks.task import Task, around, try_each

_LOGGED = re.compile(
    r"^\s*((self\.|this\.)?_?(log|logger|LOG|LOGGER|logging|slog|console|zap)\.\w+|log\.\w+|(debug|info|warn|error|trace)!)\(.*\);?$"
)
_LOUD = re.compile(r"\b(getLogger|setLevel|basicConfig|disable|addHandler|WithFields)\b")
_COMMENTS = ("comment", "line_comment", "block_comment")
_MOST_HANDLED = 8  # rows
_LONGEST_HANDLER = 4


def log(source: Source, rng: random.Random) -> Task | None:
    """Rows around a log statement, without it."""
    rows = [row for row, line in enumerate(source.code_lines) if _LOGGED.match(line) and not _LOUD.search(line)]
    return try_each(rows, lambda row: _log(source, row, rng), rng, tries=3)


def handle_errors(source: Source, rng: random.Random) -> Task | None:
    """What a try statement with one handler holds, without the statement."""
    return try_each(source.nodes("try_statement"), lambda node: _handle(source, node), rng)


def add_comments(source: Source, rng: random.Random) -> Task | None:
    """Rows without the remark that stands in them."""
    found = [node for node in source.nodes(*_COMMENTS) if _has_rows(source, node) and is_prose(source.of(node))]
    return try_each(found, lambda node: _add(source, node, rng), rng)


def remove_comments(source: Source, rng: random.Random) -> Task | None:
    """Rows with remarks, without any afterwards."""
    found = [node for node in source.nodes(*_COMMENTS) if is_prose(source.of(node))]
    return try_each(found, lambda node: _remove(source, node, rng), rng)


def _log(source: Source, row: int, rng: random.Random) -> Task | None:
    first, end = around(source, row, row + 1, rng)
    region = "\n".join([*source.lines[first:row], *source.lines[row + 1 : end]])
    without = "\n".join([*source.lines[:row], *source.lines[row + 1 :]])
    if not region.strip() or not parses(without, source.language, source.path):
        return None
    return Task(name="log", first=first, end=end, region=region, answer=source.rows(first, end))


def _handle(source: Source, node: tree_sitter.Node) -> Task | None:
    body = node.child_by_field_name("body")
    handlers = [child for child in node.named_children if child.type in ("except_clause", "catch_clause")]
    others = [child for child in node.named_children if child.type in ("else_clause", "finally_clause")]
    error = _error(source, handlers[0]) if len(handlers) == 1 and not others else ""
    if body is None or not error or not _has_rows(source, node):
        return None
    braces = source.language != "python"
    rows = source.lines[body.start_point.row + braces : body.end_point.row + 1 - braces]
    outer = len(source.lines[node.start_point.row]) - len(source.lines[node.start_point.row].lstrip())
    deep = min((len(row) - len(row.lstrip()) for row in rows if row.strip()), default=0)
    if not 1 <= len(rows) <= _MOST_HANDLED or deep <= outer or handlers[0].end_point.row - handlers[0].start_point.row > _LONGEST_HANDLER:
        return None
    region = "\n".join(row[deep - outer :] if row.strip() else row for row in rows)
    first, end = node.start_point.row, node.end_point.row + 1
    return Task(name="handle_errors", first=first, end=end, region=region, answer=source.rows(first, end), values={"error": error})


def _error(source: Source, handler: tree_sitter.Node) -> str:
    """What a handler catches, by name."""
    match = re.match(r"except \(?([\w., ]+?)\)?(?: as \w+)?:|catch \((?:final )?([\w.| ]+) \w+\)", source.of(handler))
    return (match[1] or match[2]) if match else ""


def _add(source: Source, node: tree_sitter.Node, rng: random.Random) -> Task | None:
    gone = range(node.start_point.row, _last_row(node) + 1)
    first, end = around(source, gone.start, gone.stop + 1, rng)
    region = "\n".join(source.lines[row] for row in range(first, end) if row not in gone)
    above = source.lines[first - 1] if first else ""
    if not region.strip() or gone.start == first and above.lstrip()[:1] in ("#", "/", "*", "-"):
        return None  # the rest of a longer remark
    return Task(name="add_comments", first=first, end=end, region=region, answer=source.rows(first, end))


def _remove(source: Source, node: tree_sitter.Node, rng: random.Random) -> Task | None:
    first, end = around(source, node.start_point.row, _last_row(node) + 1, rng)
    inside = [other for other in source.nodes(*_COMMENTS) if first <= other.start_point.row and _last_row(other) < end]
    cut = [other for other in source.nodes(*_COMMENTS) if other not in inside and other.start_point.row < end and _last_row(other) >= first]
    if cut or not all(is_prose(source.of(other), words=1) for other in inside):
        return None  # directives stay in the file, and so does the region that has one
    rows = dict(enumerate(source.lines[first:end], first))
    for other in inside:
        start = source.span(other)[0] - source.starts[other.start_point.row]
        before = source.lines[other.start_point.row][:start].rstrip()
        for row in range(other.start_point.row, _last_row(other) + 1):
            rows.pop(row, None)
        if before:
            rows[other.start_point.row] = before
    answer = "\n".join(rows[row] for row in sorted(rows))
    return Task(name="remove_comments", first=first, end=end, region=source.rows(first, end), answer=answer) if answer.strip() else None


def _last_row(node: tree_sitter.Node) -> int:
    """The last row a node has text in: some grammars count a comment's line break to it."""
    return node.end_point.row - (node.end_point.column == 0 and node.end_point.row > node.start_point.row)


def _has_rows(source: Source, node: tree_sitter.Node) -> bool:
    """Whether nothing else stands in a node's rows."""
    first, end = source.span(node)
    row = _last_row(node)
    return not source.text[source.starts[node.start_point.row] : first].strip() and not source.text[end : source.starts[row + 1]].strip()

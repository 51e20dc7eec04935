"""Tasks about bodies: a stub to be completed, a comment to become code. Knows no token."""

from __future__ import annotations

import random
import re

from engine.training.syntax import Source
from engine.training.tasks.functions import Definition, functions
from engine.training.tasks.task import Task, try_each

_LONGEST_BODY = 12
_LONGEST_BLOCK = 8
# What stands in a stub; the empty text leaves braces with nothing between them.
_STUBS = {
    "python": ("pass", "...", "raise NotImplementedError", "# TODO: implement\n{}pass", "raise NotImplementedError()"),
    "javascript": ("", "", "// TODO", 'throw new Error("not implemented");'),
    "typescript": ("", "", "// TODO", 'throw new Error("not implemented");'),
    "go": ("", "// TODO", 'panic("not implemented")'),
    "rust": ("todo!()", "", "unimplemented!()", "// TODO"),
    "java": ("", "// TODO", "throw new UnsupportedOperationException();"),
    "c": ("", "// TODO"),
    "c++": ("", "// TODO"),
    "c#": ("", "// TODO", "throw new NotImplementedException();"),
    "php": ("", "// TODO"),
    "ruby": ("", "# TODO"),
    "lua": ("", "-- TODO"),
    "shell": (":", "# TODO\n{}:"),
}
_KEYWORD_ENDS = ("ruby", "lua")  # bodies that end in a word and begin without a brace
_TRIVIAL = re.compile(r"pass|\.\.\.|raise NotImplementedError.*|return( None| null| nil)?;?|todo!\(.*\)|unimplemented!\(.*\)|panic\(.*\)|")
_COMMENTS = {"python": "#", "ruby": "#", "shell": "#", "lua": "--"}  # elsewhere //
_NOT_PROSE = re.compile(
    r"TODO|FIXME|XXX|HACK|noqa|type:|pylint|pragma|eslint|prettier|@ts-|nolint|go:|clippy|copyright|licen[cs]e|https?:|[-=#*/_]{4}|[{};]\s*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*(else|elif|elsif|except|finally|catch|end|fi|done|rescue|ensure|[)\]}{])")
# What a remark begins with that says something of the code, not what the code is to do.
_REMARKS = re.compile(
    r"\W*(this|these|that|the|note|see|since|because|as|it|its|it's|there|such|same|also|however|source|above|here)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z]{4,}")


def body(source: Source, rng: random.Random) -> Task | None:
    """A function whose short body gave way to a stub."""
    return try_each(functions(source), lambda function: _body(source, function, rng), rng, tries=12)


def comment(source: Source, rng: random.Random) -> Task | None:
    """A comment on lines of its own, without the lines of code that follow it."""
    mark = _COMMENTS.get(source.language, "//")
    rows = [row for row, line in enumerate(source.lines) if _is_comment(line, mark) and not _is_comment(source.lines[row - 1], mark)]
    return try_each(rows, lambda row: _comment(source, row, mark, rng), rng, tries=12)


def is_prose(remark: str, words: int = 2) -> bool:
    """Whether a comment says something, and says it to people."""
    return len(_WORD.findall(remark)) >= words and not _NOT_PROSE.search(remark)


def _body(source: Source, function: Definition, rng: random.Random) -> Task | None:
    first, end = _body_rows(source, function)
    indent = _indent(source.lines[first]) if first < end else ""
    written = source.rows(first, end)
    if not 1 <= end - first <= _LONGEST_BODY or _TRIVIAL.fullmatch(written.strip()) or len(indent) <= len(function.indent):
        return None
    stub = rng.choice(_STUBS[source.language])
    top = function.top if rng.random() < 0.5 else function.first
    if stub:
        stubbed = [*source.lines[top:first], indent + stub.format(indent), *source.lines[end : function.end]]
    elif source.language not in _KEYWORD_ENDS and first == function.body + 1 and rng.random() < 0.5:
        stubbed = [*source.lines[top : first - 1], source.lines[first - 1] + source.lines[end].lstrip()]
    else:
        stubbed = [*source.lines[top:first], *source.lines[end : function.end]]
    region, answer = "\n".join(stubbed), source.rows(top, function.end)
    return Task(name="body", first=top, end=function.end, region=region, answer=answer, symbol=function.name)


def _body_rows(source: Source, function: Definition) -> tuple[int, int]:
    """The rows that a stub leaves out; an empty range where they cannot be told apart from the rest."""
    if source.language == "python":
        return (function.doc[1] if function.doc else function.body), function.end
    if source.language in _KEYWORD_ENDS:
        rows = (function.body, function.body_node.end_point.row + 1)
        return rows if function.body > function.signature and rows[1] == function.end - 1 else (0, 0)
    opens = source.code_lines[function.body].rstrip().endswith(("{", "("))
    closes = source.code_lines[function.end - 1].strip() in ("}", "};", "},", ")")
    return (function.body + 1, function.end - 1) if opens and closes else (0, 0)


def _is_comment(line: str, mark: str) -> bool:
    text = line.strip()
    return text.startswith(mark) and not text.startswith(("///", "//!", "#!", "---", "#[", "#include", "#define"))


def _comment(source: Source, row: int, mark: str, rng: random.Random) -> Task | None:
    first = row
    while row < len(source.lines) and _is_comment(source.lines[row], mark):
        row += 1
    end = _block_end(source, row)
    remark, code = source.rows(first, row), source.rows(row, end)
    if not (1 <= row - first <= 3 and 1 <= end - row <= _LONGEST_BLOCK) or not is_prose(remark) or _REMARKS.match(remark):
        return None
    # Prose about what follows has a word in common with it more often than not; other remarks seldom.
    stems = {word[:4].lower() for word in _WORD.findall(remark)}
    if not any(stem in code.lower() for stem in stems):
        return None
    return Task(name="comment", first=first, end=end, region=remark, answer=source.rows(first, end))


def _block_end(source: Source, row: int) -> int:
    """The end of the lines from `row` on that belong together: up to a blank line, another comment at their depth, or a shallower line."""
    if row >= len(source.lines) or not source.lines[row].strip():
        return row
    depth, end = len(_indent(source.lines[row])), row
    mark = _COMMENTS.get(source.language, "//")
    while end < len(source.lines) and (line := source.lines[end]).strip():
        if len(_indent(line)) < depth or (len(_indent(line)) == depth and _is_comment(line, mark)):
            break
        end += 1
    following = next((line for line in source.lines[end:] if line.strip()), "")
    if len(_indent(following)) > depth or (len(_indent(following)) == depth and _GOES_ON.match(following)):
        return row  # a statement that has more than these lines
    opened = sum(source.rows(row, end).count(bracket) for bracket in "([{") - sum(source.rows(row, end).count(bracket) for bracket in ")]}")
    return end if opened == 0 else row


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]

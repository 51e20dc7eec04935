"""Where blocks are indentation: which lines of a draft stand where no statement may. Knows no tree: grammars bear it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from mercury_lsp.indent import leading
from mercury_lsp.place import Place

_TOKEN = re.compile(r"""#[^\n]*|("{3}|'{3})(?:\\.|.)*?(?:\1|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[()\[\]{}]|\\\n|\n""", re.DOTALL)
_HEAD = re.compile(r"(?:async|def|class|if|elif|else|for|while|with|try|except|finally)\b[^:]*$")  # its colon is still to come
_BELOW = 2_000  # characters right of and below the cursor, in which the next statement begins
_FARTHEST = 50_000  # characters from the last `def` to the cursor that are read for a candidate


class _Statement(msgspec.Struct, frozen=True):
    start: int  # its first character
    columns: int
    opens: bool  # a block


def misplaced(place: Place, completion: str) -> int | None:
    """The first line of `completion` with a statement at a depth where none may stand, or the last if the next statement below comes to
    stand so; None if there is none. Deeper than the one above stands only what is in the block that it opens."""
    start = _def_above(place.text, place.offset)
    if place.language != "python" or place.offset - start > _FARTHEST:
        return None
    at = place.offset - start
    end = at + len(completion)
    below = place.text[place.offset : place.offset + _BELOW]
    fault = _fault(place.text[start : place.offset] + completion + below, at, end)
    if fault is None or (fault >= end and _fault(place.text[start : place.offset] + below, at, at) is not None):
        return None
    return completion.count("\n", 0, min(fault, end) - at)


def _fault(text: str, at: int, end: int) -> int | None:
    """Where the first statement from `at` on begins that may not stand so deep, of those before `end` and the next one."""
    first = text.find("\n", 0, at)
    depths, opened = [_columns(leading(text[: max(first, 0)]))], False
    for statement in _statements(text):
        columns = statement.columns
        outermost = columns < depths[0]  # further out than where reading began, of which nothing is known
        if statement.start >= at and not outermost and (not opened if columns > depths[-1] else columns not in depths):
            return statement.start
        depths = [depth for depth in depths if depth < columns] + [columns]
        opened = statement.opens
        if statement.start >= end:
            break
    return None


def to_margin(place: Place, lines: Sequence[str]) -> list[str]:
    """`lines` of code without the indentation that they share, where their first one may not stand as deep."""
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if place.before.strip("\ufeff") or first is None or not leading(lines[first]) or not _must_move(place, lines, first):
        return list(lines)
    shared = min(len(leading(line)) for line in lines if line.strip())
    return [line[shared:] if line.strip() else "" for line in lines]


def _must_move(place: Place, lines: Sequence[str], first: int) -> bool:
    if place.language in ("yaml", "nim"):  # valid, but all that is written below would have to stand as deep
        return not any(map(str.strip, re.sub("#.*", "", place.text[: place.offset].lstrip("\ufeff")).split("\n")))
    return misplaced(place, "\n".join(lines)) == first


def _def_above(text: str, offset: int) -> int:
    """Where the nearest line above that begins a function starts, else the document: that is where reading statements can begin."""
    at = text.rfind("\n", 0, offset) + 1
    while (at := text.rfind("def ", 0, at)) >= 0:
        start = text.rfind("\n", 0, at) + 1
        if text[start:at].strip() in ("", "async"):
            return start
    return 0


def _statements(text: str) -> Iterator[_Statement]:
    """Python's statements that begin a line, those whose end is missing as well."""
    begin, depth, comment = 0, 0, None
    for token in _TOKEN.finditer(text):
        what = token[0]
        if what == "\n" and not depth:
            yield from _statement(text, begin, token.start() if comment is None else comment)
            begin = token.end()
        if what[0] in "\n#":
            comment = token.start() if what[0] == "#" else None
        elif what in "([{":
            depth += 1
        elif what in ")]}":
            depth = max(depth - 1, 0)
    yield from _statement(text, begin, len(text) if comment is None else comment)


def _columns(space: str) -> int:
    return len(space.expandtabs(8))  # a tab as Python counts it


def _statement(text: str, begin: int, end: int) -> Iterator[_Statement]:
    line = text[begin:end].lstrip("\ufeff")
    told = line.strip()
    if told:
        space = leading(line)
        opens = told.endswith(":") or _HEAD.match(told) is not None
        yield _Statement(end - len(line) + len(space), _columns(space), opens)

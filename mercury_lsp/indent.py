"""How a file indents, and fitting a draft's later lines to it. Knows no language beyond "a line that opens a block"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import gcd

import msgspec

_LEADING = re.compile(r"^([ \t]*)(?=\S)", re.MULTILINE)
_PROSE = frozenset({"markdown", "latex", "html", "xml"})
_COLON = frozenset({"", "python", "yaml", "nim"})  # languages in which a colon at the end of a line opens a block
_OPENS = re.compile(r"([:{(\[])(?:\s+(?:#|//).*|\s*)$")
_CONTINUED = frozenset("([,\\+-*/|&=<>?.")
_CONTINUING = frozenset(".+-*/|&?:=<>)]}")
_NEARBY = 5_000  # characters on either side of the cursor that say how the file indents: some 250 lines, read in 0.1 ms


class Style(msgspec.Struct, frozen=True):
    """One step of indentation."""

    tabs: bool
    width: int  # columns of a step

    def columns(self, space: str) -> int:
        """How far `space`, a line's leading whitespace, indents."""
        return len(space) + space.count("\t") * (self.width - 1)

    def render(self, columns: int) -> str:
        if not self.tabs:
            return " " * columns
        return "\t" * (columns // self.width) + " " * (columns % self.width)

    def deepen(self, space: str, columns: int) -> str:
        """What to put after `space` for the line to stand at `columns`."""
        whole = self.render(columns)
        return whole[len(space) :] if whole.startswith(space) else self.render(columns - self.columns(space))


def leading(line: str) -> str:
    """The whitespace a line starts with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def opens_block(line: str, language: str, openers: str = ":{([") -> bool:
    """Whether the lines after `line` stand deeper than it, because it ends with one of `openers`."""
    opener = _OPENS.search(line)
    return opener is not None and opener[1] in openers and language not in _PROSE and (opener[1] != ":" or language in _COLON)


def style_of(text: str, offset: int, line: str) -> Style | None:
    """How the file indents around `offset`, on whose line `line` is; None where nothing in it is indented."""
    spaces = _LEADING.findall(text[max(offset - _NEARBY, 0) : offset + _NEARBY])
    tabbed = sum(space.startswith("\t") for space in spaces)
    spaced = sum(space.startswith("  ") for space in spaces)
    here = leading(line)
    if here.startswith("\t") or (not here and tabbed > spaced):
        return Style(tabs=True, width=4)
    if not here and not spaced:
        return None
    return Style(tabs=False, width=_width(spaces, here))


def _width(spaces: Sequence[str], here: str) -> int:
    lengths = [len(space) for space in spaces if "\t" not in space]
    # Steps inwards only: one line can step out of several blocks at once. One column is the star of a comment.
    steps = Counter(after - before for before, after in zip(lengths, lengths[1:], strict=False) if 2 <= after - before <= 8)
    if steps:
        return steps.most_common(1)[0][0]
    return len(here) if len(here) in (2, 3, 4, 8) else 4


def fit(lines: Sequence[str], style: Style, head: str, *, opens: bool) -> list[str]:
    """`lines`, a draft whose first line goes on with `head`'s line, with the later lines indented as `style` says.

    `head` is the whole first line, and `opens` whether it opens a block. Blank lines come out empty.
    """
    later = [(leading(line), line.lstrip(" \t")) for line in lines[1:]]
    spaces = [space for space, body in later if body]
    if not spaces:
        return [lines[0], *(body for _, body in later)] if later else list(lines)
    base = style.columns(leading(head))
    columns = [_columns(space, spaces, style, base, opens) for space in spaces]
    if not _goes_on(head, next(body for _, body in later if body)):
        columns = _translate(columns, style, base, opens)
    fitted = iter(columns)
    return [lines[0], *(style.render(next(fitted)) + body if body else "" for _, body in later)]


def _goes_on(head: str, following: str) -> bool:
    """Whether `following` continues `head`'s statement; there is more than one way to indent that."""
    return head.rstrip()[-1:] in _CONTINUED or following[0] in _CONTINUING


def _columns(space: str, spaces: Sequence[str], style: Style, base: int, opens: bool) -> int:
    """`space` in columns of the file; a draft written with spaces for a file of tabs is counted in the draft's own steps."""
    if "\t" in space or not style.tabs:
        return style.columns(space)
    step = _step(spaces, base // style.width, opens)
    return len(space) // step * style.width + len(space) % step


def _step(spaces: Sequence[str], depth: int, opens: bool) -> int:
    """The columns of one step in a draft indented with spaces."""
    widths = [len(space) for space in spaces if space]
    step = _common(widths)
    if step < 2:
        return 4
    if depth and not opens and min(widths) // depth in (2, 3, 4, 8) and min(widths) % depth == 0:
        return min(widths) // depth
    return step if step in (2, 3, 4) else 4


def _translate(columns: list[int], style: Style, base: int, opens: bool) -> list[int]:
    """Mends a draft that counts from the cursor's column instead of the margin, or in steps of another width than the file's."""
    expected = base + style.width if opens else base
    first = columns[0]
    if first == expected:
        return columns
    if opens and base and first < expected and first + base == expected:
        return [base + column for column in columns]
    common = _common([column for column in columns if column])
    for step in (8, 4):
        if step > style.width and first > expected and common % step == 0 and first // step * style.width == expected:
            return [column // step * style.width for column in columns]
    return columns


def _common(widths: Sequence[int]) -> int:
    return gcd(*widths)

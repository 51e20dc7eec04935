"""Where a draft of several lines should end, told by its lines alone: dedents and loops. Knows no tree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mercury_lsp.indent import leading, opens_block

# Languages in which a dedent ends a block.
_DEDENTED = frozenset({"python", "yaml", "nim"})
# Languages in which a line of its own with a closing brace does.
_BRACED = frozenset(
    {"javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "csharp", "php", "css", "kotlin", "swift", "scala", "dart"}
)
_END = re.compile(r"[)\]}]+[;,]?")
_CLAUSE = re.compile(r"(?:elif|else|except|finally|case)\b")
_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\b")
_CLOSER = re.compile(r"[)\]}]|\"\"\"|'''")
_LONGEST_PERIOD = 4
_REPEATS = 3


def block_end(lines: Sequence[str], language: str) -> int:
    """How many of `lines`, the first one whole from its margin, belong to the block or definition that the first one is in or opens."""
    if language in _DEDENTED:
        return _dedent(lines)
    return _closing(lines) if language in _BRACED else len(lines)


def stays_at(line: str, above: str, language: str) -> int | None:
    """`InfillRequest.dedent` for a draft at the end of `line`, below the line `above`: at least all that `block_end` keeps has more
    columns, or closes. None where lines of any depth may stay."""
    if language not in _DEDENTED | _BRACED:
        return None
    depth = _depth(line)
    if line.strip():
        depth += language in _DEDENTED and _is_definition([line])
    elif opens_block(above, language) and depth <= _depth(above):
        depth = _depth(above) + 1
    return depth or None


def _dedent(lines: Sequence[str]) -> int:
    base, definition = _depth(lines[0]), _is_definition(lines)
    for index, line in enumerate(lines[1:], 1):
        text, depth = line.strip(), _depth(line)
        if not text:
            continue
        if _CLOSER.match(text):  # the end of a bracket or a string: the statement may go on at its depth
            if depth < base and _END.fullmatch(text):
                return index + 1
            base, definition = min(base, depth), definition or text.endswith(":")  # `):` heads a block
        elif depth < base or (depth == base and definition and not _CLAUSE.match(text)):
            return index
    return len(lines)


def _closing(lines: Sequence[str]) -> int:
    base = _depth(lines[0])
    for index, line in enumerate(lines[1:], 1):
        text, depth = line.strip(), _depth(line)
        if not text or text.startswith("#"):  # a preprocessor's lines stand at the margin wherever they are
            continue
        ends = _END.fullmatch(text) is not None
        if ends and (depth < base or (depth == base == 0 and not "".join(lines[index + 1 : index + 2]).strip())):
            return index + 1
        if depth < base:
            if not _CLOSER.match(text):
                return index
            base = depth  # `} else {`
    return len(lines)


def _depth(line: str) -> int:
    return len(leading(line).expandtabs(4))


def _is_definition(lines: Sequence[str]) -> bool:
    """Whether the first line begins a function or a class, decorators included."""
    first = lines[0].strip()
    if first.startswith("@"):
        first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("@")), "")
    return _DEFINITION.match(first) is not None


def loops(lines: Sequence[str]) -> bool:
    """Whether the same line, or the same few lines, come three times or more in a row. Lines that differ in their indentation differ."""
    seen = [line.rstrip() for line in lines if line.strip()]
    return any(_has_period(seen, period) for period in range(1, _LONGEST_PERIOD + 1))


def _has_period(lines: Sequence[str], period: int) -> bool:
    same = 0
    for before, after in zip(lines, lines[period:], strict=False):
        same = same + 1 if before == after else 0
        if same >= period * (_REPEATS - 1):
            return True
    return False

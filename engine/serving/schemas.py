"""JSON Schemas from anywhere, looked at before a grammar is made of them. Knows no grammar library."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from engine.api import GrammarUnsupported

_LONGEST = 64 * 1024
_DEEPEST = 64
# What a pattern may stand for once its counted repetitions are written out: the library writes them out, and knows no limit there.
_MOST_REPEATED = 5_000
_COUNTED = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_OPENED = re.compile(r"\((?:\?(?:[:=!]|<[=!]?[^>]*>?))?")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]?")


def checked(text: str) -> Any:
    """The schema in `text`. Raises `GrammarUnsupported` where it is none, or larger or deeper than is taken."""
    size = len(text.encode(errors="replace"))
    if size > _LONGEST:
        raise GrammarUnsupported(f"the schema has {size} bytes; at most {_LONGEST} are taken")
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        raise GrammarUnsupported("the schema is not JSON, or nested too deep") from None
    if not isinstance(schema, dict | bool):
        raise GrammarUnsupported("a schema is an object")
    if _depth(schema) > _DEEPEST:
        raise GrammarUnsupported(f"the schema is nested deeper than {_DEEPEST}")
    for pattern in _patterns(schema):
        if (size := repeated(pattern)) > _MOST_REPEATED:
            raise GrammarUnsupported(f"pattern: its repetitions stand for {size} characters; at most {_MOST_REPEATED} are taken")
    # Options are ours to set: a schema that brings its own would change what they promise.
    return {key: value for key, value in schema.items() if key != "x-guidance"} if isinstance(schema, dict) else schema


def inward(schema: Any) -> Any:
    """The schema with exclusive bounds less than 1 apart moved a little inward where they are whole numbers.

    The grammar library (llguidance 1.9) lets `2` through between 2 and 2.25, both excluded. What is left is a part of what is allowed.
    """
    if isinstance(schema, list):
        return [inward(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {key: value if key in ("const", "enum", "default", "examples") else inward(value) for key, value in schema.items()}
    low, high = (_bound(moved, *names) for names in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")))
    if low is not None and high is not None and 0 < high - low < 1:
        step = Decimal(1).scaleb((high - low).adjusted() - 3)
        _move(moved, "exclusiveMinimum", "minimum", low, low + step)
        _move(moved, "exclusiveMaximum", "maximum", high, high - step)
    return moved


def _move(schema: dict[str, Any], excluded: str, included: str, bound: Decimal, to: Decimal) -> None:
    if _bound(schema, excluded) == bound == bound.to_integral_value():
        del schema[excluded]
        schema[included] = float(to)


def _bound(schema: dict[str, Any], *names: str) -> Decimal | None:
    """The tightest of the bounds of one side that there are."""
    given = [schema.get(name) for name in names]
    found = [Decimal(repr(each)) for each in given if isinstance(each, int | float) and not isinstance(each, bool) and math.isfinite(each)]
    return None if not found else max(found) if names[0].endswith("inimum") else min(found)


def _depth(value: Any) -> int:
    """Levels of nesting, as far as it matters."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [child for each in inner for child in (each.values() if isinstance(each, dict) else each)]
        depth += 1
    return depth


def _patterns(value: Any) -> Iterator[str]:
    """All of a schema's regular expressions, and what may be one."""
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        if isinstance(value.get("patternProperties"), dict):
            yield from value["patternProperties"]
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _patterns(child)


def repeated(pattern: str) -> int:
    """How many characters a regular expression stands for at most, its counted repetitions written out, `*` and `+` counted once."""
    sums, last, place = [0], 0, 0
    while place < len(pattern):
        if counted := _COUNTED.match(pattern, place):
            more = last * (max(1, int(counted[2] or counted[1])) - 1)
            sums[-1], last, place = sums[-1] + more, last + more, counted.end()
        elif opened := _OPENED.match(pattern, place):
            sums.append(0)
            place = opened.end()
        elif pattern[place] == ")" and len(sums) > 1:
            last = sums.pop()
            sums[-1], place = sums[-1] + last, place + 1
        else:
            last = 0 if pattern[place] in "*+?|^$" else 1
            atom = _SET.match(pattern, place)
            sums[-1], place = sums[-1] + last, atom.end() if atom else place + 1 + (pattern[place] == "\\")
    return sum(sums)

"""JSON Schemas from anywhere, looked at before a grammar is made of them. Knows no grammar library."""

from __future__ import annotations

import json
from typing import Any

from engine.api import GrammarUnsupported

_LONGEST = 64 * 1024
_DEEPEST = 64


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
    # Options are ours to set: a schema that brings its own would change what they promise.
    return {key: value for key, value in schema.items() if key != "x-guidance"} if isinstance(schema, dict) else schema


def _depth(value: Any) -> int:
    """Levels of nesting, as far as it matters."""
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [child for each in inner for child in (each.values() if isinstance(each, dict) else each)]
        depth += 1
    return depth

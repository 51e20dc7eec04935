"""Random JSON Schemas that are supported, can be satisfied, and have short answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

_WORDS = ("name", "size", "colour", "id", "count", "title", "tags", "price", "owner", "state")
_FORMATS = ("date", "time", "date-time", "uuid", "ipv4", "email")
_SHARED = ("shape", "part")
_PATTERNS = ("^[a-z]{2,5}$", "^\\d{3}-\\d{2}$", "^(yes|no)$", "^[A-Z][a-z]*$")


def random_schema(seed: int) -> dict[str, Any]:
    """An object at the top, as structured output has it; in every third one with definitions that values refer to."""
    rng = random.Random(seed)
    schema = _object(rng, 3)
    return schema | {"$defs": {name: _any(rng, 1) for name in _SHARED}} if seed % 3 == 0 and _referred(schema, rng) else schema


def _any(rng: random.Random, depth: int) -> dict[str, Any]:
    kinds: list[Callable[[random.Random, int], dict[str, Any]]] = [_string, _number, _enum, _const, _simple]
    if depth > 0:
        kinds += [_object, _array, _tuple, _map, _union, _both, _nullable]
    return rng.choice(kinds)(rng, depth)


def _referred(schema: dict[str, Any], rng: random.Random) -> bool:
    """Put references in the place of some of an object's values."""
    names = [name for name in schema["properties"] if rng.random() < 0.5]
    for name in names:
        schema["properties"][name] = {"$ref": f"#/$defs/{rng.choice(_SHARED)}"}
    return bool(names)


def _object(rng: random.Random, depth: int) -> dict[str, Any]:
    names = rng.sample(_WORDS, rng.randint(1, 3))
    properties = {name: _any(rng, depth - 1) for name in names}
    return {
        "type": "object",
        "properties": properties,
        "required": rng.sample(names, rng.randint(0, len(names))),
        "additionalProperties": False,
    }


def _array(rng: random.Random, depth: int) -> dict[str, Any]:
    low = rng.randint(0, 2)
    return {"type": "array", "items": _any(rng, depth - 1), "minItems": low, "maxItems": low + rng.randint(0, 2)}


def _string(rng: random.Random, depth: int) -> dict[str, Any]:
    kind = rng.randint(0, 3)
    if kind == 0:
        return {"type": "string", "format": rng.choice(_FORMATS)}
    if kind == 1:
        return {"type": "string", "pattern": rng.choice(_PATTERNS)}
    low = rng.randint(0, 4)
    return {"type": "string", "minLength": low, "maxLength": low + rng.randint(0, 6)} if kind == 2 else {"type": "string"}


def _number(rng: random.Random, depth: int) -> dict[str, Any]:
    low = rng.randint(-50, 50)
    kind = rng.choice(["integer", "number"])
    bounds: dict[str, int] = {}
    if rng.random() < 0.6:
        bounds = {"minimum": low, "maximum": low + rng.randint(0, 100)}
    elif rng.random() < 0.3:
        bounds = {"exclusiveMinimum": low, "exclusiveMaximum": low + rng.randint(2, 100)}
    elif kind == "integer" and rng.random() < 0.3:
        bounds = {"multipleOf": rng.randint(1, 9)}
    return {"type": kind, **bounds}


def _enum(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"enum": rng.sample(["red", "green", "blue", 1, 2.5, None, True], rng.randint(1, 4))}


def _const(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"const": rng.choice(["fixed", 7, False, None])}


def _simple(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"type": rng.choice(["boolean", "null"])}


def _union(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"anyOf": [_any(rng, depth - 1) for _ in range(rng.randint(1, 3))]}


def _nullable(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"type": [rng.choice(["string", "integer", "boolean"]), "null"]}


def _tuple(rng: random.Random, depth: int) -> dict[str, Any]:
    """A list whose places have schemas of their own."""
    places = [_any(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    return {"type": "array", "prefixItems": places, "items": False, "minItems": rng.randint(0, len(places))}


def _map(rng: random.Random, depth: int) -> dict[str, Any]:
    """Names that nobody knows before, within a pattern or not."""
    values = _any(rng, depth - 1)
    if rng.random() < 0.5:
        return {"type": "object", "patternProperties": {"^[a-z]{1,3}$": values}, "additionalProperties": False}
    return {"type": "object", "additionalProperties": values}


def _both(rng: random.Random, depth: int) -> dict[str, Any]:
    """Two schemas that hold at once."""
    low = rng.randint(0, 50)
    return {"allOf": [{"type": "integer", "minimum": low}, {"maximum": low + rng.randint(0, 50)}]}

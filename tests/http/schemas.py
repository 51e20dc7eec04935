"""Random JSON Schemas that are supported, can be satisfied, and have short answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

_WORDS = ("name", "size", "colour", "id", "count", "title", "tags", "price", "owner", "state")
_FORMATS = ("date", "time", "date-time", "uuid", "ipv4", "email")
_PATTERNS = ("^[a-z]{2,5}$", "^\\d{3}-\\d{2}$", "^(yes|no)$", "^[A-Z][a-z]*$")


def random_schema(seed: int) -> dict[str, Any]:
    """An object at the top, as structured output has it."""
    return _object(random.Random(seed), 3)


def _any(rng: random.Random, depth: int) -> dict[str, Any]:
    kinds: list[Callable[[random.Random, int], dict[str, Any]]] = [_string, _number, _enum, _const, _simple]
    if depth > 0:
        kinds += [_object, _array, _union, _reference]
    return rng.choice(kinds)(rng, depth)


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
    bounds = {"minimum": low, "maximum": low + rng.randint(0, 100)} if rng.random() < 0.6 else {}
    return {"type": kind, **bounds}


def _enum(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"enum": rng.sample(["red", "green", "blue", 1, 2.5, None, True], rng.randint(1, 4))}


def _const(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"const": rng.choice(["fixed", 7, False, None])}


def _simple(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"type": rng.choice(["boolean", "null"])}


def _union(rng: random.Random, depth: int) -> dict[str, Any]:
    return {"anyOf": [_any(rng, depth - 1) for _ in range(rng.randint(1, 3))]}


def _reference(rng: random.Random, depth: int) -> dict[str, Any]:
    """A nullable value, in the other way to write one."""
    return {"type": [rng.choice(["string", "integer", "boolean"]), "null"]}

"""Holes in real source files, the same ones at every run: text in, requests out."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Iterator
from pathlib import Path

from engine.api import InfillRequest

# The interpreter's own library: it is on every machine that can run the tests.
SOURCES = sorted(Path(path) for path in (json.__file__, json.decoder.__file__, json.encoder.__file__, textwrap.__file__, random.__file__))


def holes(count: int, **fields: object) -> Iterator[InfillRequest]:
    """`count` requests: rests of lines and whole lines, cut at characters, from the start, the middle and the end of files."""
    chance = random.Random(7)
    for number in range(count):
        path = SOURCES[number % len(SOURCES)]
        text = path.read_text()
        cursor = 0 if number < len(SOURCES) else chance.randrange(len(text))
        end = text.find("\n", cursor)
        yield InfillRequest(prefix=text[:cursor], suffix=text[end if end >= 0 else len(text) :], path=path.name, **fields)  # type: ignore[arg-type]

"""Tasks that mend what a checker says: a broken line, an import that is missing or not used. Knows no token."""

from __future__ import annotations

import random
import re
import sys

from engine.training.syntax import Source
from engine.training.tasks.breaks import BREAKERS
from engine.training.tasks.task import Task, around

_ROWS_TRIED = 60
_MENDED = 0.05  # share of the messages that do not hold any more: nothing is to change
_CURSOR = 0.7  # share of the regions with the cursor where the checker points
_IMPORTS = 0.2
_LONGEST_IMPORTS = 12
_PYTHON_IMPORT = re.compile(r"^import (\w+)$|^from (\w+)(?:\.\w+)* import ([\w, ]+)$")
_OTHER_IMPORTS = {
    "go": re.compile(r'^\s*"((?:\w+/)*(\w+))"$'),
    "rust": re.compile(r"^use (?:std|core|alloc)::[\w:]+::(\w+);$"),
    "java": re.compile(r"^import (?:java|javax)\.[\w.]+\.(\w+);$"),
}
_UNDEFINED = {
    "python": ("undefined name '{0}'", "Undefined name `{0}`", '"{0}" is not defined', "name '{0}' is not defined"),
    "go": ("undefined: {0}",),
    "rust": ("cannot find type `{0}` in this scope", "failed to resolve: use of undeclared type `{0}`", "use of undeclared type `{0}`"),
    "java": ("cannot find symbol: class {0}", "{0} cannot be resolved to a type"),
}
_UNUSED = ("'{0}' imported but unused", "`{0}` imported but unused", 'Import "{0}" is not accessed')
_OFTEN_UNUSED = tuple("os sys re json math time random logging itertools functools typing copy".split())
_KNOWN = frozenset(sys.stdlib_module_names) | {"numpy", "pytest", "torch", "pandas", "requests", "typing_extensions"}


def fix(source: Source, rng: random.Random) -> Task | None:
    """Rows around a line that was broken, with a checker's message."""
    if rng.random() < _IMPORTS and (source.language == "python" or source.language in _OTHER_IMPORTS):
        return _import(source, rng)
    breaker = rng.choices([each for _, each in BREAKERS], weights=[share for share, _ in BREAKERS])[0]
    for _ in range(_ROWS_TRIED):
        row = rng.randrange(len(source.lines))
        broken = breaker(source, row, rng) if source.lines[row].strip() else None
        if broken is not None and broken.line != source.lines[row]:
            return _task(source, row, broken.line, broken.message, broken.column, rng)
    return None


def _task(source: Source, row: int, line: str, message: str, column: int, rng: random.Random) -> Task:
    first, end = around(source, row, row + 1, rng)
    answer = source.rows(first, end)
    if rng.random() < _MENDED:
        return Task(name="fix", first=first, end=end, region=answer, answer=answer, values={"message": message})
    region = "\n".join([*source.lines[first:row], line, *source.lines[row + 1 : end]])
    cursor = source.starts[row] - source.starts[first] + min(column, len(line)) if rng.random() < _CURSOR else None
    return Task(name="fix", first=first, end=end, region=region, answer=answer, values={"message": message}, cursor=cursor)


def _import(source: Source, rng: random.Random) -> Task | None:
    rows = [row for row in range(min(60, len(source.lines))) if _imported(source, row)]
    if not rows:
        return None
    row = rng.choice(rows)
    name, shorter = rng.choice(_imported(source, row))
    first, end = max(0, row - rng.randint(0, _LONGEST_IMPORTS // 2)), row + 1 + rng.randint(0, _LONGEST_IMPORTS // 2)
    while not source.lines[first].strip():
        first += 1
    end = min(end, next((blank for blank in range(row, len(source.lines)) if not source.lines[blank].strip()), end))
    with_it = source.rows(first, end)
    without = "\n".join([*source.lines[first:row], *([shorter] if shorter else []), *source.lines[row + 1 : end]])
    used = len(re.findall(rf"\b{name}\b", source.code)) > 1
    if not used or not without.strip():
        return None
    if source.language == "python" and rng.random() < 0.35:
        return _unused(source, first, end, with_it, rng)
    message = rng.choice(_UNDEFINED[source.language]).format(name)
    return Task(name="fix", first=first, end=end, region=without, answer=with_it, values={"message": message})


def _imported(source: Source, row: int) -> list[tuple[str, str]]:
    """The names that a row imports from a library that everybody knows, each with the row as it would be without it."""
    line = source.lines[row]
    if source.language != "python":
        match = _OTHER_IMPORTS[source.language].match(line)
        return [(match.groups()[-1], "")] if match and "." not in match[1].split("/")[0] else []
    match = _PYTHON_IMPORT.match(line)
    if match is None or (match[1] or match[2]) not in _KNOWN:
        return []
    if match[1]:
        return [(match[1], "")]
    names, head = [name.strip() for name in match[3].split(",")], line[: match.start(3)]
    return [
        (name, head + ", ".join(other for other in names if other != name) if len(names) > 1 else "")
        for name in names
        if name.isidentifier()
    ]


def _unused(source: Source, first: int, end: int, answer: str, rng: random.Random) -> Task | None:
    """An import more than is needed."""
    free = [name for name in _OFTEN_UNUSED if not re.search(rf"\b{name}\b", source.text)]
    name = rng.choice(free) if free else ""
    if not name:
        return None
    rows = answer.split("\n")
    at = rng.randint(0, len(rows))
    if at < len(rows) and rows[at].startswith((" ", ")")):
        at = 0
    region = "\n".join([*rows[:at], f"import {name}", *rows[at:]])
    return Task(name="fix", first=first, end=end, region=region, answer=answer, values={"message": rng.choice(_UNUSED).format(name)})

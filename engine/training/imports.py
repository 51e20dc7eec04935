"""Imports that new code needs, and imports that no code needs any more. Knows no moment."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.training.corpus import SourceFile
from engine.training.sketch import LineEdit, Sketch

_HEAD = 6_000  # characters in which a file's imports are looked for
_KNOWN_IN = 3  # repositories in which a name is imported from the same place: then it can be guessed
_MOST_USES = 3  # lines
_NEEDED = 0.6  # share of the sketches in which an import is missing; in the rest one is not needed any more
_FROM = {
    "python": re.compile(r"^(from [\w.]+ import )([\w, ]+)()$", re.MULTILINE),
    "javascript": re.compile(r"^(import \{ )([\w, ]+)( \} from ['\"][^'\"]+['\"];?)$", re.MULTILINE),
    "rust": re.compile(r"^(use [\w:]+::\{)([\w, ]+)(\};)$", re.MULTILINE),
}
_WHOLE = {
    "python": re.compile(r"^(?:import (\w+)|from [\w.]+ import (\w+))$", re.MULTILINE),
    "javascript": re.compile(
        r"^(?:import (\w+) from |import \{ (\w+) \} from |const (\w+) = require\(|import type \{ (\w+) \} from ).*$", re.MULTILINE
    ),
    "go": re.compile(r"^\t\"(?:[\w.-]+/)*(\w+)\"$", re.MULTILINE),
    "rust": re.compile(r"^use (?:\w+::)+(\w+);$", re.MULTILINE),
    "java": re.compile(r"^import (?:\w+\.)+(\w+);$", re.MULTILINE),
    "php": re.compile(r"^use (?:\w+\\)+(\w+);$", re.MULTILINE),
}
_SAME = {"typescript": "javascript"}
_PROSE = ("#", "//", "*", "/*", '"', "'", "r'", 'r"')


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A name that a line imports, and what the line is without it, if anything."""

    name: str
    line: str
    without: str | None
    place: int  # in the text


class Imports:
    """Makes sketches. What a name is usually imported by is told from the files of several repositories."""

    def __init__(self, files: Iterable[SourceFile]) -> None:
        repos: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        for file in files:
            for bound in _bound(file):
                key = _key(file, bound)
                if len(repos[key]) < _KNOWN_IN:
                    repos[key].add(file.repo)
        self._known = frozenset(key for key, seen in repos.items() if len(seen) >= _KNOWN_IN)

    def sketch(self, file: SourceFile, rng: random.Random) -> Sketch | None:
        """The uses of a name are the cause, the line that imports it follows."""
        needed = rng.random() < _NEEDED
        found = [bound for bound in _bound(file) if not needed or _key(file, bound) in self._known]
        rng.shuffle(found)
        lines = file.text.split("\n")
        for bound in found[:8]:
            at = file.text.count("\n", 0, bound.place)
            word = re.compile(rf"\b{re.escape(bound.name)}\b")
            uses = [row for row, line in enumerate(lines) if row != at and word.search(line)]
            in_prose = any(lines[row].lstrip().startswith(_PROSE) for row in uses)
            if 1 <= len(uses) <= _MOST_USES and uses[0] > at and not in_prose:
                return _sketch(lines, at, uses, bound, needed)
        return None


def _sketch(lines: list[str], at: int, uses: list[int], bound: Bound, needed: bool) -> Sketch:
    kept = () if bound.without is None else (bound.without,)
    edits = [LineEdit(line=at, old=kept if needed else (bound.line,), new=(bound.line,) if needed else kept)]
    for row in uses:
        line = (lines[row],)
        edits.append(LineEdit(line=row, old=() if needed else line, new=line if needed else (), cause=True))
    return Sketch(kind="import" if needed else "import gone", lines=tuple(lines), edits=tuple(edits))


def _bound(file: SourceFile) -> Iterator[Bound]:
    language = _SAME.get(file.language, file.language)
    head = file.text[:_HEAD]
    if language in _WHOLE:
        for match in _WHOLE[language].finditer(head):
            name = next((group for group in match.groups() if group), None)
            if name:
                yield Bound(name=name, line=match[0], without=None, place=match.start())
    if language in _FROM:
        for match in _FROM[language].finditer(head):
            names = [name.strip() for name in match[2].split(",")]
            for name in names if len(names) > 1 else ():
                rest = ", ".join(other for other in names if other != name)
                yield Bound(name=name, line=match[0], without=f"{match[1]}{rest}{match[3]}", place=match.start())


def _key(file: SourceFile, bound: Bound) -> tuple[str, str, str]:
    """A name with where it comes from."""
    source = bound.line if bound.without is None else bound.line.replace(", ", " ")
    where = re.sub(r"\{[^}]*\}|\bimport\s+[\w ,]+$", "", source)
    return file.language, bound.name, where

"""Scenarios made of held-out files and of commits, by the code that makes training's examples. Knows no way to predict."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.scenarios import Scenario, Step
from engine.training.corpus import Corpus, SourceFile, read_corpus
from engine.training.edit_cases import Change, EditCase, read_cases
from engine.training.imports import Imports
from engine.training.renames import rename
from engine.training.repeats import repeated
from engine.training.signatures import parameter
from engine.training.sketch import Sketch

_LONGEST = 60_000  # characters of a file
_MOST_DUE = 14  # changes that are still to be made; all runs of them are accepted
_KINDS = {"rename": "rename", "parameter": "signature", "repeat": "repeat", "import": "import", "import gone": "import"}


def invented(folder: Path, count: int, seed: int) -> list[Scenario]:
    """So many of each kind, and for each four one in which all is done and nothing wanted."""
    corpus = read_corpus([folder], held_out=True, whole=True)
    imports = Imports(corpus.files)
    scenarios = []
    for make in (rename, parameter, repeated, imports.sketch):
        rng = random.Random(seed)
        drawn = (made for file in _files(corpus, rng) if (made := _sketched(file, make(file, rng), rng)) is not None)
        scenarios += [scenario for scenario, _ in zip(drawn, range(count), strict=False)]
    return scenarios


def _files(corpus: Corpus, rng: random.Random) -> Iterator[SourceFile]:
    files = [file for file in corpus.files if len(file.text) <= _LONGEST]
    for _ in range(40 * len(files)):
        yield rng.choice(files)


def _sketched(file: SourceFile, sketch: Sketch | None, rng: random.Random) -> Scenario | None:
    """The causes are made one after the other; in one of five scenarios all the rest as well."""
    if sketch is None:
        return None
    causes = [number for number, edit in enumerate(sketch.edits) if edit.cause]
    rest = [number for number, edit in enumerate(sketch.edits) if not edit.cause]
    if not causes or not rest or len(rest) > _MOST_DUE:
        return None
    done = rng.random() < 0.2
    made: set[int] = set()
    steps = []
    for number in (*causes, *(rest if done else ())):
        made.add(number)
        steps.append(Step(file.path, *_text(sketch, made, number)))
    after = [] if done else [_text(sketch, made | set(run), run[0])[0] for run in _runs(rest)]
    kind, before = "none" if done else _KINDS[sketch.kind], {file.path: _text(sketch, set(), 0)[0]}
    name, with_blanks = f"{sketch.kind} {file.repo}/{file.path}", "import" not in sketch.kind  # it leaves those around an import
    return Scenario(name, kind, file.path, before, tuple(steps), tuple(after), with_blanks=with_blanks)


def _runs(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[first : last + 1] for first in range(len(numbers)) for last in range(first, len(numbers))]


def _text(sketch: Sketch, made: set[int], at: int) -> tuple[str, int]:
    """The sketch's text with some of its edits made, and where the edit `at` ends."""
    lines: list[str] = []
    row, cursor = 0, 0
    for number, edit in enumerate(sketch.edits):
        lines += sketch.lines[row : edit.line]
        lines += edit.new if number in made else edit.old
        if number == at:
            cursor = len("\n".join(lines))
        row = edit.line + 1
    return "\n".join([*lines, *sketch.lines[row:]]), cursor


def committed(path: Path, count: int, seed: int) -> list[Scenario]:
    """Moments in commits: what was changed before is played, what comes after it is wanted. None of those that cannot be played."""
    cases = list(read_cases(path))
    random.Random(seed).shuffle(cases)
    found = (scenario for case in cases if (scenario := _played(case)) is not None)
    return [scenario for scenario, _ in zip(found, range(count), strict=False)]


def _played(case: EditCase) -> Scenario | None:
    """The text before its history, which is taken back from the last edit to the first."""
    texts = [case.text]
    for edit in reversed(case.history):
        lines = edit.diff.split("\n")
        new = "\n".join(line[1:] for line in lines if line[:1] != "-")
        old = "\n".join(line[1:] for line in lines if line[:1] != "+")
        if edit.path != case.path or not new or texts[-1].count(new) != 1:
            return None
        texts.append(texts[-1].replace(new, old))
    if len(texts) < 2 or len(case.due) > _MOST_DUE:
        return None
    texts.reverse()
    steps = tuple(Step(case.path, text, _last_change(before, text)) for before, text in zip(texts, texts[1:], strict=False))
    after = tuple(_changed(case.text, run) for run in _spans(case.due))
    name, kind = f"{case.kind} {case.repo}/{case.path}", "commit" if after else "none"
    return Scenario(name, kind, case.path, {case.path: texts[0]}, steps, after, is_part=True)


def _spans(due: Sequence[Change]) -> list[Sequence[Change]]:
    return [due[first : last + 1] for first in range(len(due)) for last in range(first, len(due))]


def _changed(text: str, changes: Sequence[Change]) -> str:
    lines = text.split("\n")
    for change in reversed(changes):
        lines[change.first : change.last] = change.lines
    return "\n".join(lines)


def _last_change(before: str, after: str) -> int:
    tail = next(
        (back for back in range(min(len(before), len(after))) if before[-1 - back] != after[-1 - back]), min(len(before), len(after))
    )
    return len(after) - tail

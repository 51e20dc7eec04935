"""An invented reason to change several lines of a file, and a moment at which some of them are changed. Knows no language."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.training.corpus import SourceFile
from engine.training.edit_cases import Change, EditCase
from engine.training.histories import Window
from engine.training.moments import past, state_of

_NOTHING = 0.25  # share of the moments at which all is done
_DONE_ALONG = (0, 0, 0, 1, 1, 2, 3)  # changes already made besides the ones that give the reason
_NEXT = 0.7  # share of the moments at which the next change below is looked for; for the rest it is any
_TOLD = 4


@dataclass(frozen=True, kw_only=True)
class LineEdit:
    """One line of the sketch's text: `old` stands there before, `new` after. A `cause` is made first."""

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    cause: bool = False


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """The lines of a text and what becomes of some of them, from top to bottom."""

    kind: str
    lines: tuple[str, ...]
    edits: tuple[LineEdit, ...]


def moment(file: SourceFile, sketch: Sketch, rng: random.Random) -> EditCase | None:
    """A moment after the causes. None where nothing would be left to do and nothing was done."""
    window = _window(file.path, sketch)
    causes = [number for number, edit in enumerate(sketch.edits) if edit.cause]
    rest = _from(causes[-1] if causes else 0, [number for number, edit in enumerate(sketch.edits) if not edit.cause])
    if not causes or not rest:
        return None
    if rng.random() < _NOTHING:
        return _finished(file, sketch, window, [*causes, *rest], rng)
    along = min(rng.choice(_DONE_ALONG), len(rest) - 1)
    made, left = [*causes, *rest[:along]], rest[along:]
    target = left[0] if rng.random() < _NEXT else rng.choice(left)
    state = state_of(window, made)
    due = dict(zip(sorted(left), state.due, strict=True))
    return EditCase(
        repo=file.repo,
        path=file.path,
        language=file.language,
        kind=sketch.kind,
        text="\n".join(state.lines),
        due=tuple(state.due),
        first=due[target].first,
        last=due[target].last,
        history=tuple(past(window, number, state) for number in made[-_TOLD:]),
    )


def _finished(file: SourceFile, sketch: Sketch, window: Window, order: list[int], rng: random.Random) -> EditCase:
    state = state_of(window, order)
    first = min(state.firsts[rng.choice(order)], len(state.lines) - 1)
    return EditCase(
        repo=file.repo,
        path=file.path,
        language=file.language,
        kind=f"{sketch.kind} done",
        text="\n".join(state.lines),
        due=(),
        first=first,
        last=first + 1,
        history=tuple(past(window, number, state) for number in order[-rng.randint(1, _TOLD) :]),
    )


def _from(start: int, numbers: list[int]) -> list[int]:
    """What lies below comes first, then what lies above."""
    return [number for number in numbers if number > start] + [number for number in numbers if number < start]


def _window(path: str, sketch: Sketch) -> Window:
    lines: list[str] = []
    changes, at = [], 0
    for edit in sketch.edits:
        lines += sketch.lines[at : edit.line]
        changes.append(Change(len(lines), len(lines) + len(edit.old), edit.new))
        lines += edit.old
        at = edit.line + 1
    return Window(path=path, lines=(*lines, *sketch.lines[at:]), changes=tuple(changes))

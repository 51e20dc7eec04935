"""Scenarios of editing as plain text files: documents, edits that were made, and what is wanted next. Knows no way to predict.

    rename: the uses of a parameter      what kind of next edit, and a title
    file: src/shapes.py
    == before                            the document that is edited, and `== open PATH` others that are open
    == edit / == to                      a text of it, once, and what came in its place; `== edit PATH` of another document
    == after                             the document once the next edit was taken, several where several will do; or `== nothing`

The cursor is where the last edit changed the text last, or at ‸ in what it put there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

CURSOR = "‸"
FOLDER = Path(__file__).parent / "next_edits"


class Step(msgspec.Struct, frozen=True):
    """A document is so from now on, with the cursor at `cursor`."""

    path: str
    text: str
    cursor: int


class Scenario(msgspec.Struct, frozen=True):
    name: str
    kind: str
    path: str  # of the document in which the cursor is
    documents: dict[str, str]  # by path, as they were opened
    steps: tuple[Step, ...]
    after: tuple[str, ...]  # what the document may be next; none where no edit is wanted
    is_part: bool = False  # the document is a piece of one: what it imports is not seen
    with_blanks: bool = True  # blank lines count

    @property
    def text(self) -> str:
        """The document when the next edit is asked for."""
        return next((step.text for step in reversed(self.steps) if step.path == self.path), self.documents[self.path])

    @property
    def cursor(self) -> int:
        return next((step.cursor for step in reversed(self.steps) if step.path == self.path), 0)


def read_scenarios(folder: Path = FOLDER) -> list[Scenario]:
    return [read_scenario(path) for path in sorted(folder.glob("*.txt"))]


def read_scenario(path: Path) -> Scenario:
    """Raises `ValueError` that names the file, where an edit fits nothing or too much."""
    (title, file, *_), *sections = _sections(path.read_text(encoding="utf-8"))
    kind, main = title.partition(":")[0], file.partition(":")[2].strip()
    documents: dict[str, str] = {}
    steps: list[Step] = []
    after: list[str] = []
    edited, gone = main, ""
    for head, *lines in sections:
        what, _, where = head.removeprefix("== ").partition(" ")
        body = "\n".join(lines)
        if what in ("before", "open"):
            documents[where or main] = body + "\n"
        elif what == "edit":
            edited, gone = where or main, body
        elif what == "to":
            texts = documents | {step.path: step.text for step in steps}
            steps.append(_step(path, edited, texts[edited], gone, body if lines else None))
        elif what == "after":
            after.append(body + "\n")
    return Scenario(path.stem, kind, main, documents, tuple(steps), tuple(after))


def _sections(text: str) -> Iterator[list[str]]:
    section: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("== "):
            yield section
            section = []
        section.append(line)
    yield section


def _step(file: Path, path: str, text: str, gone: str, came: str | None) -> Step:
    """`came` in the place of `gone`, of whose occurrences the last one is meant; None takes out its line, too."""
    at = text.rfind(gone)
    if at < 0 or not gone:
        raise ValueError(f"{file}: not in {path}: {gone!r}")
    if came is None:
        gone, came = gone + "\n", ""
    marked = came.find(CURSOR)
    came = came.replace(CURSOR, "")
    tail = next((back for back in range(min(len(gone), len(came))) if gone[-1 - back] != came[-1 - back]), min(len(gone), len(came)))
    return Step(path, text[:at] + came + text[at + len(gone) :], at + (marked if marked >= 0 else len(came) - tail))

"""What a project's text is worth is measured as it is used: with a scripted engine, in a small project."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from benchmarks.bench_memory import ARMS, figures, measure, table
from benchmarks.held_out import Stretch
from benchmarks.longest_match import Matches
from engine.scripted import ScriptedEngine
from engine.training.corpus import Corpus, SourceFile
from mercury_lsp.session import Session

LINE = "result = configuration.lookup('alpha', default=None)"
OTHER = f"def load(configuration):\n    {LINE}\n    return result\n"


def file(path: str, text: str) -> SourceFile:
    return SourceFile(repo="owner+repo", path=path, language="python", text=text)


@pytest.mark.parametrize(
    ("before", "after", "missing"),
    [
        ("value = configuration.lookup('al", "\n", "pha', default=None)"),  # in the middle of another line
        ("def load(configuration):\n        ", "\n", LINE),  # over the end of a line, whatever its depth
        ("value = configuration.lookup('al", ")\n", "pha', default=None"),
        ("value = configuration.lookup('al", "]\n", None),
        ("value = other.lookup[", "\n", None),
        ("", "", None),
    ],
)
def test_the_longest_match_says_how_the_line_goes_on(before: str, after: str, missing: str | None) -> None:
    session = Session()
    session.open("file:///project/a.py", "python", 1, before + after)
    snapshot = session.snapshot("file:///project/a.py", before.count("\n"), len(before.rpartition("\n")[2]))
    assert snapshot is not None
    known = Matches([OTHER] * 3).known(snapshot)
    assert (None if known is None else known.text) == missing


def test_the_longer_a_match_the_better() -> None:
    matches = Matches(["a = b(c, d, one)", "x = b(c, d, two)"])
    found = matches.elsewhere("y; x = b(c, d, ")
    assert max(found).rest == "two)" and len(found) == 2


def test_lines_of_the_project_spare_keys_and_its_file_is_known_without_the_stretch() -> None:
    text = f"def read(configuration):\n    {LINE}\n"
    mine = file("new.py", text)
    corpus = Corpus((mine, *(file(f"{number}.py", OTHER) for number in range(4))))
    stretch = Stretch(file=mine, start=text.index(LINE), end=len(text) - 1)
    alone = Stretch(file=file("alone.py", text), start=stretch.start, end=stretch.end)
    found = figures(measure(ScriptedEngine([]), [stretch], corpus, Console(file=StringIO())))
    assert list(found) == list(ARMS)
    none, lines, both = (found[arm]["typing"].saved for arm in ARMS)
    assert none == 0 and 0.3 < lines <= both
    nobody = figures(measure(ScriptedEngine([]), [alone], Corpus((alone.file,)), Console(file=StringIO())))
    assert all(nobody[arm]["typing"].saved == 0 for arm in ARMS)
    assert [row[0] for row in table(found).rows] == list(ARMS)

"""Invented edits and the rows of edits, on real code."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest
from tiny import LAYOUT, tokenizer

from engine.api import PastEdit
from engine.config import EditIds
from engine.layout import rewrite_ids
from engine.training.corpus import Corpus, SourceFile
from engine.training.edit_cases import Change, EditCase, rewriting
from engine.training.edit_rows import EditRowRules, EditRows
from engine.training.imports import Imports
from engine.training.renames import rename
from engine.training.repeats import repeated
from engine.training.rewriting import copied_places
from engine.training.signatures import parameter
from engine.training.sketch import Sketch, moment

PYTHON = '''import json
import logging
from pathlib import Path


def load(folder, name):
    """Read a file."""
    logging.debug("load")
    file = folder / name
    return parse(file.read_text(), None)


def parse(text, default):
    """The value in a text."""
    logging.debug("parse")
    if not text:
        return default
    return json.loads(text)


def main(arguments):
    logging.debug("main")
    folder = Path(arguments[0])
    settings = load(folder, "settings.json")
    return parse(settings["text"], None)
'''
GO = """package main

import "fmt"

func greet(name string, loud bool) string {
\tgreeting := "hello " + name
\tif loud {
\t\tgreeting += "!"
\t}
\treturn greeting
}

func main() {
\tloud := true
\tfmt.Println(greet("a", loud))
\tfmt.Println(greet("b", loud))
}
"""
RUST = """use std::fmt;

fn area(width: u32, height: u32) -> u32 {
    let product = width * height;
    println!("{}", product);
    product
}

fn main() {
    let height = 3;
    let small = area(2, height);
    let large = area(4, height);
    println!("{} {}", small, large);
}
"""
FILES = [
    SourceFile(repo="r", path="a.py", language="python", text=PYTHON),
    SourceFile(repo="r", path="a.go", language="go", text=GO),
    SourceFile(repo="r", path="a.rs", language="rust", text=RUST),
]
EDIT_IDS = EditIds(history=8, region=13, cursor=9, instruction=15, rewrite=14)
EDIT_LAYOUT = msgspec.structs.replace(LAYOUT, context=2048, edit=EDIT_IDS)
Maker = Callable[[SourceFile, random.Random], Sketch | None]


def several(make: Maker, file: SourceFile, count: int = 60) -> list[Sketch]:
    found = [make(file, random.Random(seed)) for seed in range(count)]
    return [sketch for sketch in found if sketch]


def text_of(sketch: Sketch, new: bool) -> str:
    lines = list(sketch.lines)
    for edit in reversed(sketch.edits):
        lines[edit.line : edit.line + 1] = edit.new if new else edit.old
    return "\n".join(lines)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.language)
def test_a_rename_changes_one_name_wherever_it_means_the_same(file: SourceFile) -> None:
    sketches = several(rename, file)
    assert len(sketches) > 10
    for sketch in sketches:
        assert text_of(sketch, new=False) == file.text
        assert text_of(sketch, new=True) != file.text
        assert sum(edit.cause for edit in sketch.edits) == 1
    python = {text_of(sketch, new=True) for sketch in several(rename, FILES[0], 300)}
    folders = [text for text in python if "def load(folder, name)" not in text and "return folder" not in text and "load(folder, " in text]
    assert folders and all("folder = Path(arguments[0])" in text for text in folders)  # the other function's variable stays


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.language)
def test_a_parameter_comes_with_its_arguments(file: SourceFile) -> None:
    whole = {text_of(sketch, new) for sketch in several(parameter, file, 100) for new in (False, True)}
    lacking = {"python": ["def parse(text):", "parse(file.read_text())", 'parse(settings["text"])'],
               "go": ["func greet(name string)", 'greet("a")', 'greet("b")'],
               "rust": ["fn area(width: u32)", "area(2)", "area(4)"]}[file.language]  # fmt: skip
    assert file.text in whole and any(all(piece in text for piece in lacking) for text in whole)
    for sketch in several(parameter, file, 100):
        cause = next(edit for edit in sketch.edits if edit.cause)
        assert any(word in cause.old[0] for word in ("def ", "func ", "fn ")) and len(sketch.edits) > 1


def test_a_repeated_change_is_the_same_in_every_line() -> None:
    sketches = several(repeated, FILES[0], 300)
    assert sketches
    for sketch in sketches:
        assert len(sketch.edits) >= 3 and 1 <= sum(edit.cause for edit in sketch.edits) <= 2
        grown = sorted(abs(len(edit.new[0]) - len(edit.old[0])) for edit in sketch.edits)
        assert all(more % max(1, grown[0]) == 0 for more in grown)  # once in a line, or several times
    assert any(all("logging.debug" in edit.old[0] for edit in sketch.edits) for sketch in sketches)


def test_an_import_is_missing_where_its_uses_came_and_over_where_they_went() -> None:
    elsewhere = [replace(FILES[0], repo=repo) for repo in ("s", "t")]
    make = Imports([FILES[0], *elsewhere]).sketch
    sketches = several(make, FILES[0])
    needed, gone = ([sketch for sketch in sketches if sketch.kind == kind] for kind in ("import", "import gone"))
    assert any("import json" not in text_of(sketch, new=False) and "json.loads" not in text_of(sketch, new=False) for sketch in needed)
    assert all(text_of(sketch, new=True) == PYTHON for sketch in needed)
    assert any("import json" not in text_of(sketch, new=True) and "json.loads" not in text_of(sketch, new=True) for sketch in gone)
    assert not any("import json" in edit.old for sketch in gone for edit in sketch.edits if edit.cause)
    assert not [sketch for sketch in several(Imports(FILES).sketch, FILES[0]) if sketch.kind == "import"]  # known in one place only


def test_a_moment_has_its_causes_in_the_text_and_in_the_history() -> None:
    done = 0
    for seed in range(200):
        rng = random.Random(seed)
        sketch = rename(FILES[0], rng)
        case = moment(FILES[0], sketch, rng) if sketch else None
        if case is None or sketch is None:
            continue
        cause = next(edit for edit in sketch.edits if edit.cause)
        assert cause.new[0] in case.text.split("\n")
        assert case.history
        done += not case.due
        lines = case.text.split("\n")
        for change in reversed(case.due):
            lines[change.first : change.last] = change.lines
        assert "\n".join(lines) == text_of(sketch, new=True)
    assert done > 10


CASE = EditCase(
    path="a.py",
    language="python",
    kind="follow",
    text=PYTHON.replace("def load(folder, name)", "def load(place, name)"),
    due=(Change(8, 9, ("    file = place / name",)), Change(12, 12, ("# The rest.",))),
    first=8,
    last=9,
    history=(PastEdit("a.py", "-def load(folder, name):\n+def load(place, name):"),),
)


def test_a_region_holds_its_place_and_lines_that_stay() -> None:
    for seed in range(300):
        drawn = rewriting(CASE, random.Random(seed), prefix_lines=99, suffix_lines=99)
        assert drawn is not None
        assert drawn.prefix + drawn.region + drawn.suffix == CASE.text
        assert "file = folder / name" in drawn.region and "file = place / name" in drawn.answer
        assert 2 <= drawn.region.count("\n") + 1 <= 21
        assert set(drawn.region.split("\n")) & set(drawn.answer.split("\n"))
        assert drawn.cursor is None or 0 <= drawn.cursor <= len(drawn.region)
        assert ("# The rest." in drawn.answer) == ("def parse(text, default):" in drawn.region or drawn.region.endswith("\n\n"))


def test_a_region_keeps_off_what_is_barred() -> None:
    case = msgspec.structs.replace(CASE, due=CASE.due[:1], barred=((6, 7), (12, 12)))
    for seed in range(100):
        drawn = rewriting(case, random.Random(seed), prefix_lines=0, suffix_lines=0)
        assert drawn is not None and "Read a file" not in drawn.region and "def parse" not in drawn.region


def test_the_cases_own_cursor_is_shown_where_it_stands() -> None:
    place = CASE.text.index("folder / name")
    drawn = rewriting(msgspec.structs.replace(CASE, cursor=place), random.Random(0), prefix_lines=0, suffix_lines=0)
    assert drawn is not None and drawn.cursor is not None and drawn.region[drawn.cursor :].startswith("folder / name")


def test_no_region_may_be_deleted_as_a_whole() -> None:
    case = EditCase(path="a", language="python", kind="k", text="a\nb\nc", due=(Change(0, 3, ()),), first=0, last=3, history=())
    assert rewriting(case, random.Random(0), prefix_lines=0, suffix_lines=0) is None


def drawer(rules: EditRowRules | None = None) -> EditRows:
    return EditRows(Corpus(tuple(FILES)), [CASE], tokenizer(), EDIT_LAYOUT, rules or EditRowRules(contexts=((2048, 1.0),)))


def test_a_row_is_what_serving_sends_and_its_answer_the_new_text() -> None:
    rows, text = drawer(), tokenizer().decode
    drawn = [row for seed in range(40) if (row := rows.lay_out(CASE, random.Random(seed)))]
    assert len(drawn) > 20
    for row in drawn:
        ids = list(row.ids)
        region = ids[ids.index(EDIT_IDS.region) + 1 : row.start - 1]
        cursor = region.index(EDIT_IDS.cursor) if EDIT_IDS.cursor in region else None
        sent = rewrite_ids(
            tokenizer(),
            EDIT_LAYOUT,
            path="",
            prefix="",
            region=text(region),
            suffix="",
            cursor=None if cursor is None else len(text(region[:cursor])),
            history=CASE.history,
        )
        assert ids[ids.index(EDIT_IDS.history) : row.start] == sent[sent.index(EDIT_IDS.history) :]
        assert "file = place / name" in text(ids[row.start :]) and ids[-1] == EDIT_LAYOUT.end_id


def test_rows_follow_from_the_generator_alone() -> None:
    first, second = drawer(), drawer()
    second.row(random.Random(9))
    drawn = [first.row(random.Random(seed)) for seed in range(30)]
    assert drawn == [second.row(random.Random(seed)) for seed in range(30)]
    nothing = [row for row in drawn if row.ids[row.start :] == (EDIT_LAYOUT.end_id,)]
    assert 0 < len(nothing) < 20 and all(not row.copied for row in nothing)


def test_a_case_whose_history_does_not_fit_gives_no_row() -> None:
    case = msgspec.structs.replace(CASE, history=(PastEdit("a.py", "+" + "x" * 2000),))
    assert drawer().lay_out(case, random.Random(0)) is None
    assert drawer().lay_out(CASE, random.Random(0)) is not None


def test_what_is_new_and_what_comes_right_after_are_no_copies() -> None:
    assert copied_places([1, 2, 3, 4, 5, 0], [1, 2, 9, 9, 3, 4, 5, 0]) == [1, 5, 6]
    assert copied_places([1, 2, 3, 4, 5, 0], [1, 2, 4, 5, 0]) == [1, 3]  # 4 comes after something that is gone
    assert copied_places([1, 2, 3, 0], [1, 2, 3, 0]) == [1, 2]
    assert copied_places([1, 2, 3, 0], [0]) == []

"""Rows: what they are cut from, what never trains, and that they are laid out as serving lays out."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tiny import LAYOUT, tokenizer, write_corpus

from engine.layout import infill_ids
from engine.training.corpus import Corpus, SourceFile, read_corpus
from engine.training.data import Rows
from engine.training.guard import quotes_evaluation_set
from engine.training.holes import Hole, cut
from engine.training.infill import InfillRows, RowRules
from engine.training.related import RelatedText

SMALL = RowRules(contexts=((96, 0.5), (160, 0.5)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"), files=200)


def test_no_file_is_on_both_sides(folder: Path) -> None:
    training, held_out = (read_corpus([folder], held_out=side).files for side in (False, True))
    assert held_out and len(training) + len(held_out) == 200
    assert not {file.path for file in training} & {file.path for file in held_out}


def test_a_copy_falls_on_the_same_side_and_counts_once(folder: Path, tmp_path: Path) -> None:
    held_out = read_corpus([folder], held_out=True).files[0]
    copy = tmp_path / "other+repo" / "copied.py"
    copy.parent.mkdir()
    copy.write_text(held_out.text.replace("\n", "\r\n"), newline="")
    assert read_corpus([tmp_path], held_out=False).files == ()
    assert len(read_corpus([folder, tmp_path], held_out=True).files) == len(read_corpus([folder], held_out=True).files)


def test_held_out_text_is_never_in_a_row(folder: Path) -> None:
    secret = [file.path.removesuffix(".py").rpartition("_")[2] for file in read_corpus([folder], held_out=True).files]
    rows = Rows([(1.0, InfillRows(read_corpus([folder], held_out=False), tokenizer(), LAYOUT, SMALL))], seed=0)
    for step in range(20):
        for row in rows.step(step, 2000, 0.5)[0]:
            text = tokenizer().to_bytes(row.ids).decode(errors="replace")
            assert not any(f"compute_{number}_" in text or f"module_{number}." in text for number in secret)


def test_a_step_gives_the_same_rows_whatever_came_before(folder: Path) -> None:
    corpus = read_corpus([folder], held_out=False)
    first, second = (Rows([(1.0, InfillRows(corpus, tokenizer(), LAYOUT, SMALL))], seed=3) for _ in range(2))
    second.step(7, 500, 0.5)
    assert first.step(4, 2000, 0.5)[0] == second.step(4, 2000, 0.5)[0]
    assert first.step(4, 2000, 0.5)[0] != first.step(5, 2000, 0.5)[0]


def test_rows_are_what_serving_sends(folder: Path) -> None:
    """The prompt of a row, asked for anew from the hole's text by the engine's own function."""
    file = read_corpus([folder], held_out=False).files[0]
    rules = RowRules(contexts=((128, 1.0),), with_suffix=1.0, with_path=1.0, with_related=0.0)
    rows = InfillRows(Corpus((file,)), tokenizer(), LAYOUT, rules)
    rng = random.Random(0)
    for _ in range(50):
        hole = cut(file.text, rng)
        row = rows.lay_out(file, hole, rng)
        if not file.text[hole.end :].strip() and hole.kind in ("lines", "span"):
            continue  # goes on to the end of the file
        assert row is not None
        sent = infill_ids(
            tokenizer(),
            msgspec.structs.replace(LAYOUT, context=128),
            path=file.path,
            prefix=file.text[: hole.start],
            suffix=file.text[hole.end :],
        )
        assert list(row.ids[: row.start]) == sent
        middle = tokenizer().to_bytes(row.ids[row.start :]).decode()
        assert file.text[hole.start : hole.end].startswith(middle)
        assert (row.ids[-1] == 0) == (middle == file.text[hole.start : hole.end])


def test_where_nothing_follows_the_end_is_never_all_there_is_to_learn() -> None:
    file = SourceFile(repo="r", path="a.py", language="python", text="def area(width):\n    return width\n")
    rows = InfillRows(Corpus((file,)), tokenizer(), LAYOUT, SMALL)
    rng = random.Random(0)
    end = len(file.text)
    assert all(rows.lay_out(file, Hole(start=end, end=end, kind="span"), rng) is None for _ in range(20))
    inside = [rows.lay_out(file, Hole(start=16, end=16, kind="rest"), rng) for _ in range(20)]
    assert any(row and row.ids[row.start :] == (0,) for row in inside)  # a line that is complete, with more to follow


def test_all_kinds_of_holes_are_cut() -> None:
    text = "def area(width, height):\n    product = width * height\n    return abs(product)\n\n\nprint(area(2, 3))\n" * 5
    rng = random.Random(0)
    holes = [cut(text, rng) for _ in range(500)]
    assert {hole.kind for hole in holes} == {"rest", "line", "lines", "body", "span"}
    middles = {kind: {text[hole.start : hole.end] for hole in holes if hole.kind == kind} for kind in ("rest", "line", "body")}
    assert "product = width * height\n    return abs(product)" in middles["body"]
    assert "return abs(product)" in middles["line"]
    assert "abs(product" in middles["rest"] and "abs(product)" in middles["rest"]  # with and without the closer
    assert not any("\n" in middle for middle in middles["rest"] | middles["line"])


def test_some_holes_begin_before_the_indentation_of_their_line() -> None:
    """As a cursor stands on a blank line that the editor did not indent."""
    text = "def f():\n" + "".join(f"        value_{number} = {number}\n" for number in range(50))
    rng = random.Random(0)
    columns: Counter[int] = Counter()
    for hole in (cut(text, rng) for _ in range(2_000)):
        if hole.kind in ("line", "lines") and text[hole.start : hole.end].strip().startswith("value_"):
            columns[hole.start - text.rfind("\n", 0, hole.start) - 1] += 1
    assert 0.3 < columns[0] / columns.total() < 0.5 and columns[8] > columns.total() / 3
    assert sum(columns[column] for column in range(1, 8)) > 0


def test_related_text_holds_the_definition_of_a_name_used_near_the_hole() -> None:
    using = SourceFile(repo="r", path="use.py", language="python", text="import shapes\n\nshape = shapes.Rectangle(2, 3)\n")
    text = "class Rectangle:\n    def __init__(self, width, height): ...\n"
    defining = SourceFile(repo="r", path="shapes.py", language="python", text=text)
    elsewhere = SourceFile(repo="other", path="shapes.py", language="python", text="class Rectangle:\n    wrong = True\n")
    related = RelatedText(Corpus((using, defining, elsewhere)))
    pieces = related.pieces(using, using.text.index("(2"), window=400, room=400, rng=random.Random(0))
    assert [(piece.path, piece.text) for piece in pieces] == [("shapes.py", defining.text.rstrip())]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("eval/human_eval.py", "x = 1"),
        ("README.md", "scores on HumanEval-Infilling and others"),
        ("a.py", "load_dataset('mbpp')"),
        ("a.py", "# SAFIM"),
        ("a.py", "CrossCodeEval"),
        ("a.md", "| RepoBench | 3 |"),
        ("a.py", "def has_close_elements(numbers, threshold):"),
        ("a.ts", "function separate_paren_groups(paren_string: string) {"),
        ("a.jsonl", '{"entry_point": "car_race_collision"}'),
        ("a.py", "def find_char_long(text):"),
    ],
)
def test_what_quotes_an_evaluation_set_is_left_out(path: str, text: str, tmp_path: Path) -> None:
    assert quotes_evaluation_set(path, text)
    file = tmp_path / "owner+repo" / f"{path}.py"
    file.parent.mkdir(parents=True)
    file.write_text(text + "\n# ordinary text\n" * 20)
    assert read_corpus([tmp_path], held_out=False).files == read_corpus([tmp_path], held_out=True).files == ()


@pytest.mark.parametrize("text", ["def evaluate(human):", "def add(a, b):", "class Safimoto: ...", "the repository's benches", "iscube(x)"])
def test_ordinary_text_is_kept(text: str) -> None:
    assert not quotes_evaluation_set("package/module.py", text)

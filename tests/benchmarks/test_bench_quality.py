"""The quality benchmark from end to end, with a scripted engine and with a random model of a few kilobytes."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
import torch
from rich.console import Console

from benchmarks import bench_quality, quality_tables, tables
from benchmarks.contenders import labels
from benchmarks.held_out import KINDS, Case, draw_cases, draw_stretches, languages_of
from benchmarks.infilling import Contender, fill, score
from benchmarks.progress import told
from benchmarks.quality import Measured, compared, summed_up
from engine.api import Draft, InfillRequest, StopFlag
from engine.training.corpus import Corpus, SourceFile, read_corpus
from engine.training.holes import Hole

SOURCES = {
    "owner+app/shop/cart.py": "import os\n\n\n"
    + "".join(
        f"def total_{name}(items, rate={number}):\n    result = 0\n    for item in items:\n        result += item.price * rate\n"
        f"    return result\n\n\n"
        for number, name in enumerate(("net", "gross", "open", "paid", "late"))
    ),
    "owner+web/src/list.js": "".join(
        f"export function pick{name}(list, index) {{\n  const found = list[index + {number}];\n  if (!found) {{\n    return null;\n  }}\n"
        f"  return found.value;\n}}\n\n"
        for number, name in enumerate(("First", "Second", "Third", "Last"))
    ),
}
QUIET = Console(file=io.StringIO())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        path = tmp_path / "held_out" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path / "held_out"


@pytest.fixture
def corpus(folder: Path) -> Corpus:
    return read_corpus([folder], held_out=True, whole=True)


class Oracle:
    """Knows the files by heart, and of the rest nothing: fills the holes of cases, two tokens a forward."""

    name = "oracle"

    def __init__(self, cases: list[Case], *, right: bool = True) -> None:
        self._middles = {
            (request.path, request.prefix, request.suffix): case.middle for case in cases for request in [case.request(verify=True)]
        }
        self._right = right

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        text = self._middles.get((request.path, request.prefix, request.suffix), "")
        text = text if self._right else text + "?"
        return Draft(
            text=text, confidence=0.9, tokens=8, denoise_steps=3, forwards=4 if request.verify else 8, prefill_tokens=0, latency_ms=1.0,
            ended="end", model=self.name,
        )  # fmt: skip


def test_holes_are_the_same_for_a_seed_and_of_every_kind(corpus: Corpus) -> None:
    assert languages_of(corpus) == ["python", "javascript"]
    cases = draw_cases(corpus, ["python", "javascript"], 3, seed=5)
    assert cases == draw_cases(corpus, ["python", "javascript"], 3, seed=5) != draw_cases(corpus, ["python", "javascript"], 3, seed=6)
    found = sorted((case.file.language, case.hole.kind) for case in cases)
    assert found == sorted((language, kind) for language in ("python", "javascript") for kind in KINDS for _ in range(3))
    for case in cases:
        assert case.filled(case.middle) == case.file.text
        assert case.middle.strip()
        before = case.file.text[case.hole.start - 1]
        assert case.hole.kind != "span" or (before.isalnum() and case.middle[0].isalnum()) or "_" in before + case.middle[0]


def test_fewer_holes_where_there_are_no_more(corpus: Corpus) -> None:
    """Lines that are there once cannot be asked about twice."""
    cases = draw_cases(corpus, ["python"], 300, seed=0)
    assert len(set(cases)) == len(cases)
    assert sum(case.hole.kind == "line" for case in cases) < 300


def test_a_stretch_ends_with_a_line(corpus: Corpus) -> None:
    for stretch in draw_stretches(corpus, ["python", "javascript"], 2, 60, seed=0):
        assert 60 <= stretch.end - stretch.start <= 90
        assert stretch.file.text[stretch.end :][:1] in ("\n", "")
        assert not stretch.file.text[stretch.start].isspace()


def test_what_stands_twice_in_a_file_is_not_typed() -> None:
    twice = "alpha = beta + gamma\ndelta = epsilon * zeta\n"
    file = SourceFile(repo="r", path="a.py", language="python", text=twice + "\n" + twice)
    assert draw_stretches(Corpus((file,)), ["python"], 3, 20, seed=0) == []


def test_an_oracle_scores_full_marks(corpus: Corpus) -> None:
    cases = draw_cases(corpus, ["python", "javascript"], 2, seed=0)
    found = score([fill(Contender("oracle", Oracle(cases)), case) for case in cases])
    assert (found.exact.share, found.similarity, found.first_token, found.parses.share, found.exact_unverified) == (1, 1, 1, 1, 1)
    assert (found.tokens_a_forward, found.tokens_a_forward_unverified) == (2, 1)
    assert found.latency_ms == (1, 1, 1)


def test_what_breaks_a_file_does_not_parse() -> None:
    file = SourceFile(repo="r", path="a.py", language="python", text="value = compute(1)\n")
    case = Case(file=file, hole=Hole(start=8, end=18, kind="rest"))
    assert [fill(Contender("x", Says(text)), case).parses for text in ("compute(2)", "compute(2", "")] == [True, False, None]


class Says:
    name = "says"

    def __init__(self, text: str) -> None:
        self._text = text

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        return Draft(
            text=self._text,
            confidence=0.5,
            tokens=1,
            denoise_steps=1,
            forwards=1,
            prefill_tokens=0,
            latency_ms=1.0,
            ended="end",
            model="says",
        )


def test_two_contenders_are_asked_the_same_and_compared(corpus: Corpus) -> None:
    cases = draw_cases(corpus, ["python", "javascript"], 2, seed=0)
    contenders = [Contender("weak", Oracle(cases, right=False)), Contender("strong", Oracle(cases))]
    weak, strong = bench_quality.measure(contenders, cases, draw_stretches(corpus, ["python"], 1, 40, seed=0), QUIET)
    assert [each.exact for each in weak.outcomes] == [False] * len(cases)
    assert [each.kind for each in weak.outcomes] == [case.hole.kind for case in cases]
    ratios = {each.figure: each.ratio for each in compared(weak, strong)}
    assert ratios["exact, all"].ratio is None  # the weak one has none
    assert ratios["tokens a forward"].ratio == 1
    similar = ratios["edit similarity"]
    assert similar.ratio is not None
    assert similar.ratio > 1


def test_tables_for_terminal_and_page(corpus: Corpus) -> None:
    cases = draw_cases(corpus, ["python"], 1, seed=0)
    (measured,) = bench_quality.measure([Contender("oracle", Oracle(cases))], cases, [], QUIET)
    everything = quality_tables.of("oracle", summed_up(measured))
    console = Console(file=io.StringIO(), width=160)
    for table in everything:
        tables.show(table, console)
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert tables.markdown(table).count("\n| ") == len(table.rows) + 2
    assert "100% (51–100)" in tables.markdown(everything[0])


def test_nothing_measured_is_no_table() -> None:
    assert quality_tables.of("none", summed_up(Measured("none", [], []))) == []


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.progress._EVERY", 0.0)
    console = Console(file=(said := io.StringIO()))
    assert list(told([1, 2, 3], "things", console)) == [1, 2, 3]
    assert "things: 1 of 3" in said.getvalue()
    assert "things: 3 in 0 s" in said.getvalue()


def test_labels_tell_adapters_apart() -> None:
    assert labels([Path("runs/old/adapter.safetensors"), Path("runs/new.safetensors")]) == ["old", "new"]
    assert labels([Path("a/x.safetensors"), Path("b/x.safetensors")]) == ["x 1", "x 2"]


# ------------------------------------------------------------------------------------------------ with a model


@pytest.fixture
def tiny_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A random base and a fresh adapter."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # what the command sets is taken back
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "training"))
    import tiny

    from engine.training.base import fresh_adapter
    from engine.training.export import export_adapter

    base = tiny.write_gguf(tmp_path / "tiny.gguf")
    adapter = fresh_adapter(tiny.base(), seed=0)
    path = tmp_path / "adapter.safetensors"
    export_adapter(path, adapter, tiny.SHAPE, tiny.LAYOUT, name="tiny", base="tiny.gguf", positions=12)
    return base, path


def test_from_the_command_line(folder: Path, tmp_path: Path, tiny_model: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    base, adapter = tiny_model
    results = tmp_path / "results" / "quality.jsonl"
    threads = torch.get_num_threads()
    command = ["--data", folder, "--base", base, "--adapter", adapter, "--adapter", adapter, "--dtype", "float32", "--results", results]
    size = ["--holes", 1, "--length", 20, "--languages", 1]
    assert bench_quality.main([str(each) for each in [*command, *size, "--markdown"]]) == 0
    torch.set_num_threads(threads)
    printed = capsys.readouterr().out
    assert "| rest of line | 1 |" in printed
    assert "by confidence threshold" in printed
    one, other = (msgspec.json.decode(line) for line in results.read_bytes().splitlines())
    assert one["quality"]["all"]["holes"] == 4
    for figures in ("reliability_holes", "reliability_typing", "typing"):  # the same adapter twice
        assert one["quality"][figures] == other["quality"][figures] != []
    assert other["against"] == one["label"]
    assert one["adapter"]["positions_seen"] == 12
    assert one["data"]["repositories"] == ["owner+app", "owner+web"]
    assert {"date", "commit", "machine", "versions", "settings"} <= one.keys()
    assert str(tmp_path) not in results.read_text()


def test_human_eval_from_the_command_line(tmp_path: Path, tiny_model: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    base, adapter = tiny_model
    task = {
        "task_id": "SingleLineInfilling/X/0/L0",
        "entry_point": "f",
        "prompt": "def f():\n",
        "suffix": "\n",
        "canonical_solution": "    return 1\n",
    }
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_bytes(msgspec.json.encode(task | {"test": "def check(f):\n    assert f() == 1\n"}))
    results = tmp_path / "quality.jsonl"
    command = ["--human-eval", tasks, "--base", base, "--adapter", adapter, "--dtype", "float32", "--results", results]
    threads = torch.get_num_threads()
    assert bench_quality.main([str(each) for each in command]) == 0
    torch.set_num_threads(threads)
    assert "SingleLineInfilling" in capsys.readouterr().out
    (row,) = (msgspec.json.decode(line) for line in results.read_bytes().splitlines())
    assert row["passed"]["SingleLineInfilling"]["passed"]["count"] == 1


def test_what_is_missing_is_said_in_a_line(tmp_path: Path, tiny_model: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    base, adapter = tiny_model
    (tmp_path / "empty").mkdir()
    results = tmp_path / "quality.jsonl"
    command = ["--data", tmp_path / "empty", "--base", base, "--adapter", adapter, "--results", results]
    assert bench_quality.main([str(each) for each in command]) == 1
    assert "no source files" in capsys.readouterr().err
    assert not results.exists()

"""The race's parts with writers that are made up, our own on a model of noise, and a llama.cpp that is none."""

from __future__ import annotations

import ctypes
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np
import pytest

from benchmarks import bench_peers, peer_holes
from benchmarks.figures import Ratio
from benchmarks.peer_holes import Reference
from benchmarks.race import Lead, Outcome, figures_of, lead, race, verdict
from benchmarks.writers import Goal, Ours, Written
from engine.engine import LocalEngine

sys.path.append(str(Path(__file__).parents[1] / "http"))
import tiny_service

TOKENIZER = tiny_service.tokenizer()
END = tiny_service.LAYOUT.end_id


def ids(text: str, *more: int) -> list[int]:
    return [*TOKENIZER.encode(text), *more]


def goal(lines: int, most: int = 40) -> Goal:
    return Goal(TOKENIZER, END, lines, most)


@pytest.mark.parametrize(
    ("written", "lines", "reached", "finished"),
    [
        (ids("ab"), 1, False, False),
        (ids("ab\n"), 1, True, True),
        (ids("ab", END), 1, True, True),
        ([END], 1, True, False),
        (ids("a\nb\n"), 3, False, False),
        (ids("a\nb\nc", END), 3, True, True),
        (ids("a\nb", END), 3, True, False),
        (ids("a" * 40), 1, True, False),
    ],
)
def test_when_a_text_is_finished(written: list[int], lines: int, reached: bool, finished: bool) -> None:
    assert (goal(lines).reached(written), goal(lines).finished(written)) == (reached, finished)


def test_of_a_text_the_lines_that_were_asked_for_count() -> None:
    assert goal(2).text(ids("a\nb\n\n")) == "a\nb"
    assert goal(5).text(ids("a\nb", END)) == "a\nb"


class Made:
    """Writes what it is told, in made-up times."""

    weight_bytes = 100_000_000

    def __init__(self, name: str, text: list[int], ms: Sequence[float], forwards: int, log: list[str]) -> None:
        self.name, self._text, self._forwards, self._log = name, text, forwards, log
        self._ms = list(ms)

    def warm(self, prompt: Sequence[int]) -> None:
        self._log.append(f"warm {self.name}")

    def write(self, prompt: Sequence[int], goal: Goal) -> Written:
        self._log.append(self.name)
        seconds = self._ms.pop(0) / 1e3
        return Written(self._text, seconds, self._forwards, layers=seconds / 2, head=seconds / 4)


HOLE = Reference(path="a.py", prompt=ids("x = "), ids=ids("a\nb\n"))


def test_all_write_in_turns_and_the_least_time_counts() -> None:
    log: list[str] = []
    writers = [Made("one", ids("a\n"), [30, 20, 5, 6], 1, log), Made("other", ids("c\n"), [50, 60, 80, 70], 2, log)]
    outcomes = race(writers, [HOLE, HOLE], [goal(1)], 2, lambda: log.append("between"))
    first, second = "warm one,warm other,between,one,other,one,other", "warm other,warm one,between,other,one,other,one"
    assert ",".join(log) == f"{first},{second}"
    assert [outcome.ms for outcome in outcomes["one"][0]] == pytest.approx([20, 5])
    assert [outcome.ms for outcome in outcomes["other"][0]] == pytest.approx([50, 70])
    assert [outcome.same for name in ("one", "other") for outcome in outcomes[name][0]] == [True, True, False, False]


def test_when_the_time_is_up_no_further_hole_is_begun() -> None:
    writers = [Made("one", ids("a\n"), [30], 1, [])]
    assert len(race(writers, [HOLE] * 5, [goal(1)], 1, lambda: time.sleep(0.02), seconds=0.01)["one"][0]) == 1


def outcome(ms: float, tokens: int, forwards: int, *, finished: bool = True) -> Outcome:
    return Outcome(ms=ms, tokens=tokens, forwards=forwards, layers_ms=ms / 2, head_ms=ms / 4, finished=finished, same=finished)


def test_figures_of_a_writer() -> None:
    found = figures_of([outcome(100, 10, 5), outcome(200, 20, 5), outcome(300, 30, 20, finished=False)], 2.0)
    assert (found.p50, found.p95) == pytest.approx((200, 290))
    assert (found.tokens_per_s, found.tokens_per_forward) == pytest.approx((100, 2))
    assert (found.step_ms, found.layers_ms, found.head_ms, found.rest_ms, found.bound) == pytest.approx((20, 10, 5, 5, 10))
    assert (found.finished, found.same.share) == (2, pytest.approx(2 / 3))


def test_a_lead_is_of_holes_that_both_finished() -> None:
    ours = [outcome(50, 10, 5), outcome(70, 10, 7), outcome(1, 1, 1, finished=False)]
    theirs = [outcome(100, 10, 10), outcome(140, 14, 14), outcome(400, 40, 40)]
    found = lead(ours, theirs)
    assert found is not None
    assert (found.holes, found.time.ratio, found.forwards, found.step) == (2, pytest.approx(0.5), pytest.approx(0.5), pytest.approx(1.0))
    assert lead(ours[2:], theirs[2:]) is None


def test_the_verdict_says_what_is_missing() -> None:
    figures = figures_of([outcome(200, 20, 10)], 2.0)
    of = Lead(holes=9, time=Ratio(ratio=0.5), forwards=0.5, step=1.0)
    assert verdict("them", "a line", of, 0.7, figures) == "a line: 0.50 × the time of them (target 0.70): met"
    missed = verdict("them", "five lines", of, 0.4, figures)
    assert "missed by 25%. 0.50 × the forwards at 1.00 × the step" in missed
    assert "20.0 ms: layers 10.0, head 5.0, choosing and drafting 5.0; 16.0 ms, or 2.5 tokens a forward instead of 2.0" in missed


# ------------------------------------------------------------------------------------------------ writers


@pytest.fixture(scope="module")
def engine() -> LocalEngine:
    return LocalEngine(tiny_service.checkpoint(), "tiny")


def test_ours_writes_the_same_either_way_warm_or_not(engine: LocalEngine) -> None:
    verified, causal = Ours("verified", engine, verify=True), Ours("causal", engine, verify=False)
    prompt, other = ids("def total(items):\n    "), ids("while there is")
    cold = causal.write(prompt, goal(3))
    for writer in (verified, causal):
        writer.warm(other)
        writer.write(other, goal(1))
        writer.warm(prompt)
        for _ in range(2):
            written = writer.write(prompt, goal(3))
            assert written.ids == cold.ids and goal(3).reached(written.ids)
            assert 0 < written.layers + written.head < written.seconds
    assert cold.forwards == len(cold.ids)
    assert causal.write(prompt, goal(3, most=3)).ids == verified.write(prompt, goal(3, most=3)).ids == cold.ids[:3]


class Anything(Goal):
    """Of noise any text will do."""

    def finished(self, ids: Sequence[int]) -> bool:
        return True


def test_holes_are_whole_lines_and_come_with_the_greedy_text(engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_holes, "_exact", lambda: engine)
    lines = "".join(f"def total_{number}(items):\n    return sum(items) * {number}\n\n\n" for number in range(60))
    (tmp_path / "owner+app").mkdir()
    (tmp_path / "owner+app" / "cart.py").write_text(lines)
    for request in (requests := list(peer_holes.drawn(tmp_path, 4, seed=1))):
        middle = lines[len(request.prefix) : len(lines) - len(request.suffix)]
        assert request.prefix + middle + request.suffix == lines and middle.count("\n") >= 4
        assert request.prefix.rpartition("\n")[2].strip() == "" and request.suffix.startswith("\n")
    goal = Anything(TOKENIZER, END, 5, 12)
    found = peer_holes.references(tmp_path, goal, engine, count=2, prompt=50, seed=1)
    assert [each.prompt for each in found] == [engine.prompt_ids(request) for request in requests[:2]]
    for each in found:
        assert each.ids == Ours("", engine, verify=False).write(each.prompt, goal).ids
    assert peer_holes.references(tmp_path, goal, engine, count=2, prompt=5000, seed=1) == []


class NoLlama:
    """Writes the id after the last one, and counts what it reads."""

    def __init__(self, path: str, n_ctx: int, **_: Any) -> None:
        self.input_ids, self.n_tokens, self.read = np.zeros(n_ctx, dtype=np.intc), 0, []
        self.ctx = self

    def n_vocab(self) -> int:
        return len(TOKENIZER)

    def eval(self, tokens: Sequence[int]) -> None:
        assert tokens
        self.read.append(list(tokens))
        self.input_ids[self.n_tokens : self.n_tokens + len(tokens)] = tokens
        self.n_tokens += len(tokens)

    def logits(self) -> Any:
        self.last = np.zeros(len(TOKENIZER), dtype=np.float32)
        last = int(self.input_ids[self.n_tokens - 1])
        for ahead in (1, 2):
            self.last[(last + ahead) % len(TOKENIZER)] = 3 - ahead
        return self.last.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


@pytest.fixture
def no_llama(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("llama_cpp")
    module.Llama = NoLlama  # type: ignore[attr-defined]
    module.llama_get_logits_ith = lambda model, place: model.logits()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.delitem(sys.modules, "benchmarks.llama_writer", raising=False)
    yield
    sys.modules.pop("benchmarks.llama_writer", None)


@pytest.mark.usefixtures("no_llama")
def test_llama_reads_what_it_does_not_hold_and_writes_no_banned_id(tmp_path: Path) -> None:
    from benchmarks.llama_writer import LlamaCpp

    (tmp_path / "model.gguf").write_bytes(bytes(10))
    writer = LlamaCpp("llama", tmp_path / "model.gguf", banned=[102], context=64, threads=1)
    read = writer._model.read
    writer.warm([100, 90, 100])
    assert read == [[100, 90]]
    for _ in range(2):
        assert writer.write([100, 90, 100], goal(1, most=3)).ids == [101, 103, 104]
        assert read[1:] == [[100], [101], [103]]
        del read[1:]
    writer.warm([100, 70, 71, 72])
    assert read[1:] == [[70, 71]]


# ------------------------------------------------------------------------------------------------ the whole of it


@pytest.mark.usefixtures("no_llama")
def test_from_end_to_end(engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # what the command sets is taken back
    monkeypatch.setattr(LocalEngine, "load", lambda config: engine)
    monkeypatch.setattr(bench_peers, "_VERSIONS", ("torch",))
    drawn: dict[str, Any] = {}
    plot = ModuleType("benchmarks.race_plot")
    plot.draw = lambda outcomes, title, path: drawn.update(outcomes)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchmarks.race_plot", plot)
    for kind in ("q8_0", "q4_1"):
        (tmp_path / f"quicksilver-135m.{kind}.gguf").write_bytes(bytes(1000))
    monkeypatch.setattr(bench_peers, "_exported", lambda args: {kind: tmp_path / f"quicksilver-135m.{kind}.gguf" for kind in args.kinds})
    holes, results = tmp_path / "holes.json", tmp_path / "results.jsonl"
    holes.write_bytes(msgspec.json.encode([HOLE, Reference(path="b.py", prompt=ids("while "), ids=ids("a\n", END))]))
    arguments = ["--data", str(tmp_path), "--holes-file", str(holes), "--kinds", "q8_0", "q4_1", "--results", str(results)]
    assert bench_peers.main(arguments) == 0
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert [row["writer"] for row in rows] == ["mercury-lsp", "mercury-lsp, causally", "llama.cpp, Q8_0", "llama.cpp, Q4_1"] == [*drawn]
    for row in rows:
        assert row["five lines"]["holes"] == 2 == len(row["a line"]["tokens_ms"])
        assert row["a line"]["p50"] > 0 and row["reading_ms"] >= 0 and row["commit"] is not None
    printed = capsys.readouterr().out
    assert "five lines finished" in printed and "tokens/forward" in printed

"""The scenarios of next edits, and what the benchmark makes of them. Without the model: what the trees tell has to hold here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import bench_next_edit
from benchmarks.bench_next_edit import STRUCTURAL, groups, measure, summed_up
from benchmarks.next_edit_trial import Outcome, attempt
from benchmarks.scenarios import read_scenario, read_scenarios

SCENARIOS = read_scenarios()


def test_there_are_enough_of_every_kind() -> None:
    assert len(SCENARIOS) >= 60
    assert (
        len({scenario.path.rpartition(".")[2] for scenario in SCENARIOS} & {"py", "ts", "js", "go", "rs", "java", "c", "cpp", "lua"}) >= 8
    )
    assert sum(not scenario.after for scenario in SCENARIOS) >= len(SCENARIOS) * 0.3
    assert {scenario.kind for scenario in SCENARIOS} == {*STRUCTURAL, "other", "none"}
    assert all((scenario.kind == "none") == (not scenario.after) for scenario in SCENARIOS)
    assert all(after != scenario.text for scenario in SCENARIOS for after in scenario.after)


def test_what_the_trees_tell() -> None:
    outcomes = [attempt(scenario, None) for scenario in SCENARIOS]
    figures = {name: summed_up(each) for name, each in groups(outcomes).items()}
    assert figures["structural"]["exact"] >= 0.8
    assert (figures["all"]["wrong"] or 0) < 0.05
    assert figures["none"]["exact"] == 1


def test_a_scenario_as_text(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(
        "rename: a title\nfile: a.py\n== before\nx = 1\n\nprint(x)\n== open b.py\ny\n== edit\nx = 1\n== to\nz‸ = 1\n"
        "== edit b.py\ny\n== to\n== after\nz = 1\n\nprint(z)\n== after\nother\n"
    )
    scenario = read_scenario(tmp_path / "one.txt")
    assert (scenario.kind, scenario.path, scenario.documents) == ("rename", "a.py", {"a.py": "x = 1\n\nprint(x)\n", "b.py": "y\n"})
    assert (scenario.text, scenario.cursor, scenario.after) == ("z = 1\n\nprint(x)\n", 1, ("z = 1\n\nprint(z)\n", "other\n"))
    assert [(step.path, step.text) for step in scenario.steps] == [("a.py", "z = 1\n\nprint(x)\n"), ("b.py", "")]
    (tmp_path / "two.txt").write_text("none: t\nfile: a.py\n== before\nx\n== edit\ny\n== to\nz\n== nothing\n")
    with pytest.raises(ValueError, match="two.txt"):
        read_scenario(tmp_path / "two.txt")


def outcome(**more: object) -> Outcome:
    usual: dict[str, object] = {"name": "", "kind": "rename", "wanted": True, "offered": None, "exact": False, "place": False}
    usual |= {"similarity": 0.0, "ms": 1.0, "forwards": 0}
    return Outcome(**{**usual, **more})  # type: ignore[arg-type]


def test_figures() -> None:
    outcomes = [
        outcome(offered="rename", exact=True, place=True, similarity=1.0, ms=3.0),
        outcome(offered="repeat", place=True, similarity=0.5, ms=5.0),
        outcome(),
        outcome(kind="none", wanted=False, exact=True, similarity=1.0),
        outcome(kind="none", wanted=False, offered="model", forwards=8),
    ]
    figures = summed_up(outcomes)
    assert (figures["scenarios"], figures["shown"], figures["exact"]) == (5, 3, 0.4)
    assert figures["wrong"] == pytest.approx(2 / 3) and figures["place"] == pytest.approx(2 / 3)
    assert (figures["p50_ms"], figures["p95_ms"], figures["forwards"]) == (1.0, 5.0, 1.6)
    assert sorted(groups(outcomes)) == ["all", "none", "rename", "structural"]


def test_it_prints_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.jsonl"
    assert bench_next_edit.main(["--without-model", "--rounds", "1", "--results", str(results)]) == 0
    assert "wrong of shown" in capsys.readouterr().out
    row = json.loads(results.read_text())
    assert row["figures"]["all"]["scenarios"] == len(SCENARIOS) == len(row["outcomes"]) and row["settings"]["model"] is None
    assert bench_next_edit.main(["--without-model", "--scenarios", str(tmp_path), "--rounds", "1"]) == 0
    assert len(measure(SCENARIOS[:2], None)) == 2

"""A file being typed into the real server by the benchmark's hands, with scripted suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import bench_keystroke
from benchmarks.held_out import Stretch
from benchmarks.typist import writing
from engine.training.corpus import SourceFile

TEXT = "import os\n\n\n" + "".join(
    f"def total_{name}(items, rate={number}):\n    {name} = {number}\n"
    f"    for each_{name} in items:\n        {name} += each_{name}.price * rate\n    return {name}\n\n\n"
    for number, name in enumerate(("net", "gross", "open", "paid", "late", "due", "old"))
)


def stretch() -> Stretch:
    file = SourceFile(repo="owner+app", path="cart.py", language="python", text=TEXT)
    start = TEXT.index("def total_paid")
    return Stretch(file=file, start=start, end=TEXT.index("\n", TEXT.index("price", start)))


@pytest.mark.parametrize("seed", range(8))
def test_the_hands_write_the_file_whatever_they_do_on_the_way(seed: int) -> None:
    typed = writing(stretch(), 10_000, seed)
    text = typed.before
    for stroke in typed.strokes:
        assert stroke.delay > 0
        text = text[: stroke.at] + stroke.text + text[stroke.at + stroke.removed :]
    assert TEXT.startswith(text[: stretch().end]) and text in TEXT
    assert any(stroke.removed for stroke in typed.strokes)  # the word elsewhere, at least


def test_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "held_out" / "owner+app"
    folder.mkdir(parents=True)
    (folder / "cart.py").write_text(TEXT)
    (tmp_path / "script.json").write_text(json.dumps(["result + 1"] * 400))
    results = tmp_path / "results.jsonl"
    arguments = ["--data", str(folder.parent), "--contexts", "2", "--stretches", "1", "--length", "12", "--results", str(results)]
    assert bench_keystroke.main([*arguments, "--model", f"scripted:{tmp_path / 'script.json'}"]) == 0
    human, rested, hurry = (json.loads(line) for line in results.read_text().splitlines())
    for row in (human, hurry):
        assert row["strokes"] >= 12 and row["answered"] + row["cancelled"] == row["strokes"]
    for row in (human, rested, hurry):
        assert row["shown"] > 0
        assert 0 < row["p50"] <= row["p95"] <= row["p99"]
    assert 0 < rested["asks"] < rested["strokes"]  # keys that come soon after one another are asked about once
    assert hurry["cancelled"] == 0 and hurry["minutes"] < human["minutes"]
    assert human["ping_p95"] > 0
    assert "human" in capsys.readouterr().out

"""Weights for the confidence are found again where they are known, and refused where they make no sense."""

from __future__ import annotations

import math
import random
from pathlib import Path

import msgspec
import pytest
import torch

from benchmarks import bench_quality, fit_confidence
from benchmarks.fit_confidence import Asked, Event, ask, calibration, events, fitted, judged
from benchmarks.held_out import Stretch
from engine.api import Draft, InfillRequest, Piece, SettingInvalid, StopFlag
from engine.confidence import Weights
from engine.scripted import ScriptedEngine
from engine.training.corpus import SourceFile

TEXT = "total = a + b\n"
STRETCH = Stretch(file=SourceFile(repo="r", path="a.py", language="python", text=f"x\n{TEXT}y\n"), start=2, end=2 + len(TEXT) - 1)


def drafted(tokens: dict[str, float], before: str = "", follows: str = TEXT) -> Asked:
    """A draft of tokens with the model's probabilities."""
    text = "".join(tokens)
    pieces, length = [], 0
    for token, probability in tokens.items():
        length += len(token)
        pieces.append(Piece(length, probability, 0.5, 0.5))
    made = ScriptedEngine([text]).infill(InfillRequest(prefix="", suffix=""), StopFlag())
    return Asked(msgspec.structs.replace(made, pieces=tuple(pieces)), before, follows)


def drawn(always: float, odds: float, count: int) -> list[Event]:
    """Events that happen as the weights say."""
    rng = random.Random(0)
    said = [rng.gauss(0, 2) for _ in range(count)]
    return [Event(each, rng.random() < Weights(always, odds).chance(each)) for each in said]


@pytest.mark.parametrize("weights", [(-0.4, 0.8), (1.5, 0.6), (0.0, 1.0), (0.3, 1.4)])
def test_known_weights_are_found_again(weights: tuple[float, float]) -> None:
    assert fitted(drawn(*weights, 20_000)) == pytest.approx(weights, abs=0.05)


def test_with_nothing_to_learn_from_the_model_is_taken_at_its_word() -> None:
    assert fitted([]) == (0, 1)


def test_what_never_fails_does_not_become_certain() -> None:
    assert 0.9 < Weights(*fitted([Event(1.0, True)] * 10)).chance(1.0) < 0.99


def test_events_of_a_draft_end_with_its_first_wrong_token() -> None:
    agreed, ended = events(drafted({"total": 0.9, " =": 0.8, " b": 0.4, "\n": 0.5}))
    assert [event.happened for event in agreed] == [True, True, False]
    assert [event.log_odds for event in agreed] == pytest.approx([math.log(9), math.log(4), math.log(2 / 3)])
    assert [event.happened for event in ended] == [True]


def test_a_word_that_goes_on_was_no_word() -> None:
    agreed, ended = events(drafted({"tot": 0.9, " =": 0.8}))
    assert [event.happened for event in agreed] == [True, False]
    assert [event.happened for event in ended] == [False]
    assert ended[0].log_odds == pytest.approx(math.log(4))  # what the model says of the token after it


def test_it_is_asked_where_the_text_goes_another_way_than_the_last_draft() -> None:
    class Told(ScriptedEngine):
        def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
            asked_at.append(request.prefix.rpartition("\n")[2])
            return super().infill(request, stop)

    asked_at: list[str] = []
    asked = list(ask(Told(["total = b", " + b"]), STRETCH))
    assert asked_at == ["", "total = a"]
    assert [(each.before, each.follows) for each in asked] == [("x\n", "total = a + b"), ("x\ntotal = a", " + b")]


def test_a_model_that_is_surest_where_it_is_wrong_gets_no_weights() -> None:
    wrong = [drafted({"total": 0.2}), drafted({"print": 0.9})] * 300
    with pytest.raises(SettingInvalid, match=r"600 drafts give no calibration: .* > 0.*goes_on.odds"):
        calibration(wrong, "a", ["r"])


def test_what_was_said_too_boldly_is_said_as_it_is() -> None:
    """Sure to 95 %, right in 60: the weights say 60, and the judge sees it."""
    rng = random.Random(1)
    drafts = [
        drafted({"total": 0.9 + 0.05 * rng.random(), " =": 0.97}, follows=TEXT if rng.random() < 0.6 else "x = 1") for _ in range(400)
    ]
    found = calibration(drafts, "a", ["r"])
    assert found.fitted_on == ("r",)
    error = {
        name: abs(sum(each.confidence * each.shown - each.right for each in judged(drafts, weights)))
        for name, weights in (("product", None), ("fitted", found))
    }
    assert error["fitted"] < 0.2 * error["product"]


# ------------------------------------------------------------------------------------------------ with a model


def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights are written beside the adapter, served from there, and of the repositories they come from nothing is judged."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "training"))
    import tiny

    from engine.checkpoints.load import load_checkpoint
    from engine.training.base import fresh_adapter
    from engine.training.export import export_adapter

    base, adapter = tiny.write_gguf(tmp_path / "tiny.gguf"), tmp_path / "adapter.safetensors"
    export_adapter(adapter, fresh_adapter(tiny.base(), seed=0), tiny.SHAPE, tiny.LAYOUT, name="tiny", base="tiny.gguf", positions=12)
    data = tmp_path / "data"
    for name in ("owner+app", "owner+web"):
        (data / name).mkdir(parents=True)
        lines = "".join(f"def add_{name[-3:]}_{number}(a, b):\n    return a + {number} * b\n\n\n" for number in range(9))
        (data / name / "a.py").write_text(lines)
    threads = torch.get_num_threads()
    size = ["--stretches", 2, "--length", 20]
    command = ["--data", data, "--base", base, "--adapter", adapter, "--dtype", "float32"]
    assert fit_confidence.main([str(each) for each in [*command, *size]]) == 0
    printed = capsys.readouterr()
    assert "Calibration errors from" in printed.out
    assert "adapter.confidence.json" in printed.err
    checkpoint = load_checkpoint(base, adapter, torch.float32)
    assert checkpoint.calibration is not None
    assert checkpoint.calibration.fitted_on == ("owner+app",)
    results = tmp_path / "quality.jsonl"
    assert bench_quality.main([str(each) for each in [*command, "--holes", 1, "--stretches", 1, "--length", 20, "--results", results]]) == 0
    torch.set_num_threads(threads)
    row = msgspec.json.decode(results.read_bytes())
    assert row["adapter"]["calibrated"]
    assert row["data"]["confidence_fitted_on"] == ["owner+app"]
    assert row["quality"]["typing"][0]["stretches"] == 1
    export_adapter(adapter, fresh_adapter(tiny.base(), seed=1), tiny.SHAPE, tiny.LAYOUT, name="tiny", base="tiny.gguf", positions=13)
    assert load_checkpoint(base, adapter, torch.float32).calibration is None  # weights of another adapter


def test_one_repository_cannot_both_teach_and_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        fit_confidence.contenders, "load", lambda *_: [(fit_confidence.contenders.Contender("x", ScriptedEngine([])), None)]
    )
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.py").write_text(TEXT * 10)
    assert fit_confidence.main(["--data", str(tmp_path), "--dry-run"]) == 1
    assert "two repositories" in capsys.readouterr().err

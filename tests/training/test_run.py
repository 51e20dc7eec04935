"""A run from the command's arguments: it learns, it can be taken up, its adapter is one that the engine reads."""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tiny import base, write_corpus, write_gguf

from engine.checkpoints.adapter import Adapter
from engine.training.base import adapter_names, fresh_adapter
from engine.training.base_file import read_base
from engine.training.export import positions_seen, read_adapter
from engine.training.loop import METRICS, STATE
from engine.training.trainer import OptimiserRules, Trainer
from mercury_lsp import train


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_corpus(folder / "corpus", files=150)
    write_gguf(folder / "base.gguf")
    return folder


def train_command(files: Path, out: Path, *more: str) -> int:
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    common = ["--base", str(files / "base.gguf"), "--data", str(files / "corpus"), "--eager", "--slots", "600", "--rate", "1e-2"]
    return train.run(parser.parse_args([*common, "--out", str(out), *more]))


def metrics(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out.with_suffix(".run") / METRICS).read_text().splitlines()]


def test_the_base_is_read_as_it_was_written(files: Path) -> None:
    read, meant = read_base(files / "base.gguf", torch.float32)[0], base()
    for ours, theirs in zip(read.layers, meant.layers, strict=True):
        for name, weight in theirs.maps.items():
            torch.testing.assert_close(ours.maps[name], weight)
    torch.testing.assert_close(read.embedding, meant.embedding)


def test_a_fresh_adapter_leaves_the_base_as_it_is() -> None:
    adapter = fresh_adapter(base(), seed=0)
    assert list(adapter) == adapter_names(base().shape)
    assert all(not value.any() for name, value in adapter.items() if name.endswith(".B"))


def test_the_loss_falls_and_the_engine_reads_the_adapter(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapter.safetensors"
    assert train_command(files, out, "--steps", "60") == 0
    seen = metrics(out)
    assert [line["step"] for line in seen] == list(range(1, 61))
    for loss in ("causal_loss", "block_loss"):
        early, late = (sum(line[loss] for line in part) / len(part) for part in (seen[:10], seen[-10:]))
        assert late < early - 0.5, loss
    adapter = Adapter(out)
    assert adapter.layout.related_id == 5 and adapter.layout.context == 1024 and adapter.layout.block == 8
    assert adapter.delta(0, "qkv").shape == (64, 32) and adapter.special.shape == (17, 32)
    assert all(value.dtype == torch.bfloat16 for value in read_adapter(out).values())


def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(files: Path, tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole.safetensors", tmp_path / "parted.safetensors"
    assert train_command(files, whole, "--steps", "6") == 0
    for last in ("2", "6"):
        assert train_command(files, parted, "--steps", last) == 0
    one, two = read_adapter(whole), read_adapter(parted)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert [line["step"] for line in metrics(parted)] == list(range(1, 7))


def test_a_signal_saves_and_ends(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Trainer.step

    def step_and_signal(self: Trainer, batch: object) -> object:
        result = step(self, batch)  # type: ignore[arg-type]
        if self.step_number == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return result

    monkeypatch.setattr(Trainer, "step", step_and_signal)
    out = tmp_path / "adapter.safetensors"
    assert train_command(files, out) == 0
    assert len(metrics(out)) == 3 and (tmp_path / "adapter.run" / STATE).exists() and out.exists()


def test_a_decay_goes_on_from_another_run_and_leaves_it_alone(files: Path, tmp_path: Path) -> None:
    first, released = tmp_path / "first.safetensors", tmp_path / "released.safetensors"
    assert train_command(files, first, "--steps", "2") == 0
    state = (tmp_path / "first.run" / STATE).read_bytes()
    assert train_command(files, released, "--from-run", str(tmp_path / "first.run"), "--decay-steps", "4") == 0
    assert [line["step"] for line in metrics(released)] == [3, 4, 5, 6]
    assert metrics(released)[-1]["rate"] < metrics(released)[0]["rate"]
    assert (tmp_path / "first.run" / STATE).read_bytes() == state


def test_an_adapters_weights_are_gone_on_from_without_its_state(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.safetensors", tmp_path / "second.safetensors"
    assert train_command(files, first, "--steps", "2", "--last") == 0
    assert train_command(files, second, "--from-adapter", str(first), "--steps", "0", "--last") == 0
    one, two = read_adapter(first), read_adapter(second)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert train_command(files, second, "--from-adapter", str(first), "--steps", "1", "--last") == 0
    three = read_adapter(second)
    assert not all(torch.equal(one[name], three[name]) for name in one)
    assert metrics(second)[0]["step"] == 1 and positions_seen(second) > positions_seen(first) > 0
    cut = tmp_path / "cut.safetensors"
    save_file({name: value for name, value in one.items() if name != "special"}, cut)
    assert train_command(files, tmp_path / "third.safetensors", "--from-adapter", str(cut)) == 1
    assert "no adapter of this base" in capsys.readouterr().err


def test_it_evaluates_what_never_trained(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "adapter.safetensors"
    assert train_command(files, out, "--steps", "1") == 0
    assert train_command(files, out, "--evaluate", "--rows", "6") == 0
    assert "tokens a round" in capsys.readouterr().out


def test_no_data_is_said_in_a_line(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert train_command(files, tmp_path / "adapter.safetensors", "--data", str(empty)) == 1
    assert "no source files" in capsys.readouterr().err


def test_the_rate_rises_stays_and_falls() -> None:
    rules = OptimiserRules(peak=1.0, warm_up=10, decay_from=100, decay_steps=20)
    assert [round(rules.rate(step), 3) for step in (0, 9, 50, 99, 109, 119)] == [0.1, 1.0, 1.0, 1.0, 0.51, 0.02]

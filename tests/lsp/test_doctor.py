"""The doctor: it exits 0 exactly when a completion can be served, and names the command that mends what is missing."""

from __future__ import annotations

import argparse
import importlib.metadata
import io
import os
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from engine.api import EngineUnavailable
from engine.checkpoints import catalog
from engine.scripted import ScriptedEngine
from mercury_lsp import doctor

DEFAULT = catalog.lookup(catalog.DEFAULT)


def diagnose(capsys: pytest.CaptureFixture[str], model: str | None = None) -> tuple[int, str]:
    code = doctor.run(argparse.Namespace(model=model))
    return code, capsys.readouterr().out


def test_a_sound_installation_fills_a_hole(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = diagnose(capsys)
    assert code == 0, said
    assert said.endswith("ready: completions can be served\n")
    assert "sha256 checked" in said
    assert "ok   completion loaded in" in said
    assert "bad" not in said
    assert "torch 2." in said


def test_without_a_model(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path / "nothing"))
    code, said = diagnose(capsys)
    assert code == 1
    assert said.endswith("not ready\nto mend it, run: mercury-lsp pull quicksilver-135m\n")
    assert "completion" not in said.partition("not ready")[0]  # nothing is tried where something is missing
    assert not (tmp_path / "nothing").exists()  # looking changes nothing


@pytest.mark.parametrize("size", [10, DEFAULT.base.size])
def test_a_damaged_model(size: int, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path))
    path = catalog.place(DEFAULT).gguf
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(size)
    code, said = diagnose(capsys)
    assert code == 1
    assert "to mend it, run: mercury-lsp pull quicksilver-135m" in said


@pytest.mark.parametrize(
    ("cache", "mend"),
    [
        ("a-file", "set MERCURY_CACHE to a folder that you can write to, as {tmp}/a-file is not, then run: mercury-lsp pull {model}"),
        ("taken", "remove {tmp}/taken/models/{gguf}, then run: mercury-lsp pull {model}"),
    ],
)
def test_what_is_in_the_way_of_a_pull(
    cache: str, mend: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").write_text("")
    (tmp_path / "taken/models" / DEFAULT.base.name).mkdir(parents=True)
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path / cache))
    code, said = diagnose(capsys)
    assert code == 1
    assert said.splitlines()[-1] == "to mend it, " + mend.format(tmp=tmp_path, model=DEFAULT.name, gguf=DEFAULT.base.name)


def test_a_cache_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (found,) = doctor._base(DEFAULT)
    assert found.mend.startswith(f"set MERCURY_CACHE to a folder that you can write to, as {tmp_path} is not, then run: ")


def test_a_cache_that_cannot_be_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path))
    (tmp_path / "a").write_text("12345")
    (tmp_path / "b").write_text("12345")

    def look(path: Path, **_: bool) -> os.stat_result:
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        return os.stat(path)  # noqa: PTH116  # `Path.stat` is this function

    monkeypatch.setattr(Path, "lstat", look)
    monkeypatch.setattr(Path, "stat", look)
    (found,) = doctor._caches()
    assert found.text.startswith(f"{tmp_path}: 0.0 MB used, ")


@pytest.mark.parametrize("keep", [0, 5, 1000, -1])
def test_a_damaged_adapter(keep: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = catalog.place(DEFAULT).adapter
    size = whole.stat().st_size
    copy = tmp_path / "adapter.safetensors"
    shutil.copy(whole, copy)
    with copy.open("r+b") as file:
        file.truncate(keep % size)
    files = catalog.Files(gguf=catalog.place(DEFAULT).gguf, adapter=copy)
    monkeypatch.setattr(catalog, "place", lambda model: files)
    (found,) = doctor._adapter(DEFAULT)
    assert found.state == "bad"
    assert "not a whole safetensors file" in found.text
    assert "--force-reinstall" in found.mend


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name in ("gguf", "triton"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    _, versions, missing = doctor._versions()
    assert "triton" not in versions.text  # of use with a GPU only: its absence is no fault
    assert missing.text == "not installed: gguf"
    assert missing.mend.endswith("-m pip install mercury-lsp")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (EngineUnavailable("nobody answers"), "nobody answers"),
        (ZeroDivisionError("by zero"), "the engine failed: ZeroDivisionError: by zero"),
    ],
)
def test_an_engine_that_fails(error: Exception, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def load(config: object) -> None:
        raise error

    monkeypatch.setattr(doctor, "load_engine", load)
    code, said = diagnose(capsys)
    assert code == 1
    assert f"bad  completion {text}" in said
    assert said.endswith("not ready\n")


def test_the_draft_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "load_engine", lambda config: ScriptedEngine(["a + b"]))
    (found,) = doctor._completion(DEFAULT)
    assert "'a + b' after" in found.text


def test_editors_that_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvim"
    program.write_text("#!/bin/sh\necho NVIM v0.12.0\necho more\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [finding.text for finding in doctor._editors()] == [f"{program} (NVIM v0.12.0)"]
    program.unlink()
    (none,) = doctor._editors()
    assert none.state == "note"


def test_an_unknown_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(argparse.Namespace(model="quicksilver-9b")) == 2
    assert "known are: quicksilver-135m" in capsys.readouterr().err


def test_a_terminal_gets_a_table() -> None:
    screen = io.StringIO()
    found = [doctor.Finding("model", "[x] is there"), doctor.Finding("adapter", "is not there", "bad", "do this")]
    doctor._show(found, Console(file=screen, force_terminal=True, color_system=None, width=80))
    assert [line.split() for line in screen.getvalue().splitlines()] == [
        ["✓", "model", "[x]", "is", "there"],
        ["✗", "adapter", "is", "not", "there"],
        ["not", "ready"],
        ["to", "mend", "it,", "do", "this"],
    ]

"""Tensors kept in a file: worked out once, the same afterwards, and never in the way of loading."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.checkpoints.catalog import CACHE_VARIABLE
from engine.checkpoints.kept import kept

TENSORS = {
    "whole": torch.randint(-127, 128, (33, 7), dtype=torch.int8),
    "scale": torch.rand(33, 1),
    "embedding": torch.randn(5, 3).bfloat16(),
}


class Worked:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, torch.Tensor]:
        self.times += 1
        return TENSORS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    return tmp_path / "prepared"


def same(found: object) -> bool:
    return isinstance(found, dict) and found.keys() == TENSORS.keys() and all(torch.equal(found[name], TENSORS[name]) for name in TENSORS)


def test_worked_out_once_and_the_same_from_the_file_released_or_not(folder: Path) -> None:
    work = Worked()
    for _ in range(2):
        found = kept("a", work)
        assert same(found.tensors)
        found.release()
        assert same(found.tensors)
    assert work.times == 1
    assert [file.name for file in folder.iterdir()] == ["a.safetensors"]


@pytest.mark.parametrize("left", [0, 5, 60, -1])
def test_a_file_cut_short_is_made_anew(folder: Path, left: int) -> None:
    work = Worked()
    kept("a", work)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:left])
    assert same(kept("a", work).tensors) and work.times == 2
    assert same(kept("a", work).tensors) and work.times == 2


def test_what_cannot_be_kept_is_there_all_the_same(folder: Path) -> None:
    folder.write_text("no folder")
    assert same(kept("a", Worked()).tensors)


def test_old_files_go(folder: Path) -> None:
    for key in "abc":
        kept(key, Worked())
    assert sorted(file.name for file in folder.iterdir()) == ["b.safetensors", "c.safetensors"]

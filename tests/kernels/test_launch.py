"""Which path a device takes. The GPUs are made up; nothing is started."""

from __future__ import annotations

import importlib.util
import logging
from types import SimpleNamespace

import pytest
import torch

from kernels.launch import Gpu, gpu_of
from kernels.ops import TWINS, ops_for

CUDA = torch.device("cuda", 0)


@pytest.fixture
def chip(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    made_up = SimpleNamespace(name="a GPU", major=9, minor=0, multi_processor_count=132)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: made_up)
    gpu_of.cache_clear()
    yield made_up
    gpu_of.cache_clear()


def test_a_processor_takes_the_twins() -> None:
    assert ops_for(torch.device("cpu")) == TWINS


def test_a_gpu_takes_the_kernels(chip: SimpleNamespace) -> None:
    assert gpu_of(CUDA) == Gpu(90, 132)
    for name, op in ops_for(CUDA)._asdict().items():
        assert op.func.__name__ == name and op.func.__module__.startswith("kernels.gpu.") and op.args == (Gpu(90, 132),)


def test_an_old_gpu_takes_the_twins_and_says_so_once(chip: SimpleNamespace, caplog: pytest.LogCaptureFixture) -> None:
    chip.major, chip.minor = 7, 5
    with caplog.at_level(logging.WARNING):
        assert ops_for(CUDA) == TWINS == ops_for(CUDA)
    assert [record.getMessage() for record in caplog.records] == ["a GPU is older than the kernels know: it runs plain torch"]


def test_a_gpu_without_triton_takes_the_twins(
    chip: SimpleNamespace, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert ops_for(CUDA) == TWINS
    assert "mercury-lsp[gpu]" in caplog.text

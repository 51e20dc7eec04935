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
    chosen = Gpu(90, 132, dependent=True)
    assert gpu_of(CUDA) == chosen
    for name, op in ops_for(CUDA)._asdict().items():
        assert op.func.__name__ == name and op.func.__module__.startswith("kernels.gpu.") and op.args == (chosen,)


def test_dependent_launch_is_for_chips_that_have_it(chip: SimpleNamespace) -> None:
    assert all(not op.args[0].dependent for op in ops_for(CUDA, dependent=False))  # type: ignore[attr-defined]
    gpu_of.cache_clear()
    chip.major, chip.minor = 8, 9
    assert gpu_of(CUDA) == Gpu(89, 132)


def test_every_kernel_is_told_and_only_dependent_ones_ask_for_it() -> None:
    started: list[dict[str, object]] = []
    for dependent in (True, False):
        Gpu(90, 1, lambda kernel, grid, *arguments, **options: started.append(options), dependent).launch(None, (1,), num_warps=4)
    assert started == [{"num_warps": 4, "DEPENDENT": True, "launch_pdl": True}, {"num_warps": 4, "DEPENDENT": False}]


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

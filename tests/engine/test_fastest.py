"""Which way to compute is taken: one that works here, whatever is installed and whatever the CPU lacks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
import torch

from engine.models import fastest
from engine.models.fastest import fastest_dtype
from engine.models.transformer import float_dtype

# Prints the choice. The variable below hides instruction sets from the graph's library.
_ASK = "from engine.models.fastest import fastest_dtype; print(fastest_dtype())"


def test_the_least_time_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    for least, times in (torch.int8, {float_dtype(): 2.0, torch.int8: 1.0}), (float_dtype(), {float_dtype(): 1.0, torch.int8: 2.0}):
        monkeypatch.setattr(fastest, "_trial", lambda dtypes, times=times: times)
        assert fastest_dtype() == least


def test_without_the_library_torch_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert fastest_dtype() == float_dtype()


def test_every_way_that_works_is_timed() -> None:
    times = fastest._trial((float_dtype(), torch.int8))
    assert all(0 < least < 1 for least in times.values())


def test_a_cpu_that_the_library_cannot_use_is_served_by_torch() -> None:
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "SSE41", "OMP_NUM_THREADS": "1"}
    told = subprocess.run([sys.executable, "-c", _ASK], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() in {"torch.float32", "torch.bfloat16"}

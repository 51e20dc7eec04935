"""The Triton kernels in Triton's interpreter, without a GPU: the tests of `interpreted/` in a process of their own.

What is interpreted is so for a whole process. Inputs are drawn anew in each run; what a failing test prints as SEED=…, set in the
environment, repeats it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def interpreted(*files: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join((str(HERE), str(ROOT)))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_kernels_do_what_their_twins_do() -> None:
    files = sorted((HERE / "interpreted").glob("*.py"))
    assert [file.stem for file in files] == ["attention", "choice", "commit", "layer", "loop", "mutations", "verify"]
    done = interpreted(*files)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]


def test_a_failure_in_that_process_is_seen(tmp_path: Path) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text("from interpreter import CHIP\n\ndef test_it():\n    assert CHIP.capability == 1\n", "utf-8")
    assert interpreted(failing).returncode == pytest.ExitCode.TESTS_FAILED

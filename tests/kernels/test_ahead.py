"""The kernels compiled for chips that are not there: a case an op here, all of them in `make kernels`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def ahead(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """`python -m kernels.ahead` in a process of its own, in which `before` was run."""
    script = f"{before}\nimport sys\nfrom kernels import ahead\nsys.argv[1:] = {list(arguments)}\nsys.exit(ahead.main())"
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)


# Hopper for its matrix instruction, and a chip with a third of its shared memory.
@pytest.mark.parametrize(("chip", "instruction"), [(90, "WGMMA"), (120, "HMMA")])
def test_nothing_spills_and_the_matrix_units_are_used(chip: int, instruction: str) -> None:
    done = ahead("--few", "--jobs", "1", "--chips", str(chip))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert {line[0] for line in lines} == {"attention", "choice", "commit", "gate_up", "projection", "qkv", "verify"}
    multiplying = [line for line in lines if line[1] in ("attend_chunk", "head_tiles", "gated", "projected", "qkv_head")]
    assert len(multiplying) >= 10 and all(instruction in line for line in multiplying)


SPILLS = """
from kernels.gpu import attention
attention._cut = lambda *_: attention._Cut(128, 128, 1, 256, 16, 4)
"""


def test_a_spill_and_a_missing_instruction_are_said() -> None:
    done = ahead("--jobs", "1", "--chips", "80", "--only", "attention 7B plain rows 64", before=SPILLS)
    assert done.returncode == 1
    assert "spills" in done.stdout and "1 with faults" in done.stdout


def test_what_a_chip_lacks_is_said() -> None:
    done = ahead("--jobs", "1", "--chips", "80", "--only", "qkv 7B fp8 rows 32")
    assert done.returncode == 0 and "n/a" in done.stdout


def test_int4_by_few_rows_does_not_spill_where_four_warps_would() -> None:
    done = ahead("--jobs", "1", "--chips", "100", "--only", "qkv LLaDA-8B int4 rows 8")
    assert done.returncode == 0 and "qkv_head" in done.stdout, done.stdout

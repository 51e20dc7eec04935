"""The script for a GPU box where there is none: at a tiny shape with the torch twins, and with the kernels in Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_runs_through_and_writes_what_it_prints(tmp_path: Path) -> None:
    command = [str(ROOT / "benchmarks/gpu/run.sh"), "--device", "cpu", "--tiny", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHON": sys.executable, "OMP_NUM_THREADS": "1", "SANITIZE": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and ", 0 failed" in done.stdout
    lines = [json.loads(line) for line in (tmp_path / "gpu.jsonl").read_text("utf-8").splitlines()]
    assert {line["what"] for line in lines} == {"origin", "ceilings", "check", "op", "step"}
    steps = {line["name"]: line for line in lines if line["what"] == "step"}
    assert set(steps) == {f"tiny {kind} × {streams}" for kind in ("plain", "int8", "fp8", "int4") for streams in (1, 2)}
    for name, line in steps.items():
        assert (line["written"] is None) == name.endswith("× 2") and line["apart"] is None
        assert 0 < line["bound"] < line["step"] and line["p50"] <= line["p95"] and line["rate"] > 0
        assert f"{line['step'] * 1e3:.3f}" in done.stdout and name in done.stdout


INTERPRETED = """
import interpreter
import kernels.ops
from benchmarks.gpu import run, tune
kernels.ops.gpu_of = run.gpu_of = lambda device: interpreter.CHIP
every = tune._cuts
tune._cuts = lambda weight, rows: list(every(weight, rows))[:2]
run.kinds = lambda device: ("int4",)
assert run.main(["--device", "cpu", "--tiny", "--only", "checks", "steps", "tune"]) == 0
"""


def interpreted(script: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests/kernels")))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_its_checks_and_steps_run_the_kernels() -> None:
    done = interpreted(INTERPRETED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "58 checks, 0 failed" in done.stdout and "tiny int4 × 2" in done.stdout
    assert done.stdout.count("best (n, r, k, warps, stages)") == 3


def test_a_wrong_kernel_fails_the_run() -> None:
    wrong = "import kernels.gpu.attention as attention\nplain = attention.attend\nattention.attend = lambda *all: plain(*all) * 1.02\n"
    done = interpreted(wrong + INTERPRETED.replace('"checks", "steps", "tune"', '"checks"').replace("== 0", "== 1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attention" in done.stdout and ", 0 failed" not in done.stdout


def test_it_needs_nothing_but_torch_triton_and_numpy() -> None:
    script = "import sys\nfor name in ('msgspec', 'gguf', 'tokenizers', 'rich', 'pygls', 'mercury_lsp'): sys.modules[name] = None\n"
    script += "import benchmarks.gpu.run, kernels.ahead"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)

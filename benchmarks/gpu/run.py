"""Kernels and denoise steps measured on this machine's GPU, in the minutes given: `benchmarks/gpu/run.sh`.

Imports torch, triton, numpy and safetensors at most, and of the engine only what needs no more. What comes first matters most: where time
runs out, the rest is left out and named. Every figure is also written as a line of JSON, with machine and versions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.gpu import text
from benchmarks.gpu.checks import Check, checks, kinds
from benchmarks.gpu.loop_checks import loop_checks
from benchmarks.gpu.op_times import OpTime, op_times
from benchmarks.gpu.steps import Figures, Setting, measure
from benchmarks.gpu.timing import Ceilings, ceilings
from benchmarks.gpu.tune import tuned
from kernels.gpu.shapes import MODELS, Shape
from kernels.launch import gpu_of
from kernels.ops import ops_for
from kernels.weight import Kind

_TINY = Shape("tiny", 2, 64, 4, 2, 16, 128, 301, qkv_bias=True, tied=True)
_NAMED = {shape.name: shape for shape in MODELS}
# In the order of what is to be known first.
_STEPS: tuple[tuple[Shape, Kind, int], ...] = (
    (_NAMED["7B"], "plain", 1),
    (_NAMED["0.135B"], "plain", 1),
    (_NAMED["1.5B"], "fp8", 1),
    (_NAMED["7B"], "fp8", 1),
    (_NAMED["0.5B"], "plain", 1),
    (_NAMED["1.5B"], "plain", 1),
    (_NAMED["7B"], "int4", 1),
    (_NAMED["LLaDA-8B"], "plain", 1),
    (_NAMED["1.5B"], "plain", 16),
    (_NAMED["1.5B"], "plain", 64),
    (_NAMED["0.5B"], "fp8", 1),
    (_NAMED["1.5B"], "int4", 1),
    (_NAMED["LLaDA-8B"], "fp8", 1),
    (_NAMED["7B"], "fp8", 16),
    (_NAMED["LLaDA-8B"], "int4", 1),
    (_NAMED["0.5B"], "int4", 1),
    (_NAMED["0.135B"], "fp8", 1),
    (_NAMED["0.135B"], "int4", 1),
)
# Checks need none, and the memory checker runs without the allocator that graphs rest on.
_NO_CEILINGS = Ceilings(1.0, 1.0)
_SECTIONS = ("checks", "ops", "steps")
_MORE = ("tune",)  # only when asked for: it compiles hundreds of kernels


class Run(NamedTuple):
    """What was asked for."""

    device: torch.device
    dtype: torch.dtype
    tiny: bool
    starts: float  # by time.monotonic
    minutes: float
    price: float  # of an hour
    out: Path | None

    def late(self, part: float) -> bool:
        """Whether more than so much of the time is gone."""
        return time.monotonic() > self.starts + 60 * part * self.minutes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks/gpu/run.sh", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a small shape, to see that everything runs")
    parser.add_argument("--only", nargs="+", default=_SECTIONS, choices=(*_SECTIONS, *_MORE))
    parser.add_argument("--float16", action="store_true", help="instead of bfloat16")
    parser.add_argument("--price", type=float, default=3.5, help="of an hour of this machine, for the cost of a million tokens")
    parser.add_argument("--out", type=Path, help="a folder for the figures as JSON")
    given = parser.parse_args(arguments)
    dtype = torch.float16 if given.float16 else torch.bfloat16
    run = Run(torch.device(given.device), dtype, given.tiny, time.monotonic(), given.minutes, given.price, given.out)
    torch.manual_seed(seed := int(time.time()))
    with torch.inference_mode():
        _tell(run, "origin", {**_origin(run), "seed": seed})
        print(f"seed {seed}")
        top = _NO_CEILINGS if given.only == ["checks"] else _ceilings(run)
        sections: dict[str, Callable[[Run, Ceilings], bool]] = {"checks": _checks, "ops": _ops, "steps": _steps, "tune": _tune}
        passed = [sections[name](run, top) for name in given.only]
    return 0 if all(passed) else 1


def _ceilings(run: Run) -> Ceilings:
    top = ceilings(run.device, tiny=run.tiny)
    _tell(run, "ceilings", top._asdict())
    print(f"copy {top.bandwidth / 1e12:.2f} TB/s, bfloat16 product {top.operations / 1e12:.0f} TFLOP/s\n", flush=True)
    return top


def _checks(run: Run, top: Ceilings) -> bool:
    """Two shapes on a GPU, of both head sizes; memory is poisoned the while."""
    settings = [(_TINY, 9, 70)] if run.tiny else [(MODELS[0], 32, 257), (MODELS[3]._replace(vocab=20_000), 24, 1025)]
    torch.use_deterministic_algorithms(True, warn_only=True)
    found: list[Check] = []
    for shape, rows, prefix in settings:
        ops = ops_for(run.device)
        for told in (checks(ops, shape, run.device, run.dtype, rows, prefix), loop_checks(ops, shape, run.device, run.dtype, prefix)):
            found += [check._replace(name=f"{shape.name} {check.name}") for check in _guarded(told)]
    torch.use_deterministic_algorithms(False)
    for check in found:
        _tell(run, "check", check._asdict())
    failed = [check for check in found if not check.passed]
    rows_of = [(check.name, f"{check.error:.1e}", f"{check.allowed:.1e}") for check in (failed or found)]
    print(text.table(f"{len(found)} checks, {len(failed)} failed", ("check", "error", "allowed"), rows_of), flush=True)
    return not failed


def _guarded(told: Iterator[Check]) -> Iterator[Check]:
    """What breaks is a check that failed, and ends its shape's."""
    try:
        yield from told
    except Exception:
        traceback.print_exc()
        yield Check("broke", float("nan"), 0.0)


def _ops(run: Run, top: Ceilings) -> bool:
    rows, prefix = (8, 40) if run.tiny else (32, 2048)
    for shape in (_TINY,) if run.tiny else (MODELS[3], MODELS[0]):
        found: list[OpTime] = []
        for kind in kinds(run.device):
            if run.late(0.45):
                break
            ops, compiles = ops_for(run.device), run.device.type == "cuda" and kind == "plain"
            found += _kept(op_times(ops, shape, kind, run.device, run.dtype, rows, prefix, compiles, top))
        for one in found:
            _tell(run, "op", {"model": shape.name, **one._asdict()})
        lines = [(one.name, *map(text.micro, one[1:]), text.share(one.bound / one.ours)) for one in found]
        columns = ("op", "ours", "torch", "compiled", "library", "bound", "of bound")
        print(text.table(f"{shape.name}, {rows} rows over {prefix}, µs", columns, lines), flush=True)
    return True


def _kept(told: Iterator[OpTime]) -> list[OpTime]:
    """Those before one that breaks."""
    found: list[OpTime] = []
    try:
        for one in told:
            found.append(one)
    except Exception:
        traceback.print_exc()
    return found


def _steps(run: Run, top: Ceilings) -> bool:
    wanted = [(_TINY, kind, streams) for kind in kinds(run.device) for streams in (1, 2)] if run.tiny else list(_STEPS)
    setting = Setting(slots=8, prefix=32, a_launch=2, infills=2, written=2) if run.tiny else Setting()
    found: list[Figures] = []
    broken = False
    for number, (shape, kind, streams) in enumerate(wanted):
        if run.late(0.9):
            print("out of time: " + ", ".join(f"{left[0].name} {left[1]} × {left[2]}" for left in wanted[number:]))
            break
        try:
            # What dependent launch is worth is asked of the first two only: without it every kernel is compiled anew.
            plain = ops_for(run.device, dependent=False) if run.device.type == "cuda" and number < 2 else None
            found.append(measure(shape, kind, streams, ops_for(run.device), run.device, run.dtype, setting, top, plain))
            _tell(run, "step", found[-1]._asdict())
        except Exception:
            traceback.print_exc()
            broken = True
        if run.device.type == "cuda":
            torch.cuda.empty_cache()
    title = (
        f"{setting.slots} slots over {setting.prefix}, {setting.a_step} committed a step, {setting.a_launch} steps a launch; apart: a step "
        f"without dependent launch; written: a forward of the loop that verifies; ms; tokens/s; a million tokens at {run.price}/h"
    )
    columns = (
        *("model", "step", "apart", "bound", "× bound", "infill p50", "p95", "cold", "written"),
        *("rate", "causal", "factor", "1M tokens"),
    )
    print(text.table(title, columns, [_line(run, one) for one in found]), flush=True)
    return not broken


def _tune(run: Run, top: Ceilings) -> bool:
    gpu = gpu_of(run.device)
    if gpu is None:
        print("nothing to tune: this device runs the twins")
        return run.device.type != "cuda"
    for shape, kind in itertools.product((_TINY,) if run.tiny else (MODELS[3], MODELS[2], MODELS[0]), kinds(run.device)):
        for one in tuned(gpu, shape, kind, 8 if run.tiny else 32, run.device, run.dtype):
            _tell(run, "tune", {"model": shape.name, **one._asdict()})
            cuts = "  ".join(f"{text.micro(took)} {tuple(cut)}" for took, cut in one.best)
            print(f"{shape.name} {one.name}: own {text.micro(one.own)} µs; best (n, r, k, warps, stages) {cuts}", flush=True)
            if run.late(0.95):
                return True
    return True


def _line(run: Run, one: Figures) -> tuple[str, ...]:
    steps = (text.milli(one.step), text.milli(one.apart), text.milli(one.bound), f"{one.step / one.bound:.2f}")
    times = (*steps, *map(text.milli, (one.p50, one.p95, one.cold, one.written)))
    rates = (f"{one.rate:.0f}", f"{one.causal:.0f}", f"{one.rate / one.causal:.2f}", f"{run.price / 3600 / one.rate * 1e6:.3f}")
    return (one.name, *times, *rates)


def _origin(run: Run) -> dict[str, Any]:
    name = torch.cuda.get_device_name(run.device) if run.device.type == "cuda" else platform.machine()
    triton = sys.modules.get("triton")
    versions = {"python": platform.python_version(), "torch": torch.__version__, "triton": getattr(triton, "__version__", None)}
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "device": name, **versions}


def _tell(run: Run, what: str, figures: dict[str, Any]) -> None:
    if run.out is not None:
        run.out.mkdir(parents=True, exist_ok=True)
        with (run.out / "gpu.jsonl").open("a") as file:
            file.write(json.dumps({"what": what, **figures}) + "\n")


if __name__ == "__main__":
    sys.exit(main())

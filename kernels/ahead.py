"""Compiles the kernels for chips that are not there, and says what each costs on them: `python -m kernels.ahead`.

Exits non-zero where a kernel spills, does not fit the chip's shared memory, or lacks the matrix instruction it should use. Every kernel
is started through its op, with tensors that have a shape and no memory, so that what is compiled is what a run would compile.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
import triton
from triton.backends.compiler import GPUTarget

from kernels.gpu.cases import CASES, Case
from kernels.launch import DEPENDENT_SINCE, Gpu

CHIPS = (80, 89, 90, 100, 120)
_PROCESSORS = {80: 108, 89: 128, 90: 132, 100: 148, 120: 170}
# Shared memory that a program may use.
_SHARED = {80: 163 << 10, 89: 99 << 10, 90: 227 << 10, 100: 227 << 10, 120: 99 << 10}
# Instructions by their names in machine code, the matrix ones first.
_KINDS = {
    "HMMA": r"\bHMMA",
    "WGMMA": r"\b[HQ]GMMA",
    "UTCMMA": r"\bUTC\w*MMA",
    "LDGSTS": r"\bLDGSTS",
    "ACQBULK": r"\bACQBULK",  # waits for the kernel before, with dependent launch
    "LDG.128": r"\bLDG\.E[.\w]*\.128",
}
_SPILLS = r"\b(?:LDL|STL)\b"
_HEADING = f"{'op':<12}{'kernel':<16}{'shape':<30}{'target':<8}{'registers':>9}{'shared':>8}{'spills':>7}  instructions"


class Cost(NamedTuple):
    """What one compiled kernel takes."""

    kernel: str
    registers: int
    shared: int  # bytes a program
    spills: int  # instructions that write or read a register's place in memory
    kinds: tuple[tuple[str, int], ...]  # instructions by kind, those there are


class _Target:
    """Stands for the driver that Triton asks for its target; there is none."""

    def __init__(self, capability: int) -> None:
        self._target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return self._target.arch

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("meta")


class Compiler:
    """Compiles for one chip; what compiles to the same is compiled and read once."""

    def __init__(self, capability: int) -> None:
        self.capability = capability
        self._read: dict[int, tuple[Any, Cost]] = {}  # by identity; the kernel is held, so that it stays its own
        triton.runtime.driver.set_active(_Target(capability))

    def costs(self, call: Callable[[Gpu], Any]) -> list[Cost]:
        """Of every kernel that `call` starts."""
        found: list[Cost] = []

        def start(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
            compiled = kernel.warmup(*arguments, grid=grid, **options)
            if id(compiled) not in self._read:
                self._read[id(compiled)] = compiled, _read(kernel.fn.__name__, compiled)
            found.append(self._read[id(compiled)][1])

        call(Gpu(self.capability, _PROCESSORS[self.capability], start, self.capability >= DEPENDENT_SINCE))
        return found


def faults(cost: Cost, capability: int, case: Case) -> list[str]:
    """What is wrong with a compiled kernel."""
    found = []
    if cost.spills:
        found.append(f"{cost.spills} spills")
    if cost.shared > _SHARED[capability]:
        found.append(f"{cost.shared} bytes of shared memory, {_SHARED[capability]} there")
    wanted = {90: "WGMMA", 100: "UTCMMA"}.get(capability, "HMMA")
    if cost.kernel in case.products and wanted not in dict(cost.kinds):
        found.append(f"no {wanted}")
    if capability >= DEPENDENT_SINCE and "ACQBULK" not in dict(cost.kinds):
        found.append("does not wait for its turn")
    return found


def _read(name: str, compiled: Any) -> Cost:
    tools = triton.knobs.nvidia
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        Path(file.name).write_bytes(compiled.asm["cubin"])
        usage = _output(tools.cuobjdump.path, "-res-usage", file.name)
        code = _output(tools.nvdisasm.path, "-c", file.name)
    found = re.search(r"REG:(\d+)", usage)
    assert found, usage
    kinds = ((kind, len(re.findall(pattern, code))) for kind, pattern in _KINDS.items())
    spills = len(re.findall(_SPILLS, code))
    return Cost(name, int(found[1]), compiled.metadata.shared, spills, tuple(kind for kind in kinds if kind[1]))


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


class Line(NamedTuple):
    """A row of the table: a kernel of an op at a shape, for a chip; no cost where the chip lacks what it needs."""

    op: str
    shape: str
    capability: int
    cost: Cost | None = None
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.cost is None:
            return f"{self.op:<12}{'':<16}{self.shape:<30}sm_{self.capability:<5}{'n/a':>9}"
        figures = f"{self.cost.registers:>9}{self.cost.shared:>8}{self.cost.spills:>7}"
        instructions = " ".join(f"{kind} {count}" for kind, count in self.cost.kinds)
        if self.capability < DEPENDENT_SINCE:
            instructions += " ACQBULK n/a"
        wrong = "".join(f"  ! {fault}" for fault in self.faults)
        return f"{self.op:<12}{self.cost.kernel:<16}{self.shape:<30}sm_{self.capability:<5}{figures}  {instructions}{wrong}"


def lines(capability: int, cases: Sequence[Case]) -> Iterator[Line]:
    """One for each case and kernel on a chip."""
    compiler = Compiler(capability)
    for case in cases:
        if capability < case.since:
            yield Line(case.op, case.shape, capability)
            continue
        for cost in dict.fromkeys(compiler.costs(case.call)):
            yield Line(case.op, case.shape, capability, cost, tuple(faults(cost, capability, case)))


def dearest(found: Sequence[Line]) -> Iterator[str]:
    """The most that each kernel takes on a chip, over all shapes; a line for a page."""
    grouped: dict[tuple[str, str, int], list[Cost]] = {}
    for line in found:
        if line.cost is not None:
            grouped.setdefault((line.op, line.cost.kernel, line.capability), []).append(line.cost)
    yield "| op | kernel | target | compiled | registers | shared memory | spills | matrix instruction |\n|---|---|---|--:|--:|--:|--:|---|"
    for (op, kernel, capability), costs in grouped.items():
        most = (
            len(set(costs)),
            max(cost.registers for cost in costs),
            max(cost.shared for cost in costs),
            sum(cost.spills for cost in costs),
        )
        matrix = sorted({kind for cost in costs for kind, _ in cost.kinds if kind.endswith("MMA")})
        yield f"| {op} | `{kernel}` | sm_{capability} | {' | '.join(map(str, most))} | {', '.join(matrix) or '–'} |"


def _chip_lines(capability: int, cases: Sequence[int]) -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="mercury-kernels-") as folder:
        triton.knobs.cache.dir = folder  # what was compiled before would be taken from the user's
        return list(lines(capability, [CASES[number] for number in cases]))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m kernels.ahead", description=__doc__)
    parser.add_argument("--chips", type=int, nargs="+", default=CHIPS, choices=CHIPS, metavar="N", help="80 89 90 100 120")
    parser.add_argument("--only", default="", help="cases whose op or shape holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="chips compiled for at once")
    parser.add_argument("--few", action="store_true", help="one shape an op")
    parser.add_argument("--summary", action="store_true", help="also the most that each kernel takes, as a table for a page")
    given = parser.parse_args()
    cases = [number for number, case in enumerate(CASES) if given.only in f"{case.op} {case.shape}" and (case.first or not given.few)]
    found: list[Line] = []
    print(_HEADING)
    with ProcessPoolExecutor(given.jobs) as pool:
        for told in pool.map(_chip_lines, given.chips, [cases] * len(given.chips)):
            found += told
            print(*told, sep="\n", flush=True)
    if given.summary:
        print("", *dearest(found), sep="\n")
    failed = sum(bool(line.faults) for line in found)
    print(f"{failed} with faults" if failed else "no faults")
    return 1 if failed else 0


if __name__ == "__main__":
    assert os.environ.get("TRITON_INTERPRET", "0") in ("", "0"), "interpreted kernels are not compiled"
    sys.exit(main())

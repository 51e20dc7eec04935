"""A run on one GPU for so many minutes, from packed parts to an adapter in parts.

    python -m engine.training.gpu --parts FOLDER --minutes 6 --out FOLDER

Imports torch, triton (through torch.compile), numpy and safetensors only. The learning rate falls to the end by the clock, so that what
is saved last is fit for use; it is also saved on the way.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.training.base import fresh_adapter
from engine.training.blocks import Batch, NoiseRules, Row, pack
from engine.training.objective import Losses, Objective, ObjectiveRules
from engine.training.parts import LARGEST_RESULT, read_manifest, read_parts_base, read_tensors, rows_from_tensors, write_tensors
from engine.training.trainer import OptimiserRules, Trainer

_LENGTHS = (128, 192, 256, 320, 448, 576, 768, 960, 1152, 1344)  # rows are filled up to the next, so that attention is dense


@dataclass(frozen=True, kw_only=True)
class GpuRules:
    """How a run on a GPU goes."""

    minutes: float = 6.0
    slots: int = 49_152  # positions a step, noisy ones included
    rate: float = 2e-3
    warm_up: int = 60
    decay_share: float = 0.35  # of the time, at its end
    spare_share: float = 0.12  # of the time, kept for the saving
    seed: int = 0
    workers: int = 6
    compiled: bool = True
    steps: int | None = None  # for a test


class Batches:
    """Packs batches of rows of one length class in processes ahead of their use."""

    def __init__(self, rows: list[Row], noise: NoiseRules, rules: GpuRules) -> None:
        self._noise, self._rules, self._rng = noise, rules, random.Random(rules.seed)
        self._classes: dict[int, list[Row]] = {}
        for row in rows:
            self._classes.setdefault(min(size for size in _LENGTHS if size >= len(row.ids)), []).append(row)

    def __iter__(self) -> Iterator[Batch]:
        ahead: list[Future[dict[str, Any]]] = []
        # Spawned, because a process that holds a GPU is not safely forked.
        with ProcessPoolExecutor(self._rules.workers, multiprocessing.get_context("spawn")) as pool:
            try:
                for length, rows in self._groups():
                    ahead.append(pool.submit(_packed, rows, self._noise, self._rng.getrandbits(60), length))
                    if len(ahead) > 2 * self._rules.workers:
                        yield _unpacked(ahead.pop(0).result())
            finally:
                pool.shutdown(cancel_futures=True)

    def _groups(self) -> Iterator[tuple[int, list[Row]]]:
        """Groups of rows of one class that fill a step, in random order, round and round."""
        while True:
            groups = []
            for length, rows in self._classes.items():
                self._rng.shuffle(rows)
                share = max(1, int(self._rules.slots / (length * (1 + self._noise.slots_per_token))))
                groups += [(length, rows[first : first + share]) for first in range(0, len(rows) - share + 1, share)]
            assert groups, "fewer rows than a step needs"
            self._rng.shuffle(groups)
            yield from groups


def _packed(rows: list[Row], noise: NoiseRules, seed: int, length: int) -> dict[str, Any]:
    """A batch as arrays: tensors would travel through shared memory, which may be small."""
    fields = vars(pack(rows, noise, random.Random(seed), length))
    return {name: value.numpy() if isinstance(value, torch.Tensor) else value for name, value in fields.items()}


def _unpacked(fields: dict[str, Any]) -> Batch:
    tensors: dict[str, Any] = {name: torch.from_numpy(value) for name, value in fields.items() if isinstance(value, np.ndarray)}
    return Batch(**{**fields, **tensors})


def train_on_gpu(parts: Path, out: Path, rules: GpuRules, device: str) -> None:
    """Train for the time given and write `result.json` and the adapter's parts into `out`."""
    began = time.monotonic()
    limit = 60 * rules.minutes * (1 - rules.spare_share)
    manifest = read_manifest(parts)
    torch.set_float32_matmul_precision("high")
    base = read_parts_base(parts, manifest).to(device)
    noise = NoiseRules(specials=base.shape.specials, slots_per_token=0.5, max_slots=512, **manifest["ids"])
    objective = Objective(base, ObjectiveRules(compiled=rules.compiled, dense=True, chunk=4096))
    trainer = Trainer(objective, fresh_adapter(base, rules.seed), OptimiserRules(peak=rules.rate, warm_up=rules.warm_up, average=0.98))
    batches = Batches(rows_from_tensors(read_tensors(parts, manifest["rows"])), noise, rules)
    out.mkdir(parents=True, exist_ok=True)
    saves = [0.4, 0.7]
    for batch in batches:
        used = (time.monotonic() - began) / limit
        if used >= 1 or (rules.steps is not None and trainer.step_number >= rules.steps):
            break
        trainer.rules = replace(trainer.rules, peak=rules.rate * _falling(used, rules.decay_share))
        losses, gradient = trainer.step(batch.to(device))
        if trainer.step_number % 20 == 0 or rules.steps is not None:
            print(_line(trainer, batch, losses, gradient, time.monotonic() - began), flush=True)
        if saves and used >= saves[0]:
            saves.pop(0)
            _save(trainer, out)
    _save(trainer, out)


def _line(trainer: Trainer, batch: Batch, losses: Losses, gradient: float, seconds: float) -> str:
    causal = losses.clean.cpu()[batch.clean_weight == 1.0].mean()
    return (
        f"step {trainer.step_number}  {trainer.positions / 1e6:.2f}M positions  {trainer.positions / seconds:.0f}/s  causal {causal:.3f}"
        f"  blocks {losses.noisy.mean():.3f}  agree {losses.noisy_agrees.float().mean():.3f}  gradient {gradient:.2f}"
    )


def _falling(used: float, share: float) -> float:
    """1 until the last share of the time, then in a line to 0.02."""
    return max(0.02, min(1.0, (1 - used) / share))


def _save(trainer: Trainer, out: Path) -> None:
    adapter = trainer.adapter(averaged=False)
    files = write_tensors(out, "adapter", ((name, value.to(torch.bfloat16).cpu()) for name, value in adapter.items()), LARGEST_RESULT)
    (out / "result.json").write_text(json.dumps({"files": files, "steps": trainer.step_number, "positions": trainer.positions}))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.training.gpu", description=__doc__)
    parser.add_argument("--parts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=GpuRules.minutes)
    parser.add_argument("--slots", type=int, default=GpuRules.slots)
    parser.add_argument("--rate", type=float, default=GpuRules.rate)
    args = parser.parse_args()
    train_on_gpu(args.parts, args.out, GpuRules(minutes=args.minutes, slots=args.slots, rate=args.rate), args.device)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Which tiles make a product fastest here: every cut that fits, timed. What it finds belongs into `kernels/gpu/tiles.py`, with its date."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import torch

from benchmarks.gpu.checks import random_weight
from benchmarks.gpu.model import weight_bytes
from benchmarks.gpu.timing import seconds
from kernels.choice import Listed
from kernels.gpu.choice import choose
from kernels.gpu.mlp import gate_up
from kernels.gpu.projection import project
from kernels.gpu.shapes import Shape
from kernels.gpu.tiles import Tiles, power
from kernels.launch import Gpu
from kernels.weight import Kind, Weight

_SHARED = 220 << 10
_COLD = 256 << 20  # bytes that no cache holds


class Tuned(NamedTuple):
    """An op with its own tiles, and the best cuts with their seconds, the best first."""

    name: str
    own: float
    best: list[tuple[float, Tiles]]


def tuned(gpu: Gpu, shape: Shape, kind: Kind, rows: int, device: torch.device, dtype: torch.dtype) -> Iterator[Tuned]:
    """The ops with a product whose tile may be of any height."""
    x = torch.randn(rows, shape.width, device=device, dtype=dtype)
    wide = torch.randn(rows, shape.mlp, device=device, dtype=dtype)
    every = torch.arange(rows, dtype=torch.int32, device=device)
    listed = Listed(every, torch.tensor([rows], dtype=torch.int32, device=device))
    runs: tuple[tuple[str, int, int, Callable[..., object]], ...] = (
        ("gate_up", 2 * shape.mlp, shape.width, lambda weight, cut: gate_up(gpu, x, weight, 1e-6, cut=cut)),
        ("down", shape.width, shape.mlp, lambda weight, cut: project(gpu, wide, weight, x, cut=cut)),
        ("choice", shape.vocab, shape.width, lambda weight, cut: choose(gpu, x, weight, listed, cut=cut)),
    )
    for name, out, into, run in runs:
        one = random_weight(out, into, kind, device, dtype)
        copies = 0 if device.type != "cuda" else min(_COLD // weight_bytes(one), 32)
        weights = [one, *(random_weight(out, into, kind, device, dtype) for _ in range(copies))]

        def timed(cut: Tiles | None, run: Callable[..., object] = run, weights: list[Weight] = weights) -> float:
            return seconds([partial(run, weight, cut) for weight in weights], device)

        found = sorted((timed(cut), cut) for cut in _cuts(one, rows))
        yield Tuned(f"{name} {kind}", timed(None), found[:3])


def _cuts(weight: Weight, rows: int) -> Iterator[Tiles]:
    r = min(max(power(rows), 16), 64)
    turns = (2 * weight.half,) if weight.kind == "int4" else (64, 128)
    for n, k, warps, stages in itertools.product((64, 128), turns, (4, 8), (3, 4, 6)):
        if (n + r) * k * 2 * stages <= _SHARED:
            yield Tiles(n, r, k, warps, stages)

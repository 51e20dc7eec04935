"""How long calls on a device take, and how fast the device can be. Knows no kernel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple

import torch

from kernels.graphs import Call, captured


class Ceilings(NamedTuple):
    """What the device reached on large plain work: bytes a second copied (read and written), operations a second multiplied."""

    bandwidth: float
    operations: float


def seconds(calls: Sequence[Call], device: torch.device, *, graph: bool = True) -> float:
    """Median time of one call, the calls made in turn: as many as it takes to find no weight in a cache.

    On a GPU all of them are captured in one graph, so that what is timed is the device. A call that asks the host is timed without.
    """
    for call in calls[:2]:
        call()
    if device.type != "cuda":
        return min(_clocked(call) for call in calls for _ in range(2))
    replay: Call = captured(calls).replay if graph else lambda: [call() for call in calls]
    return statistics.median(_evented(replay) for _ in range(10)) / len(calls)


def ceilings(device: torch.device, *, tiny: bool) -> Ceilings:
    """A device-to-device copy, and a bfloat16 product of random numbers (zeros run faster than anything real)."""
    size, side = (1 << 20, 128) if tiny else (4 << 30, 8192)
    source, target = (torch.empty(size, dtype=torch.uint8, device=device) for _ in range(2))
    copy = seconds([lambda: target.copy_(source)], device)
    left, right = torch.randn(2, side, side, device=device, dtype=torch.bfloat16)
    product = seconds([lambda: left @ right], device)
    return Ceilings(2 * size / copy, 2 * side**3 / product)


def _clocked(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _evented(call: Call) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3

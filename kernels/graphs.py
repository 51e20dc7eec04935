"""Calls over fixed memory as one launch: a CUDA graph where there are graphs, else the calls themselves. Knows no op."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

Call = Callable[[], object]


def captured(calls: Sequence[Call]) -> torch.cuda.CUDAGraph:
    """A graph of the calls. Two of them are made before, outside it: whatever compiles or asks the host at first has done so."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph


def repeatable(call: Call, device: torch.device, *, times: int = 1, graphs: bool = True) -> Call:
    """`times` calls as one. Where there are graphs the call has been made twice by then: what it changes is to be set anew."""
    if graphs and device.type == "cuda":
        return captured([call] * times).replay

    def plain() -> None:
        for _ in range(times):
            call()

    return plain

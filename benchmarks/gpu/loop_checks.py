"""The engine's loop on the device: captured it writes what it writes called, and both what the same weights write token by token."""

from __future__ import annotations

import os
from collections.abc import Iterator

import torch

from benchmarks.gpu.checks import Check
from benchmarks.gpu.model import Model, random_model, read
from engine.writer import ROWS, Told, Writer
from kernels.choice import Listed
from kernels.gpu.shapes import Shape
from kernels.ops import TWINS, Ops

_TOKENS = 8
_AGREEING = 4  # ids of a first draft that are right


def loop_checks(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, prefix: int) -> Iterator[Check]:
    """Two layers of the shape, random numbers for a prefix. Counts are of ids, and of forwards, that differ."""
    model = random_model(shape._replace(layers=2), "plain", 1, prefix + _TOKENS + ROWS, device, dtype)
    greedy = _token_by_token(model, ops, prefix)
    draft = [*greedy[:_AGREEING], (greedy[_AGREEING] + 1) % model.mask_id]
    called = _written(model, ops, prefix, draft, graphs=False)
    if ops != TWINS:  # whose rows may differ in the last bit
        yield Check("loop: as token by token", _differing(called.ids, greedy), 0.0)
        # The draft's forward commits what agrees and one more; random weights agree with nothing else, or hardly.
        yield Check("loop: forwards", float(max(0, called.forwards - (_TOKENS - _AGREEING))), 0.0)
    # Graphs rest on the allocator that a memory checker runs without.
    if device.type == "cuda" and "PYTORCH_NO_CUDA_MEMORY_CACHING" not in os.environ:
        captured = _written(model, ops, prefix, draft, graphs=True)
        yield Check("loop: captured", _differing(captured.ids, called.ids) + abs(captured.forwards - called.forwards), 0.0)
    yield Check("loop: whole", float(called.going) + abs(len(called.ids) - _TOKENS), 0.0)


def _written(model: Model, ops: Ops, prefix: int, draft: list[int], *, graphs: bool) -> Told:
    """By launches of three forwards, so that some come after the end."""
    nothing = torch.zeros(0, dtype=torch.int64)
    writer = Writer(model.stack, ops, model.caches, nothing, model.mask_id, room=_TOKENS, times=3, graphs=graphs)
    writer.start(0, draft, prefix, _TOKENS, torch.zeros(model.shape.vocab, dtype=torch.int8))
    told = None
    while told is None or told.going:
        while writer.launches.flying < writer.launches.ahead:
            writer.launches.launch()
        told = Told(writer.launches.landed())
    return told


def _token_by_token(model: Model, ops: Ops, prefix: int) -> list[int]:
    device = model.lengths.device
    listed = Listed(torch.zeros(1, dtype=torch.int32, device=device), torch.ones(1, dtype=torch.int32, device=device))
    found = [0]
    for number in range(_TOKENS):
        model.lengths.fill_(prefix + number)
        hidden = read(model, ops, torch.tensor([[found[-1]]], dtype=torch.int32, device=device))
        found.append(int(ops.choose(hidden, model.stack.head, listed, model.allowed).ids[0]))
    return found[1:]


def _differing(left: list[int], right: list[int]) -> float:
    return float(sum(one != other for one, other in zip(left, right, strict=True)))

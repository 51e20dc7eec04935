"""Whole denoise steps and infills of random weights: their time against what the device allows. Knows no table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from benchmarks.gpu.model import Model, bytes_a_step, denoise, forward, masked_blocks, random_model
from benchmarks.gpu.timing import Ceilings, captured, seconds
from kernels.commit import Blocks, Rule
from kernels.gpu.shapes import Shape
from kernels.ops import Ops
from kernels.streams import seen_bits
from kernels.weight import Kind

_CHUNK = 128  # of a prompt being read


class Setting(NamedTuple):
    """What is run."""

    slots: int = 32
    prefix: int = 2048
    a_step: int = 4  # tokens committed in one
    infills: int = 200


class Figures(NamedTuple):
    """Seconds, and tokens a second."""

    name: str
    step: float
    bound: float
    p50: float
    p95: float
    cold: float | None
    rate: float
    causal: float


def measure(
    shape: Shape, kind: Kind, streams: int, ops: Ops, device: torch.device, dtype: torch.dtype, setting: Setting, top: Ceilings
) -> Figures:
    """One model in one form, for so many streams at once."""
    model = random_model(shape, kind, streams, setting.prefix + 2 * setting.slots, device, dtype)
    model.lengths.fill_(setting.prefix)
    rule = Rule(at_least=setting.a_step)
    blocks = masked_blocks(model, setting.slots)
    step = _repeatable(lambda: denoise(model, ops, blocks, rule), device)
    blocks.ids.fill_(model.mask_id)
    steps = -(-setting.slots // setting.a_step)
    infills = [_infill(step, steps, model, blocks) for _ in range(setting.infills)]
    a_step = _seconds_of(step, model, blocks, device)
    causal = _causal(model, ops, device)
    cold = None
    if streams == 1:
        cold = _prefill(model, ops, setting) + statistics.median(infills)
    read = bytes_a_step(model, setting.slots, setting.prefix) / top.bandwidth
    multiplied = 2 * shape.weights * streams * setting.slots / top.operations
    return Figures(
        f"{shape.name} {kind} × {streams}",
        a_step,
        max(read, multiplied),
        statistics.median(infills),
        sorted(infills)[int(len(infills) * 0.95)],
        cold,
        streams * setting.slots / statistics.median(infills),
        streams / causal,
    )


def _repeatable(call: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """The call as one graph where there are graphs."""
    call()
    return captured([call]).replay if device.type == "cuda" else call


def _seconds_of(step: Callable[[], None], model: Model, blocks: Blocks, device: torch.device) -> float:
    """Of a step with all slots masked: the dearest."""

    def whole() -> None:
        blocks.ids.fill_(model.mask_id)
        step()

    return seconds([whole], device, graph=False)


def _infill(step: Callable[[], None], steps: int, model: Model, blocks: Blocks) -> float:
    """From the call to the ids on the host: nothing is read between the steps."""
    _settled(model)
    start = time.perf_counter()
    blocks.ids.fill_(model.mask_id)
    for _ in range(steps):
        step()
    ids = blocks.ids.cpu()
    took = time.perf_counter() - start
    assert not bool((ids == model.mask_id).any()), "masked slots are left"
    return took


def _prefill(model: Model, ops: Ops, setting: Setting) -> float:
    """Reading the whole prompt, chunk by chunk."""
    rows = min(_CHUNK, setting.prefix)
    device = model.lengths.device
    ids = torch.randint(0, model.mask_id, (1, rows), dtype=torch.int32, device=device)
    causal = seen_bits(torch.ones(rows, rows, dtype=torch.bool, device=device).tril())

    def chunk() -> None:
        forward(model, ops, ids, causal)
        model.lengths.add_(rows)

    model.lengths.zero_()
    repeat = _repeatable(chunk, device)
    model.lengths.zero_()
    _settled(model)
    start = time.perf_counter()
    for _ in range(setting.prefix // rows):
        repeat()
    _settled(model)
    took = time.perf_counter() - start
    model.lengths.fill_(setting.prefix)
    return took


def _causal(model: Model, ops: Ops, device: torch.device) -> float:
    """Seconds a token of the same weights read causally, one token a forward: what a step is compared with."""
    blocks = masked_blocks(model, 1)
    step = _repeatable(lambda: denoise(model, ops, blocks, Rule()), device)
    return _seconds_of(step, model, blocks, device)


def _settled(model: Model) -> None:
    if model.lengths.device.type == "cuda":
        torch.cuda.synchronize(model.lengths.device)

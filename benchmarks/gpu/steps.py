"""Whole denoise steps and infills of random weights: their time against what the device allows. Knows no table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch

from benchmarks.gpu.model import Left, Model, bytes_a_step, count_left, denoise, masked_blocks, random_model, read
from benchmarks.gpu.timing import Ceilings, seconds
from engine.launches import Launches
from engine.writer import ROWS, Told, Writer
from kernels.commit import Blocks, Rule
from kernels.gpu.shapes import Shape
from kernels.graphs import repeatable
from kernels.ops import Ops
from kernels.streams import seen_bits
from kernels.weight import Kind

_CHUNK = 128  # of a prompt being read


class Setting(NamedTuple):
    """What is run."""

    slots: int = 32
    prefix: int = 2048
    a_step: int = 4  # tokens committed in one
    a_launch: int = 4  # steps
    infills: int = 200
    written: int = 32  # tokens of a text that is verified; not more than two blocks


class Figures(NamedTuple):
    """Seconds, and tokens a second."""

    name: str
    step: float
    apart: float | None  # a step without dependent launch
    bound: float
    p50: float
    p95: float
    cold: float | None
    written: float | None  # a forward of the loop that verifies, whose rows are more
    rate: float
    causal: float


def measure(
    shape: Shape,
    kind: Kind,
    streams: int,
    ops: Ops,
    device: torch.device,
    dtype: torch.dtype,
    setting: Setting,
    top: Ceilings,
    plain: Ops | None = None,
) -> Figures:
    """One model in one form, for so many streams at once. `plain`: the ops without dependent launch, where that is to be known."""
    model = random_model(shape, kind, streams, setting.prefix + 2 * setting.slots + ROWS, device, dtype)
    model.lengths.fill_(setting.prefix)
    rule = Rule(at_least=setting.a_step)
    blocks = masked_blocks(model, setting.slots)
    infills = _infills(model, ops, blocks, rule, setting)
    a_step = _seconds_of(repeatable(lambda: denoise(model, ops, blocks, rule), device), model, blocks, device)
    apart = plain and _seconds_of(repeatable(lambda: denoise(model, plain, blocks, rule), device), model, blocks, device)
    causal = _causal(model, ops, device)
    cold = written = None
    if streams == 1:
        written = _written(model, ops, setting)
        cold = _prefill(model, ops, setting) + statistics.median(infills)
    bound = bytes_a_step(model, setting.slots, setting.prefix) / top.bandwidth
    multiplied = 2 * shape.weights * streams * setting.slots / top.operations
    return Figures(
        f"{shape.name} {kind} × {streams}",
        a_step,
        apart,
        max(bound, multiplied),
        statistics.median(infills),
        sorted(infills)[int(len(infills) * 0.95)],
        cold,
        written,
        streams * setting.slots / statistics.median(infills),
        streams / causal,
    )


def _seconds_of(step: Callable[[], object], model: Model, blocks: Blocks, device: torch.device) -> float:
    """Of a step with all slots masked: the dearest."""

    def whole() -> None:
        blocks.ids.fill_(model.mask_id)
        step()

    return seconds([whole], device, graph=False)


def _infills(model: Model, ops: Ops, blocks: Blocks, rule: Rule, setting: Setting) -> list[float]:
    """Each from the call to the ids on the host. Steps go several a launch, the next launch being there before one ends; nothing is read
    between them but the count of masked slots, and steps after the last one end at once."""
    left = Left(blocks, torch.zeros(1, dtype=torch.int32, device=model.lengths.device))

    def launch() -> None:
        for _ in range(setting.a_launch):
            denoise(model, ops, blocks, rule)
        count_left(model, ops, left)

    launches = Launches(repeatable(launch, model.lengths.device), left.slots)
    found = []
    for _ in range(setting.infills):
        _settled(model)
        start = time.perf_counter()
        blocks.ids.fill_(model.mask_id)
        launches.forget()
        while True:
            while launches.flying < launches.ahead:
                launches.launch()
            if int(launches.landed()) == 0:
                break
        ids = blocks.ids.cpu()
        found.append(time.perf_counter() - start)
        assert not bool((ids == model.mask_id).any()), "masked slots are left"
    return found


def _written(model: Model, ops: Ops, setting: Setting) -> float:
    """Seconds a forward of the engine's loop, the host's part included. Random weights agree with hardly a draft: a token a forward."""
    nothing = torch.zeros(0, dtype=torch.int64)
    writer = Writer(model.stack, ops, model.caches, nothing, model.mask_id, room=setting.written, times=setting.a_launch, graphs=True)
    ends = torch.zeros(model.shape.vocab, dtype=torch.int8)
    found = []
    for _ in range(min(setting.infills, 20)):
        writer.start(0, [], setting.prefix, setting.written, ends)
        _settled(model)
        start = time.perf_counter()
        told = None
        while told is None or told.going:
            while writer.launches.flying < writer.launches.ahead:
                writer.launches.launch()
            told = Told(writer.launches.landed())
        found.append((time.perf_counter() - start) / told.forwards)
        assert len(told.ids) == setting.written, "the text is not whole"
    model.lengths.fill_(setting.prefix)
    return statistics.median(found)


def _prefill(model: Model, ops: Ops, setting: Setting) -> float:
    """Reading the whole prompt, chunk by chunk."""
    rows = min(_CHUNK, setting.prefix)
    device = model.lengths.device
    ids = torch.randint(0, model.mask_id, (1, rows), dtype=torch.int32, device=device)
    causal = seen_bits(torch.ones(rows, rows, dtype=torch.bool, device=device).tril())

    def chunk() -> None:
        read(model, ops, ids, causal)
        model.lengths.add_(rows)

    model.lengths.zero_()
    repeat = repeatable(chunk, device)
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
    step = repeatable(lambda: denoise(model, ops, blocks, Rule()), device)
    return _seconds_of(step, model, blocks, device)


def _settled(model: Model) -> None:
    if model.lengths.device.type == "cuda":
        torch.cuda.synchronize(model.lengths.device)

"""A run: batches from a corpus to a trainer, with its state, its metrics and its stop in one folder. Knows no terminal."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from engine.training.blocks import Batch, NoiseRules, pack
from engine.training.data import Rows
from engine.training.objective import Losses
from engine.training.trainer import Trainer

STATE = "state.pt"
METRICS = "metrics.jsonl"


@dataclass(frozen=True, kw_only=True)
class RunRules:
    """How long, how much at once, how often saved."""

    slots: int = 3072  # noisy slots included, a step
    steps: int | None = None  # None: until it is stopped
    minutes: float | None = None
    save_minutes: float = 5.0


@dataclass(frozen=True, kw_only=True)
class StepMetrics:
    """One line of the metrics file."""

    step: int
    positions: int
    seconds: float
    positions_a_second: float
    rate: float
    gradient: float
    causal_loss: float  # of the middles
    causal_right: float
    block_loss: float
    block_right: float
    first_slot_right: float  # of fully masked blocks
    agreement: float  # with the clean stream, of the slots that know nothing of each other
    chained_agreement: float  # of those that know the token before them


class Stop:
    """Set by a signal; the run ends after the step in progress."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """SIGTERM and SIGINT ask for a stop while this is open."""
    stop = Stop()

    def ask(_number: int, _frame: object) -> None:
        stop.asked = True

    previous = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def train(trainer: Trainer, rows: Rows, noise: NoiseRules, rules: RunRules, folder: Path, stop: Stop) -> Iterator[StepMetrics]:
    """Train from where the trainer stands, giving each step's metrics. The state is saved at intervals and at the end, however it comes."""
    began = saved = time.monotonic()
    try:
        while not stop.asked and (rules.steps is None or trainer.step_number < rules.steps):
            started = time.monotonic()
            if rules.minutes is not None and started - began > 60 * rules.minutes:
                break
            drawn, rng = rows.step(trainer.step_number, rules.slots, noise.slots_per_token)
            batch = pack(drawn, noise, rng).to(trainer.device)
            rate = trainer.rules.rate(trainer.step_number)
            losses, gradient = trainer.step(batch)
            metrics = _metrics(trainer, batch, losses, rate, gradient, time.monotonic() - started)
            with (folder / METRICS).open("a") as file:
                file.write(json.dumps({name: round(value, 6) for name, value in vars(metrics).items()}) + "\n")
            yield metrics
            if time.monotonic() - saved > 60 * rules.save_minutes:
                trainer.save(folder / STATE)
                saved = time.monotonic()
    finally:
        trainer.save(folder / STATE)


def _metrics(trainer: Trainer, batch: Batch, losses: Losses, rate: float, gradient: float, seconds: float) -> StepMetrics:
    middle = batch.clean_weight == 1.0
    first = (batch.noisy_slot == 0) & batch.noisy_full
    weight = batch.noisy_weight / batch.noisy_weight.sum()
    return StepMetrics(
        step=trainer.step_number,
        positions=trainer.positions,
        seconds=seconds,
        positions_a_second=batch.ids.shape[0] / seconds,
        rate=rate,
        gradient=gradient,
        causal_loss=float(losses.clean[middle].mean()),
        causal_right=float(losses.clean_right[middle].float().mean()),
        block_loss=float((losses.noisy * weight).sum()),
        block_right=float((losses.noisy_right * weight).sum()),
        first_slot_right=float(losses.noisy_right[first].float().mean()) if first.any() else 0.0,
        agreement=_share(losses.noisy_agrees, weight * ~batch.noisy_chained),
        chained_agreement=_share(losses.noisy_agrees, weight * batch.noisy_chained),
    )


def _share(those: Tensor, weight: Tensor) -> float:
    return float((those * weight).sum() / weight.sum().clamp(min=1e-9))

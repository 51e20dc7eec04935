"""Writers in turns on the same holes, and what came out as figures. Knows no library and no file."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from benchmarks import figures
from benchmarks.peer_holes import Reference
from benchmarks.writers import Goal, Writer, Written


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A writer's text for a hole, and the least time it took."""

    ms: float
    tokens: int
    forwards: int
    layers_ms: float
    head_ms: float
    finished: bool  # whether all lines are there
    same: bool  # as the unrounded weights write it


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Of one writer and one goal. A step is a forward with everything around it; `bound`: how many times as long as reading the weights."""

    p50: float
    p95: float
    tokens_per_s: float
    tokens_per_forward: float
    step_ms: float
    layers_ms: float
    head_ms: float
    rest_ms: float
    bound: float
    finished: int
    same: figures.Share


class Lead(msgspec.Struct, frozen=True, kw_only=True):
    """Our time over a rival's, on the holes that both finished; and of its two factors, the forwards' ratio and the step's."""

    holes: int
    time: figures.Ratio
    forwards: float
    step: float


def race(
    writers: Sequence[Writer],
    holes: Sequence[Reference],
    goals: Sequence[Goal],
    rounds: int,
    between: Callable[[], None],
    seconds: float = math.inf,
) -> dict[str, list[list[Outcome]]]:
    """Every writer's outcomes by goal and hole. Who begins changes from hole to hole; `between` is called once a hole.

    After so many seconds no further hole is begun.
    """
    until = time.monotonic() + seconds
    outcomes: dict[str, list[list[Outcome]]] = {writer.name: [[] for _ in goals] for writer in writers}
    for number, hole in enumerate(holes):
        if time.monotonic() > until:
            break
        turn = [*writers[number % len(writers) :], *writers[: number % len(writers)]]
        for writer in turn:
            writer.warm(hole.prompt)
        between()
        for place, goal in enumerate(goals):
            runs: dict[str, list[Written]] = {writer.name: [] for writer in turn}
            for _ in range(rounds):
                for writer in turn:
                    runs[writer.name].append(writer.write(hole.prompt, goal))
            for name, written in runs.items():
                outcomes[name][place].append(_outcome(written, goal, hole.ids))
    return outcomes


def _outcome(runs: Sequence[Written], goal: Goal, reference: Sequence[int]) -> Outcome:
    best = min(runs, key=lambda written: written.seconds)
    return Outcome(
        ms=best.seconds * 1e3,
        tokens=len(best.ids),
        forwards=best.forwards,
        layers_ms=best.layers * 1e3,
        head_ms=best.head * 1e3,
        finished=goal.finished(best.ids),
        same=goal.text(best.ids) == goal.text(reference),
    )


def figures_of(outcomes: Sequence[Outcome], reading_ms: float) -> Figures:
    """`reading_ms`: how long the writer's weights take to be read once."""
    times = [each.ms for each in outcomes]
    ms, forwards, tokens = sum(times), sum(each.forwards for each in outcomes), sum(each.tokens for each in outcomes)
    layers, head = sum(each.layers_ms for each in outcomes), sum(each.head_ms for each in outcomes)
    return Figures(
        p50=statistics.median(times),
        p95=float(np.quantile(times, 0.95)),
        tokens_per_s=tokens / ms * 1e3,
        tokens_per_forward=tokens / forwards,
        step_ms=ms / forwards,
        layers_ms=layers / forwards,
        head_ms=head / forwards,
        rest_ms=(ms - layers - head) / forwards,
        bound=ms / forwards / reading_ms,
        finished=sum(each.finished for each in outcomes),
        same=figures.share_of(each.same for each in outcomes),
    )


def lead(ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> Lead | None:
    """None where no hole was finished by both."""
    both = [pair for pair in zip(ours, theirs, strict=True) if pair[0].finished and pair[1].finished]
    if not both:
        return None
    our_ms, their_ms = (sum(pair[side].ms for pair in both) for side in (0, 1))
    our_forwards, their_forwards = (sum(pair[side].forwards for pair in both) for side in (0, 1))
    return Lead(
        holes=len(both),
        time=figures.ratio([(their.ms, 1.0) for _, their in both], [(our.ms, 1.0) for our, _ in both]),
        forwards=our_forwards / their_forwards,
        step=our_ms / our_forwards / (their_ms / their_forwards),
    )


def verdict(rival: str, goal: str, lead: Lead, target: float, ours: Figures) -> str:
    """Whether the target is met; where not, by how much, and where the time goes."""
    found = lead.time.ratio
    assert found is not None
    head = f"{goal}: {found:.2f} × the time of {rival} (target {target:.2f})"
    if found <= target:
        return f"{head}: met"
    return (
        f"{head}: missed by {found / target - 1:.0%}. {lead.forwards:.2f} × the forwards at {lead.step:.2f} × the step. A step of ours is "
        f"{ours.step_ms:.1f} ms: layers {ours.layers_ms:.1f}, head {ours.head_ms:.1f}, choosing and drafting {ours.rest_ms:.1f}; "
        f"{ours.step_ms * target / found:.1f} ms, or {ours.tokens_per_forward * found / target:.1f} tokens a forward instead of "
        f"{ours.tokens_per_forward:.1f}, would meet it"
    )

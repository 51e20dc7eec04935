"""The one thread in which the engine works for many: which answers share the next forward, who is let in, who has to wait.

1. `submit` puts a job in the queue, or refuses it where too many wait.
2. Before every forward, waiting jobs are let in, those somebody waits for at a keyboard first, while there is room in the cache.
3. A forward takes the blocks of all answers, and a piece of one prompt: a small one while there are blocks, so that they hardly wait.
4. What it committed goes out as an event; a job that ended, was stopped or ran out of time gives its slot back.

Knows rows and jobs, no text and no protocol.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from engine.api import Overloaded
from engine.decode import PREFILL_CHUNK
from engine.drafting import Decoder
from engine.serving.generation import Ask, Generation, Step
from engine.serving.memory import ServingCache
from engine.serving.requests import Ended, Load
from kernels.confidence import text_logits

# Rows of one forward. A block takes some 14.
_MOST_ROWS = 256
# Of a prompt, so many ids are read beside the blocks of other answers, fewer while somebody waits at a keyboard. A forward of 14 rows
# takes as long as one of so many, nearly.
_CHUNK_BESIDE = 32
# From so many answers on a forward is crowded: its rows cost more than itself. A forward takes some 11 ms and each row 0.6 more, the head
# included; with a draft and a block an answer takes some 12 rows for 2.1 tokens, without them one row for a token. So reckoned it is 9 ms
# a token against 12 for one answer, 12 against 12 for two, 60 against 21 for sixteen (one thread, AVX512 with VNNI, 2026-11-30).
_CROWD = 3
# A smaller piece of a prompt is not worth its place in a forward, unless it is all that is left of it.
_LEAST_PIECE = 16
# The head is applied to a multiple of so many rows.
_HEAD_STEP = 8
# Whatever else there is to do, a job that was passed over so often comes next.
_PATIENCE = 8


class Bounds(NamedTuple):
    """How many may work at once, and how many may wait."""

    running: int = 16
    waiting: int = 64
    streams: int = 1  # that share out the rows of a forward: each reads a piece of a prompt


class Job:
    """One answer on its way. `heard` and `done` are called on the engine's thread, `done` once, and nothing after it."""

    def __init__(
        self,
        start: Callable[[ServingCache], Generation | None],
        heard: Callable[[Step], bool],
        done: Callable[[Ended | BaseException], None],
        *,
        interactive: bool,
        deadline: float | None,
        shown: bool = False,
    ) -> None:
        """`start` takes a slot and begins, or says None where there is no room yet. `heard` says whether the answer goes on.

        `shown`: somebody watches its drafts.
        """
        self.start, self.heard, self.done = start, heard, done
        self.interactive, self.deadline, self.shown = interactive, deadline, shown
        self.stop = threading.Event()
        self.generation: Generation | None = None
        self.passed_over = 0

    @property
    def interruption(self) -> Ended | None:
        if self.stop.is_set():
            return "stopped"
        return "deadline" if self.deadline is not None and time.monotonic() >= self.deadline else None

    @property
    def urgency(self) -> tuple[bool, bool, int]:
        """The least is served first."""
        return self.passed_over < _PATIENCE, not self.interactive, -self.passed_over


class Scheduler:
    """Takes jobs from any thread."""

    def __init__(self, decoder: Decoder, cache: ServingCache, bounds: Bounds) -> None:
        self._decoder, self._cache, self._bounds = decoder, cache, bounds
        self._wake = threading.Condition()
        self._waiting: list[Job] = []  # under `_wake`
        self._closed = False  # under `_wake`
        self._running: list[Job] = []  # changed on the engine's thread only
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> None:
        """Raises `Overloaded`."""
        with self._wake:
            if len(self._waiting) >= self._bounds.waiting:
                raise Overloaded(f"{len(self._waiting)} requests are waiting already", retry_after=1.0 + len(self._waiting) / 16)
            self._waiting.append(job)
            self._wake.notify()

    def load(self) -> Load:
        return Load(
            running=len(self._running),
            waiting=len(self._waiting),
            cached_tokens=self._cache.held,
            cache_tokens=self._cache.tokens,
            alive=self._thread.is_alive(),
        )

    def close(self) -> None:
        """End the thread after its current forward."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    # ------------------------------------------------------------------------------------------ on the engine's thread

    @torch.inference_mode()
    def _run(self) -> None:
        while self._rest():
            self._let_in()
            for job in [job for job in self._running if job.interruption]:
                self._end(job, job.interruption or "stopped")
            if self._running:
                self._step()
        for job in [*self._running, *self._waiting]:
            job.done("stopped")

    def _rest(self) -> bool:
        """Sleep while there is nothing to do. False when it is time to end."""
        with self._wake:
            while not (self._closed or self._waiting or self._running):
                self._wake.wait()
            return not self._closed

    def _let_in(self) -> None:
        with self._wake:
            waiting = sorted(self._waiting, key=lambda job: not job.interactive)
        for job in waiting:
            if reason := job.interruption:
                self._leave_queue(job)
                job.done(reason)
            elif len(self._running) < self._bounds.running and not self._begin(job):
                break  # who needs much memory is not overtaken for ever by those who need little

    def _begin(self, job: Job) -> bool:
        try:
            job.generation = job.start(self._cache)
        except Exception as error:  # whatever it is, the one who waits must hear of it
            self._leave_queue(job)
            job.done(error)
            return True
        if job.generation is None:
            return False
        self._leave_queue(job)
        self._running.append(job)
        return True

    def _leave_queue(self, job: Job) -> None:
        with self._wake:
            self._waiting.remove(job)

    def _step(self) -> None:
        """One forward for many."""
        batch = self._batch()
        try:
            results = self._computed([(ask, job.generation) for job, ask in batch if job.generation])
        except Exception as error:
            for job, _ in batch:
                self._end(job, error)
            return
        for (job, _), (hidden, logits) in zip(batch, results, strict=True):
            try:
                self._told(job, hidden, logits)
            except Exception as error:  # of one answer, not of the others
                self._end(job, error)

    def _batch(self) -> list[tuple[Job, Ask]]:
        """Blocks first; then pieces of prompts, as far as there is room."""
        order = sorted(self._running, key=lambda job: job.urgency)
        blocks = [job for job in order if job.generation and not job.generation.unread]
        prompts = [job for job in order if job.generation and job.generation.unread]
        room = _MOST_ROWS
        batch: list[tuple[Job, Ask]] = []
        crowded = len(blocks) >= _CROWD
        for job in blocks:
            ask = _generation(job).ask(0, crowded=crowded and not job.shown)
            if batch and len(ask.rows.ids) > room:
                break
            batch.append((job, ask))
            room -= len(ask.rows.ids)
        taken = {id(job) for job, _ in batch}
        batch += self._prompts(prompts, beside=bool(blocks), hurry=any(job.interactive for job in order))
        taken |= {id(job) for job, _ in batch}
        for job in order:
            job.passed_over = 0 if id(job) in taken else job.passed_over + 1
        return batch

    def _prompts(self, jobs: Sequence[Job], *, beside: bool, hurry: bool) -> list[tuple[Job, Ask]]:
        """Pieces of the most urgent prompts, a chunk in all; what nobody waits for at a keyboard only now and then while somebody does."""
        pieces: list[tuple[Job, Ask]] = []
        room = PREFILL_CHUNK * self._bounds.streams
        for job in jobs:
            if hurry and not job.interactive and job.passed_over < _PATIENCE:
                continue
            most = min(room, PREFILL_CHUNK if job.interactive or not (beside or hurry) else _CHUNK_BESIDE)
            if most >= min(_LEAST_PIECE, _generation(job).unread):
                pieces.append((job, _generation(job).ask(most)))
                room -= len(pieces[-1][1].rows.ids)
        return pieces

    def _computed(self, asks: Sequence[tuple[Ask, Generation]]) -> list[tuple[torch.Tensor | None, torch.Tensor | None]]:
        """Hidden states and logits of the rows that each one asked for; the head is applied to all of them together."""
        hidden = self._decoder.transformer.forward_many([(ask.rows, generation.slot) for ask, generation in asks])
        wanted = [rows[ask.first :] for rows, (ask, _) in zip(hidden, asks, strict=True) if ask.first is not None]
        if not wanted:
            return [(None, None)] * len(asks)
        counts = [len(rows) for rows in wanted]
        # Filled up: the libraries compile a product for every count of rows they meet.
        filling = wanted[0][:1].expand(-sum(counts) % _HEAD_STEP, -1)
        told = text_logits(torch.cat([*wanted, filling]), self._decoder.transformer.head, self._decoder.banned)
        logits = iter(told[: sum(counts)].split(counts))
        rows = iter(wanted)
        return [(None, None) if ask.first is None else (next(rows), next(logits)) for ask, _ in asks]

    def _told(self, job: Job, hidden: torch.Tensor | None, logits: torch.Tensor | None) -> None:
        generation = _generation(job)
        step = generation.take(hidden, logits)
        if step is None:
            return
        goes_on = job.heard(step)
        if step.ended:
            self._end(job, "end")
        elif not goes_on:
            self._end(job, "stop")
        elif generation.full:
            self._end(job, "length")

    def _end(self, job: Job, how: Ended | BaseException) -> None:
        self._running.remove(job)
        if job.generation is not None:
            self._cache.give(job.generation.slot)
        job.done(how)


def _generation(job: Job) -> Generation:
    assert job.generation is not None
    return job.generation

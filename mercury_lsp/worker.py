"""The one thread in which the engine lives: loads it, and runs infills, of each document only the newest. Knows no LSP and no text.

An infill that ran out of time is answered with what there is; while nobody asks, the engine finishes it for those that come after.
All methods are called on the event loop; futures are resolved there. The thread sleeps on a condition when there is nothing to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from engine import loading
from engine.api import Draft, Engine, EngineConfig, InfillRequest, StopFlag, unheard, watch

_log = logging.getLogger(__name__)

# Seconds that the engine may be late: a denoise step that began in time ends in time for this.
_GRACE = 0.005


class _Job:
    """One infill on its way. `answer` is resolved once: a draft, None where there is none, or the engine's exception."""

    def __init__(
        self,
        document: str,
        request: InfillRequest,
        budget: float | None,
        answer: asyncio.Future[Draft | None],
        late: Callable[[Draft], None] | None,
    ) -> None:
        self.document = document
        self.late = late  # told of the whole draft where the answer was not it
        self.request = request
        self.budget = budget  # seconds from the moment it starts; None: the request carries its own deadline
        self.answer = answer
        self.stop = StopFlag()
        self.hurried = False  # the deadline ended it
        self.returned = False  # the asker has the answer

    def run(self, engine: Engine) -> Draft:
        request = self.request
        if self.budget is not None:
            request = msgspec.structs.replace(request, deadline=time.monotonic() + self.budget)
        return engine.infill(request, self.stop)

    def finish(self, engine: Engine, stop: StopFlag) -> Draft:
        return engine.infill(msgspec.structs.replace(self.request, deadline=None), stop)


class _Call(_Job):
    """Anything else that somebody waits for, of the same rank as an infill."""

    def __init__(self, key: str, work: Callable[[Engine, StopFlag], Draft], answer: asyncio.Future[Draft | None]) -> None:
        super().__init__(key, InfillRequest(prefix="", suffix=""), None, answer, None)
        self._work = work

    def run(self, engine: Engine) -> Draft:
        return self._work(engine, self.stop)


class _Aside:
    """Something that may wait for all infills, and gives way to each. Of each document the newest."""

    def __init__(self, document: str, work: Callable[[Engine, StopFlag], Draft | None], answer: asyncio.Future[Draft | None]) -> None:
        self.document = document
        self.work = work
        self.answer = answer
        self.stop = StopFlag()


class _Load:
    def __init__(self, config: EngineConfig, answer: asyncio.Future[None], told: Callable[[float], None]) -> None:
        self.config = config
        self.answer = answer
        self.told = told


class Worker:
    """Asks go in, drafts come out; an ask ends the one before it for the same document."""

    def __init__(self, load: Callable[[EngineConfig], Engine], loop: asyncio.AbstractEventLoop) -> None:
        self._load_engine = load
        self.changed: Callable[[str], None] = unheard  # as `engine.api.watch` says, on the event loop
        self._loop = loop
        self._wake = threading.Condition()
        # Below: only under `_wake`.
        self._next_load: _Load | None = None
        self._ready = False  # a load has ended, well or not; before that asks wait, however long it takes until one is asked for
        self._waiting: dict[str, _Job] = {}  # by document, the longest waiting first
        self._running: _Job | None = None
        self._finishing: StopFlag | None = None  # of the infill that is finished after its answer, or of what is done aside
        self._asides: dict[str, _Aside] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether the engine fills a hole. May be asked on any thread."""
        return self._running is not None or self._finishing is not None

    async def load(self, config: EngineConfig, told: Callable[[float], None] = lambda share: None) -> None:
        """Load an engine in place of the one before. Raises what loading raises; there is no engine then.

        `told` hears on the event loop which share of it is done, 0 to 1.
        Infills asked for meanwhile wait for it. A load that has not begun when the next is asked for is dropped.
        """
        answer: asyncio.Future[None] = self._loop.create_future()
        with self._wake:
            dropped, self._next_load = self._next_load, _Load(config, answer, told)
            self._wake.notify()
        if dropped is not None and not dropped.answer.done():
            dropped.answer.set_result(None)
        await answer

    async def infill(
        self, document: str, request: InfillRequest, *, patience: float | None = None, late: Callable[[Draft], None] | None = None
    ) -> Draft | None:
        """The engine's draft, or None: superseded, stopped, out of time, or no engine. Raises what the engine raises.

        Without `patience` the request's own deadline holds from now, also while a model loads. With it the ask waits as long as it
        must, and then has so many seconds. Where time ran out and nobody asks for anything meanwhile, `late` gets the whole draft.
        """
        job = _Job(document, request, patience, self._loop.create_future(), late)
        with self._wake:
            older = self._take(document)
            self._stop_finishing()
            self._waiting[document] = job
            self._wake.notify()
        _resolve_all(older)
        timer = None
        if patience is None and request.deadline is not None:
            timer = self._loop.call_later(max(0.0, request.deadline + _GRACE - time.monotonic()), self._out_of_time, job)
        try:
            return await job.answer
        finally:  # also where the client cancelled
            job.returned = True
            job.stop.set()
            if timer is not None:
                timer.cancel()
            self._expire(job)

    async def call(self, key: str, work: Callable[[Engine, StopFlag], Draft]) -> Draft | None:
        """What `work` makes of the engine, on its thread, in its turn among the infills. Raises what `work` raises.

        None: superseded by another of the same key, or no engine. A key that is no document's leaves the documents' asks alone.
        """
        job = _Call(key, work, self._loop.create_future())
        with self._wake:
            older = self._take(key)
            self._stop_finishing()
            self._waiting[key] = job
            self._wake.notify()
        _resolve_all(older)
        try:
            return await job.answer
        finally:  # also where the client cancelled
            job.stop.set()
            self._expire(job)

    async def aside(self, document: str, work: Callable[[Engine, StopFlag], Draft | None]) -> Draft | None:
        """What `work` makes of the engine, on its thread, while nobody asks for an infill.

        None where somebody did, the document was stopped, or there is no engine. Raises what `work` raises.
        """
        job = _Aside(document, work, self._loop.create_future())
        with self._wake:
            older = self._asides.pop(document, None)
            self._asides[document] = job
            self._wake.notify()
        if older is not None:
            older.stop.set()
            _resolve(older.answer, None)
        try:
            return await job.answer
        finally:  # also where the client cancelled
            job.stop.set()
            self._drop(job)

    def stop(self, document: str) -> None:
        """End what is asked for `document`; it is answered with None at once, the engine follows at its next denoise step."""
        with self._wake:
            jobs = self._take(document)
            aside = self._asides.get(document)
        _resolve_all(jobs)
        if aside is not None:
            aside.stop.set()
            _resolve(aside.answer, None)

    def close(self) -> None:
        """End the thread after its current denoise step."""
        with self._wake:
            self._closed = True
            self._stop_finishing()
            if self._running is not None:
                self._running.stop.set()
            self._wake.notify()

    def _take(self, document: str) -> list[_Job]:
        """Under `_wake`: the jobs of a document, no longer waiting, and told to stop."""
        jobs = [job for job in (self._waiting.pop(document, None), self._running) if job is not None and job.document == document]
        for job in jobs:
            job.stop.set()
        return jobs

    def _drop(self, job: _Aside) -> None:
        with self._wake:
            if self._asides.get(job.document) is job:
                del self._asides[job.document]

    def _stop_finishing(self) -> None:
        """Under `_wake`."""
        if self._finishing is not None:
            self._finishing.set()

    def _out_of_time(self, job: _Job) -> None:
        """Answer with nothing, whatever the engine is at: a piece of the prompt may take it longer than the deadline allows."""
        self._expire(job)
        _resolve(job.answer, None)

    def _expire(self, job: _Job) -> None:
        """Forget a job that has not begun."""
        with self._wake:
            if self._waiting.get(job.document) is not job:
                return
            del self._waiting[job.document]
        _resolve_all([job])

    # ------------------------------------------------------------------------------------------ on the engine's thread

    def _run(self) -> None:
        engine: Engine | None = None
        while (task := self._next()) is not None:
            if isinstance(task, _Load):
                engine = None  # freed before the next one takes its memory
                engine = self._loaded(task)
            elif isinstance(task, _Aside):
                self._done_aside(task, engine)
                self._drop(task)
            else:
                self._infilled(task, engine)
                if task.late is not None and task.hurried and engine is not None:
                    self._finish(task, task.late, engine)
            with self._wake:
                self._ready, self._running, self._finishing = True, None, None

    def _next(self) -> _Load | _Job | _Aside | None:
        with self._wake:
            while not (self._closed or self._next_load or (self._ready and (self._waiting or self._asides))):
                self._wake.wait()
            if self._closed:
                return None
            if (load := self._next_load) is not None:
                self._next_load = None
                return load
            if not self._waiting:
                aside = next(iter(self._asides.values()))  # it stays there until it is done, to be found and stopped
                self._finishing = aside.stop
                return aside
            self._running = self._waiting.pop(next(iter(self._waiting)))
            return self._running

    def _loaded(self, task: _Load) -> Engine | None:
        try:
            with loading.heard(lambda share: self._post(task.told, share)):
                engine = self._load_engine(task.config)
        except BaseException as error:  # whatever it is, the one who waits must hear of it
            self._post(_fail, task.answer, error)
            return None
        watch(engine, lambda fault: self._post(self.changed, fault))
        self._post(_resolve, task.answer, None)
        return engine

    def _infilled(self, job: _Job, engine: Engine | None) -> None:
        if engine is None or job.stop.is_set():
            self._post(_resolve, job.answer, None)
            return
        try:
            draft = job.run(engine)
        except BaseException as error:
            self._post(_fail, job.answer, error)
            return
        job.hurried = draft.ended == "deadline"
        self._post(_resolve, job.answer, draft)

    def _done_aside(self, job: _Aside, engine: Engine | None) -> None:
        draft = None
        try:
            if engine is not None and not job.stop.is_set():
                draft = job.work(engine, job.stop)
        except BaseException as error:
            self._post(_fail, job.answer, error)
            return
        self._post(_resolve, job.answer, None if job.stop.is_set() else draft)

    def _finish(self, job: _Job, late: Callable[[Draft], None], engine: Engine) -> None:
        """Decode to the end what the deadline cut short, until somebody asks for something else."""
        stop = StopFlag()
        with self._wake:
            if self._waiting or self._next_load or self._closed:
                return
            self._finishing = stop
        try:
            draft = job.finish(engine, stop)
        except Exception as error:  # the answer is out, and nobody waits for this one
            _log.warning("a draft was not finished: %s", error)
            return
        if draft.ended != "stopped":
            self._post(self._finished, job, late, draft)

    def _finished(self, job: _Job, late: Callable[[Draft], None], draft: Draft) -> None:
        """On the event loop, not before the asker has had the answer."""
        if job.returned:
            late(draft)
        else:
            self._loop.call_soon(self._finished, job, late, draft)

    def _post(self, call: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone: the server is on its way out
            self._loop.call_soon_threadsafe(call, *arguments)


def _resolve(answer: asyncio.Future[Any], value: object) -> None:
    if not answer.done():
        answer.set_result(value)


def _resolve_all(jobs: list[_Job]) -> None:
    for job in jobs:
        _resolve(job.answer, None)


def _fail(answer: asyncio.Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error if isinstance(error, Exception) else RuntimeError(f"the engine ended: {error!r}"))

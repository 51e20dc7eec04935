"""Many engines in processes of their own, behind one service: a Ray Serve deployment. Knows no protocol and no model's insides.

A work goes to the replica that wrote for the same beginning before, since that one holds its keys and values. A replica that dies takes its
works with it: those of which nothing was sent are asked again elsewhere, the others end with an error that says so.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

# Before Ray is imported: it reports nothing about its use to anybody, and stays on loopback, for which it has no other switch (2.60).
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

import ray
from ray import serve
from ray.exceptions import RayError

from engine.api import EngineUnavailable, GrammarUnsupported, MercuryError, Overloaded, PromptTooLong, RequestInvalid, RewriteRequest
from engine.serving.requests import Conversation, Event, Facts, Finished, Hole, Load, Passage, Progress, Service, Work

# Characters of a beginning by which works are kept together: a system turn and a question, or the head of a file.
_BEGINNING = 256
# Beginnings that are remembered of a replica: it has no room for the keys and values of more.
_REMEMBERED = 64
_TRIES = 3
_NAME = "mercury"
_KINDS = {kind.__name__: kind for kind in (PromptTooLong, GrammarUnsupported, RequestInvalid, EngineUnavailable)}


class Refused(msgspec.Struct, frozen=True):
    """An error of the engine, on its way from a replica."""

    kind: str
    message: str
    retry_after: float | None = None

    def error(self) -> MercuryError:
        if self.retry_after is not None:
            return Overloaded(self.message, self.retry_after)
        return _KINDS.get(self.kind, EngineUnavailable)(self.message)


class Replica:
    """One engine in a process of its own. Its methods are called by Ray."""

    def __init__(self, load: Callable[[], Service]) -> None:
        self._service = load()

    async def facts(self) -> Facts:
        return self._service.facts

    async def load(self) -> Load:
        return self._service.load()

    async def process(self) -> int:
        return os.getpid()

    @serve.multiplexed(max_num_models_per_replica=_REMEMBERED)
    async def remembered(self, beginning: str) -> str:
        """Tells the router that works with this beginning are at home here."""
        return beginning

    async def write(self, work: Work) -> AsyncIterator[Event | Refused]:
        await self.remembered(serve.get_multiplexed_model_id())
        try:
            stream = self._service.submit(work)
        except MercuryError as error:
            yield _refused(error)
            return
        try:
            async for event in stream:
                yield event
        except MercuryError as error:
            yield _refused(error)
        finally:
            stream.stop()

    def check_health(self) -> None:
        """Raises where the engine's thread is gone; the replica is replaced then."""
        if not self._service.load().alive:
            raise RuntimeError("the engine's thread ended")


class ClusterService:
    """Replicas as one service."""

    def __init__(self, handle: Any, facts: Facts) -> None:
        self.facts = facts
        self._handle = handle
        self._open: set[int] = set()

    @classmethod
    def start(cls, load: Callable[[], Service], *, replicas: int, most: int | None = None) -> ClusterService:
        """`load` is called in each replica's process. With `most` there are as many as the load asks for, up to that."""
        ray.init(
            include_dashboard=False,
            log_to_driver=False,
            num_cpus=2 * max(replicas, most or 0) + 4,  # what Ray books; the engines share the cores as processes do
            configure_logging=False,
        )
        serve.start(proxy_location="Disabled")
        scaled: dict[str, Any] = {"num_replicas": replicas}
        if most is not None:
            scaled = {"autoscaling_config": {"min_replicas": replicas, "max_replicas": most, "target_ongoing_requests": 8}}
        deployment = serve.deployment(
            Replica,
            name=_NAME,
            max_ongoing_requests=256,  # the engine itself says when it has too many
            health_check_period_s=2,
            health_check_timeout_s=30,
            graceful_shutdown_timeout_s=2,
            ray_actor_options={"num_cpus": 1},
            **scaled,
        )
        handle = serve.run(deployment.bind(load), name=_NAME, route_prefix=None)
        return cls(handle, handle.facts.remote().result(timeout_s=300))

    def submit(self, work: Work) -> _ReplicaStream:
        return _ReplicaStream(self._handle, work, self._open)

    def count(self, text: str) -> int:
        """Nearly: the tokenizers are in other processes."""
        return max(1, len(text) // 3)

    def load(self) -> Load:
        """Of this process: what waits in a replica, or is kept there, is not known here."""
        return Load(running=len(self._open), waiting=0, cached_tokens=0, cache_tokens=0)

    def close(self) -> None:
        serve.shutdown()
        ray.shutdown()


class _ReplicaStream:
    """The events of one work from whichever replica writes it."""

    def __init__(self, handle: Any, work: Work, open_streams: set[int]) -> None:
        self._handle, self._work = handle.options(stream=True, multiplexed_model_id=beginning(work)), work
        self._running: Any = None
        self._open = open_streams
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    async def __aiter__(self) -> AsyncIterator[Event]:
        self._open.add(id(self))
        try:
            async for event in self._events():
                yield event
        finally:
            self._open.discard(id(self))

    async def _events(self) -> AsyncIterator[Event]:
        for tries in itertools.count(1):
            sent = False
            self._running = self._handle.write.remote(self._work)
            try:
                async for event in self._running:
                    if isinstance(event, Refused):
                        raise event.error()
                    sent = sent or isinstance(event, Progress)
                    yield event
                    if isinstance(event, Finished):
                        return
            except RayError as error:
                if sent or self._stopped or tries == _TRIES:
                    raise EngineUnavailable(f"the replica that wrote this answer is gone ({type(error).__name__}): ask again") from None


def beginning(work: Work) -> str:
    """What works have in common that profit from one cache."""
    task = work.task
    if isinstance(task, Conversation):
        text = "\n".join(turn.text for turn in task.turns[:2])
    elif isinstance(task, Passage):
        text = task.text
    elif isinstance(task, Hole | RewriteRequest):
        text = f"{task.path}\n{task.prefix}"
    return hashlib.sha256(text[:_BEGINNING].encode()).hexdigest()[:16]


def _refused(error: MercuryError) -> Refused:
    return Refused(type(error).__name__, str(error), error.retry_after if isinstance(error, Overloaded) else None)

"""From streams of events to answers: collected or streamed, and stopped where the client is gone. Knows no endpoint's shape."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import TypeVar

import msgspec
from starlette.requests import Request

from engine.api import EngineUnavailable
from engine.serving.requests import Ended, Event, Finished, Progress, Service, Stream, TokenLog, Usage, Work
from mercury_lsp.http.errors import ApiError

T = TypeVar("T")


class Answer(msgspec.Struct, frozen=True):
    """A whole text."""

    text: str
    ended: Ended
    usage: Usage
    tokens: tuple[TokenLog, ...] = ()
    end_logprob: float | None = None


def submitted(service: Service, works: Sequence[Work]) -> list[Stream]:
    """All of the works, or none of them."""
    streams: list[Stream] = []
    try:
        for work in works:
            streams.append(service.submit(work))
    except BaseException:
        stop(streams)
        raise
    return streams


def stop(streams: Sequence[Stream]) -> None:
    for stream in streams:
        stream.stop()


async def collected(service: Service, works: Sequence[Work], request: Request) -> list[Answer]:
    """The answers to all works. Raises `ApiError` where the client is gone; the work ends at its next denoise step then."""
    return await unless_gone(written(service, works), request)


async def written(service: Service, works: Sequence[Work]) -> list[Answer]:
    """The answers to all works, which stop where this is cancelled.

    Where the engine that wrote them is lost they are asked for once more: nothing was sent yet.
    """
    try:
        return await _written(service, works)
    except EngineUnavailable:
        return await _written(service, works)


async def _written(service: Service, works: Sequence[Work]) -> list[Answer]:
    streams = submitted(service, works)
    try:
        return await asyncio.gather(*map(_whole, streams))
    finally:
        stop(streams)


async def merged(streams: Sequence[Stream]) -> AsyncIterator[tuple[int, Event]]:
    """The events of all streams as they come, each with its stream's number. Leaving it stops them."""
    events: asyncio.Queue[tuple[int, Event | BaseException]] = asyncio.Queue()

    async def follow(number: int, stream: Stream) -> None:
        try:
            async for event in stream:
                await events.put((number, event))
        except Exception as error:
            await events.put((number, error))

    tasks = [asyncio.create_task(follow(number, stream)) for number, stream in enumerate(streams)]
    try:
        open_streams = len(streams)
        while open_streams:
            number, event = await events.get()
            if isinstance(event, BaseException):
                raise event
            open_streams -= isinstance(event, Finished)
            yield number, event
    finally:
        stop(streams)
        for task in tasks:
            task.cancel()


def finish_reason(ended: Ended) -> str:
    """In OpenAI's words. A deadline or a stop leaves an answer that is not whole."""
    return "stop" if ended in ("end", "stop") else "length"


def added(usages: Sequence[Usage], hidden: int = 0) -> dict[str, object]:
    """The usage of all choices of one prompt; the prompt counts once, and tokens that were written and not shown are the answer's."""
    prompt = usages[0].prompt_tokens if usages else 0
    completion = sum(each.completion_tokens for each in usages) + hidden
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": min((each.cached_tokens for each in usages), default=0)},
        "completion_tokens_details": {"reasoning_tokens": hidden},
    }


async def _whole(stream: Stream) -> Answer:
    text: list[str] = []
    tokens: list[TokenLog] = []
    async for event in stream:
        if isinstance(event, Progress):
            text.append(event.text)
            tokens += event.tokens
        else:
            return Answer("".join(text), event.ended, event.usage, tuple(tokens), event.end_logprob)
    raise ApiError(500, "the engine ended without an answer", kind="server_error")


async def unless_gone(work: Awaitable[T], request: Request) -> T:
    """What `work` comes to. Raises `ApiError` where the client is gone; the work is cancelled then."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ApiError(499, "the client is gone", kind="client_error")
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
            with contextlib.suppress(BaseException):
                await each


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

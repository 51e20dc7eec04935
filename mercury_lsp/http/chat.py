"""`/v1/chat/completions`: whole or streamed, with tool calls, or as the canvas while it is denoised. Knows no model."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.serving.calls import CallPiece, CallReader
from engine.serving.requests import Finished, Service, Stream, TokenLog, Usage
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, added, collected, finish_reason, merged, submitted, unless_gone
from mercury_lsp.http.bodies import Chat
from mercury_lsp.http.effort import ONCE, Worked, improved
from mercury_lsp.http.errors import decoded
from mercury_lsp.http.plan import planned


async def complete(request: Request) -> Response:
    body = await decoded(request, Chat)
    service: Service = request.app.state.service
    plan = planned(body)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": service.facts.model}
    how = _How(plan.calls, bool(body.diffusing), body.with_usage)
    if body.stream and plan.effort == ONCE:
        return streams.events(_chunks(submitted(service, plan.works), head, how))
    if plan.effort == ONCE:
        worked = [Worked(answer, 0) for answer in await collected(service, plan.works, request)]
    else:
        # What is first written is awaited here, so that an error of it has its status.
        ways = [improved(service, work, plan.effort) for work in plan.works]
        worked = await unless_gone(asyncio.gather(*map(anext, ways)), request)
        if body.stream:
            return streams.events(_improving(ways, worked, head, how))
        worked = await unless_gone(asyncio.gather(*map(_last, ways, worked)), request)
    choices = [_choice(place, each.answer, calls=plan.calls) for place, each in enumerate(worked)]
    return JSONResponse({**head, "object": "chat.completion", "choices": choices, "usage": _usage(worked), "system_fingerprint": None})


async def _last(way: AsyncIterator[Worked], first: Worked) -> Worked:
    async for worked in way:
        first = worked
    return first


def _usage(worked: Sequence[Worked]) -> dict[str, object]:
    return added([each.answer.usage for each in worked], sum(each.hidden for each in worked))


def _choice(place: int, answer: Answer, *, calls: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    reason = finish_reason(answer.ended)
    if calls:
        reader = CallReader()
        text, pieces = reader.push(answer.text)
        text += reader.close()
        if reader.calls:
            message |= {"content": None, "tool_calls": _gathered(pieces)}
            reason = "tool_calls" if reason == "stop" else reason
        else:
            message["content"] = text
    logprobs = {"content": [_logged(token) for token in answer.tokens], "refusal": None} if answer.tokens else None
    return {"index": place, "message": message, "logprobs": logprobs, "finish_reason": reason}


def _gathered(pieces: Sequence[CallPiece]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for piece in pieces:
        if piece.name is not None:
            found.append({"id": _call_id(), "type": "function", "function": {"name": piece.name, "arguments": ""}})
        found[piece.index]["function"]["arguments"] += piece.arguments
    return found


class _How(NamedTuple):
    """How an answer is streamed: read for calls, as its canvas, with its usage at the end."""

    calls: bool
    canvas: bool
    usage: bool


Chunk = Callable[..., dict[str, Any]]


def _chunk_of(head: Mapping[str, object], how: _How) -> Chunk:
    def chunk(place: int, delta: dict[str, Any], reason: str | None = None, tokens: Sequence[TokenLog] = ()) -> dict[str, Any]:
        logprobs = {"content": [_logged(token) for token in tokens]} if tokens else None
        choice = {"index": place, "delta": delta, "logprobs": logprobs, "finish_reason": reason}
        return {**head, "object": "chat.completion.chunk", "choices": [choice], **({"usage": None} if how.usage else {})}

    return chunk


async def _improving(
    ways: Sequence[AsyncIterator[Worked]], first: Sequence[Worked], head: Mapping[str, object], how: _How
) -> AsyncIterator[dict[str, Any]]:
    """Answers that are worked on: each as it is after every pass, or once it is done."""
    chunk, done = _chunk_of(head, how), list[Worked]()
    for place, (way, worked) in enumerate(zip(ways, first, strict=True)):
        yield chunk(place, {"role": "assistant", "content": worked.answer.text if how.canvas else ""})
        async for worked in way:
            if how.canvas:
                yield chunk(place, {"content": worked.answer.text})
        done.append(worked)
        choice = _choice(place, worked.answer, calls=how.calls)
        if not how.canvas:
            message = {key: choice["message"][key] for key in ("content", "tool_calls") if choice["message"].get(key)}
            for index, call in enumerate(message.get("tool_calls", ())):
                call["index"] = index
            yield chunk(place, message, None, worked.answer.tokens)
        yield chunk(place, {}, choice["finish_reason"])
    if how.usage:
        yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(done)}


async def _chunks(works: Sequence[Stream], head: Mapping[str, object], how: _How) -> AsyncIterator[dict[str, Any]]:
    readers = [CallReader() for _ in works]
    usages: list[Usage] = []
    chunk = _chunk_of(head, how)
    for place in range(len(works)):
        yield chunk(place, {"role": "assistant", "content": ""})
    async for place, event in merged(works):
        reader = readers[place]
        if isinstance(event, Finished):
            usages.append(event.usage)
            if how.calls and (rest := reader.close()):
                yield chunk(place, {"content": rest})
            reason = finish_reason(event.ended)
            yield chunk(place, {}, "tool_calls" if reader.calls and reason == "stop" else reason)
        elif how.canvas:
            yield chunk(place, {"content": event.canvas or ""})
        elif how.calls:
            text, pieces = reader.push(event.text)
            for delta in [*([{"content": text}] if text else []), *map(_call_delta, pieces)]:
                yield chunk(place, delta)
        else:
            yield chunk(place, {"content": event.text}, None, event.tokens)
    if how.usage:
        yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": added(usages)}


def _call_delta(piece: CallPiece) -> dict[str, Any]:
    function: dict[str, Any] = {"arguments": piece.arguments}
    if piece.name is None:
        return {"tool_calls": [{"index": piece.index, "function": function}]}
    return {"tool_calls": [{"index": piece.index, "id": _call_id(), "type": "function", "function": {"name": piece.name, **function}}]}


def _call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _logged(token: TokenLog) -> dict[str, Any]:
    def one(text: bytes, logprob: float) -> dict[str, Any]:
        return {"token": text.decode(errors="replace"), "logprob": max(logprob, -9999.0), "bytes": list(text)}

    top = [one(each.text, each.logprob) for each in token.top]
    return {**one(token.text, token.logprob), "top_logprobs": top}

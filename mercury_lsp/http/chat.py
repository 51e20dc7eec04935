"""`/v1/chat/completions`: whole or streamed, with tool calls, or as the canvas while it is denoised. Knows no model."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.serving.calls import CallPiece, CallReader
from engine.serving.requests import Finished, Service, Stream, TokenLog, Usage
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, added, collected, finish_reason, merged, submitted
from mercury_lsp.http.bodies import Chat
from mercury_lsp.http.errors import decoded
from mercury_lsp.http.plan import planned, revised


async def complete(request: Request) -> Response:
    body = await decoded(request, Chat)
    service: Service = request.app.state.service
    plan = planned(body)
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": service.facts.model}
    works, hidden = plan.works, 0
    if plan.draft is not None:
        [draft] = await collected(service, [plan.draft], request)
        works, hidden = revised(plan, draft.text), draft.usage.completion_tokens
    if body.stream:
        running = submitted(service, works)
        how = _How(plan.calls, bool(body.diffusing), body.with_usage, hidden)
        return streams.events(_chunks(running, head, how))
    answers = await collected(service, works, request)
    choices = [_choice(place, answer, calls=plan.calls) for place, answer in enumerate(answers)]
    usage = added([answer.usage for answer in answers], hidden)
    return JSONResponse({**head, "object": "chat.completion", "choices": choices, "usage": usage, "system_fingerprint": None})


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
    """How an answer is streamed: read for calls, as its canvas, with its usage at the end, tokens that were not shown among it."""

    calls: bool
    canvas: bool
    usage: bool
    hidden: int


async def _chunks(works: Sequence[Stream], head: Mapping[str, object], how: _How) -> AsyncIterator[dict[str, Any]]:
    readers = [CallReader() for _ in works]
    usages: list[Usage] = []

    def chunk(place: int, delta: dict[str, Any], reason: str | None = None, tokens: Sequence[TokenLog] = ()) -> dict[str, Any]:
        logprobs = {"content": [_logged(token) for token in tokens]} if tokens else None
        choice = {"index": place, "delta": delta, "logprobs": logprobs, "finish_reason": reason}
        return {**head, "object": "chat.completion.chunk", "choices": [choice], **({"usage": None} if how.usage else {})}

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
        yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": added(usages, how.hidden)}


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

"""`/v1/edit/completions` and `/v1/apply/completions`: a passage of code in tags, and its new text. Knows no model."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.api import RewriteRequest
from engine.serving.requests import Passage, Service, Usage, Work
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, added, collected, finish_reason
from mercury_lsp.http.applying import applied, parts
from mercury_lsp.http.bodies import Edit, Rewrite
from mercury_lsp.http.errors import ApiError, decoded
from mercury_lsp.http.forms import mercury
from mercury_lsp.http.plan import text_of
from mercury_lsp.http.rewriting import lf, rewritten


async def edit(request: Request) -> Response:
    body = await decoded(request, Edit)
    form = mercury(_prompt(body))
    if form is None:
        raise ApiError(400, "<|current_file_content|> with <|code_to_edit|> is missing at messages[0].content", param="messages[0].content")
    text, usage = await _rewritten(form.request, request)
    return _answer(request, body, "edit.completion", form.said(text), usage)


async def apply(request: Request) -> Response:
    """The snippet is laid over the code by the lines both have; only where that fails the model is asked."""
    body = await decoded(request, Edit)
    found = parts(_prompt(body))
    if found is None:
        raise ApiError(400, "<|original_code|> and <|update_snippet|> are missing at messages[0].content", param="messages[0].content")
    code, snippet = (lf(text) for text in found)
    service: Service = request.app.state.service
    text = applied(code, snippet)
    usage = Usage(prompt_tokens=service.count(code + snippet), completion_tokens=0)
    if text is None:
        instruction = f"apply this change: {snippet}"
        text, usage = await _rewritten(RewriteRequest(prefix="", region=code, suffix="", instruction=instruction), request)
        if text == code:
            why = "The place of <|update_snippet|> cannot be told: give it a line above and one below that <|original_code|> has"
            raise ApiError(422, why, param="messages[0].content", code="not_applied")
    text = text.replace("\n", "\r\n") if "\r\n" in found[0] else text
    return _answer(request, body, "apply.completion", text, usage)


async def rewrite(request: Request) -> Response:
    """What a language server asks that has this service for its engine."""
    body = await decoded(request, Rewrite)
    service: Service = request.app.state.service
    [answer] = await collected(service, [Work(task=body.request, interactive=True)], request)
    choice = {"index": 0, "message": {"role": "assistant", "content": answer.text}, "finish_reason": finish_reason(answer.ended)}
    return JSONResponse({"object": "rewrite", "model": service.facts.model, "choices": [choice], "usage": added([answer.usage])})


def _prompt(body: Edit) -> str:
    """The one user message. Raises `ApiError` where there is another."""
    for place, message in enumerate(body.messages):
        if message.role != "user" or place:
            where = f"messages[{place}].role"
            raise ApiError(400, f"Expected exactly one message, of the user, got {message.role!r} at {where}", param=where)
    return text_of(body.messages[0], "messages[0]")


async def _rewritten(asked: RewriteRequest, request: Request) -> tuple[str, Usage]:
    service: Service = request.app.state.service

    async def ask(work: Work) -> Answer:
        return (await collected(service, [work], request))[0]

    text, answer = await rewritten(asked, service.facts, Work(task=Passage(""), interactive=True), ask)
    return text, answer.usage if answer else Usage(prompt_tokens=service.count(asked.region), completion_tokens=0)


def _answer(request: Request, body: Edit, kind: str, text: str, usage: Usage) -> Response:
    service: Service = request.app.state.service
    head = {"id": f"edit-{uuid.uuid4().hex}", "created": int(time.time()), "model": service.facts.model}
    if body.stream:
        return streams.events(_chunks({**head, "object": f"{kind}.chunk"}, text, usage, with_usage=body.with_usage))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return JSONResponse({**head, "object": kind, "choices": [choice], "usage": added([usage])})


async def _chunks(head: Mapping[str, object], text: str, usage: Usage, *, with_usage: bool) -> AsyncIterator[dict[str, Any]]:
    """At once: what a rewriting leaves as it is is known when it has ended."""
    yield {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    if with_usage:
        yield {**head, "choices": [], "usage": added([usage])}

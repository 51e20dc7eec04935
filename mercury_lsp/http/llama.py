"""The endpoints of llama.cpp's server that editors' plugins use: `/infill`, `/completion`, `/props`. Knows no model."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.api import Related
from engine.serving.requests import Ended, Finished, Grammar, Hole, Service, Stream, Usage, Work
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, collected, merged, submitted
from mercury_lsp.http.bodies import Infill, LlamaCompletion
from mercury_lsp.http.completions import fitted, task_of
from mercury_lsp.http.errors import ApiError, decoded
from mercury_lsp.http.plan import sampling

_USUAL = 128


async def infill(request: Request) -> Response:
    """The text of the cursor's line left of it comes apart from the lines before it, as `prompt`."""
    body = await decoded(request, Infill)
    related = tuple(Related(extra.filename, extra.text) for extra in body.input_extra or ())
    task = Hole(prefix=body.input_prefix + (body.prompt or ""), suffix=body.input_suffix, related=related)
    deadline = None if not body.t_max_predict_ms else time.monotonic() + body.t_max_predict_ms / 1e3
    work = Work(
        task=task,
        max_tokens=_most(body.n_predict),
        stop=tuple(body.stop or ()),
        sampling=sampling(body.temperature, _share(body.top_p), body.seed),
        interactive=True,
        deadline=deadline,
    )
    return await _respond(request, work, body)


async def completion(request: Request) -> Response:
    body = await decoded(request, LlamaCompletion)
    if not isinstance(body.prompt, str):
        raise ApiError(400, "Expected `str` at prompt: ids are another tokenizer's", param="prompt", code="invalid_type")
    task = task_of(body.prompt)
    work = Work(
        task=task,
        max_tokens=_most(body.n_predict),
        stop=tuple(body.stop or ()),
        sampling=sampling(body.temperature, _share(body.top_p), body.seed),
        grammar=None if body.json_schema is None else Grammar("schema", _text(body.json_schema)),
        interactive=isinstance(task, Hole),
    )
    return await _respond(request, work, body)


async def props(request: Request) -> Response:
    service: Service = request.app.state.service
    return JSONResponse(
        {
            "default_generation_settings": {"n_ctx": service.facts.context, "params": {"temperature": 0.0, "top_p": 1.0}},
            "total_slots": 1,
            "model_path": service.facts.model,
            "model_alias": service.facts.model,
            "chat_template": "",
            "build_info": f"mercury-lsp {request.app.state.version}",
            "converses": service.facts.converses,
            "rewrites": service.facts.rewrites,
        }
    )


async def _respond(request: Request, work: Work, body: Infill | LlamaCompletion) -> Response:
    service: Service = request.app.state.service
    if body.n_predict == 0:  # a plugin warms the cache up, and waits for nothing
        nothing = Answer("", "length", Usage(prompt_tokens=0, completion_tokens=0))
        return JSONResponse(_fields(_whole(nothing, service), body.response_fields))
    if body.stream:
        return streams.events(_chunks(submitted(service, [work]), work, service), done=False)
    answer = (await collected(service, [work], request))[0]
    whole = _whole(Answer(fitted(answer.text, work.task), answer.ended, answer.usage), service)
    return JSONResponse(_fields(whole, body.response_fields))


def _most(n_predict: int | None) -> int:
    return _USUAL if n_predict is None or n_predict < 1 else min(n_predict, 131_072)


def _share(top_p: float | None) -> float | None:
    return top_p if top_p and 0 < top_p <= 1 else None


def _text(schema: dict[str, Any]) -> str:
    return msgspec.json.encode(schema).decode()


def _whole(answer: Answer, service: Service) -> dict[str, Any]:
    return {"content": answer.text, **_end(answer.ended, answer.usage, service)}


def _end(ended: Ended, usage: Usage, service: Service) -> dict[str, Any]:
    def rate(count: int, ms: float) -> float:
        return count / ms * 1e3 if ms > 0 else 0.0

    read = usage.prompt_tokens - usage.cached_tokens
    return {
        "stop": True,
        "stop_type": {"end": "eos", "stop": "word"}.get(ended, "limit"),
        "model": service.facts.model,
        "tokens_predicted": usage.completion_tokens,
        "tokens_evaluated": usage.prompt_tokens,
        "tokens_cached": usage.cached_tokens,
        "truncated": False,
        "timings": {
            "prompt_n": read,
            "prompt_ms": usage.prefill_ms,
            "prompt_per_second": rate(read, usage.prefill_ms),
            "predicted_n": usage.completion_tokens,
            "predicted_ms": usage.decode_ms,
            "predicted_per_second": rate(usage.completion_tokens, usage.decode_ms),
        },
    }


def _fields(whole: dict[str, Any], wanted: Sequence[str] | None) -> dict[str, Any]:
    """Only the fields that were asked for; one inside another by the path that names it."""
    if not wanted:
        return whole
    found: dict[str, Any] = {}
    for path in wanted:
        value: Any = whole
        for name in path.split("/"):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            found[path] = value
    return found


async def _chunks(works: Sequence[Stream], work: Work, service: Service) -> AsyncIterator[dict[str, Any]]:
    async for _, event in merged(works):
        if isinstance(event, Finished):
            yield {"content": "", **_end(event.ended, event.usage, service)}
        else:
            yield {"content": event.text, "stop": False}

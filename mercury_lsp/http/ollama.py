"""The endpoints of Ollama that editors use: `/api/generate`, `/api/tags`, `/api/version`. Knows no model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine.serving.requests import Ended, Finished, Grammar, Hole, Passage, Service, Stream, Usage, Work
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, collected, merged, submitted
from mercury_lsp.http.bodies import Generate, OllamaOptions
from mercury_lsp.http.completions import fitted, task_of
from mercury_lsp.http.errors import decoded
from mercury_lsp.http.forms import form
from mercury_lsp.http.plan import sampling
from mercury_lsp.http.rewriting import rewritten

_USUAL = 128


async def generate(request: Request) -> Response:
    """Streamed unless the client says otherwise, as Ollama does it."""
    body = await decoded(request, Generate)
    service: Service = request.app.state.service
    if not body.prompt and body.suffix is None:  # how Ollama's clients have a model loaded; it is
        return _whole(body, service, "", "end", Usage(prompt_tokens=0, completion_tokens=0))
    asked = form(body.prompt) if body.suffix is None else None
    if asked is not None:

        async def ask(work: Work) -> Answer:
            return (await collected(service, [work], request))[0]

        text, answer = await rewritten(asked.request, service.facts, Work(task=Passage(""), interactive=True), ask)
        usage = answer.usage if answer else Usage(prompt_tokens=0, completion_tokens=0)
        return _whole(body, service, asked.said(text), "end", usage)
    work = _work(body)
    if body.stream is False:
        answer = (await collected(service, [work], request))[0]
        return _whole(body, service, fitted(answer.text, work.task), answer.ended, answer.usage)
    return streams.objects(_chunks(submitted(service, [work]), body, service))


async def tags(request: Request) -> Response:
    service: Service = request.app.state.service
    model = {"name": service.facts.model, "model": service.facts.model, "modified_at": _now(), "size": 0, "digest": "", "details": {}}
    return JSONResponse({"models": [model]})


async def version(request: Request) -> Response:
    return JSONResponse({"version": request.app.state.version})


def _work(body: Generate) -> Work:
    options = body.options or OllamaOptions()
    task = Hole(prefix=body.prompt, suffix=body.suffix) if body.suffix is not None else task_of(body.prompt)
    if isinstance(task, Passage) and body.system:
        task = Passage(f"{body.system}\n\n{body.prompt}")
    stops = (options.stop,) if isinstance(options.stop, str) else tuple(options.stop or ())
    schema = '{"type": "object"}' if body.format == "json" else msgspec.json.encode(body.format).decode() if body.format else None
    return Work(
        task=task,
        max_tokens=options.num_predict if options.num_predict and options.num_predict > 0 else _USUAL,
        stop=stops,
        sampling=sampling(options.temperature, options.top_p, options.seed),
        grammar=None if schema is None else Grammar("schema", schema),
        interactive=isinstance(task, Hole),
    )


def _whole(body: Generate, service: Service, text: str, ended: Ended, usage: Usage) -> Response:
    whole = _line(service, text, done=True) | _figures(ended, usage)
    if body.stream is False:
        return JSONResponse(whole)

    async def one() -> AsyncIterator[dict[str, Any]]:
        yield whole

    return streams.objects(one())


async def _chunks(works: Sequence[Stream], body: Generate, service: Service) -> AsyncIterator[dict[str, Any]]:
    async for _, event in merged(works):
        if isinstance(event, Finished):
            yield _line(service, "", done=True) | _figures(event.ended, event.usage)
        else:
            yield _line(service, event.text, done=False)


def _line(service: Service, text: str, *, done: bool) -> dict[str, Any]:
    return {"model": service.facts.model, "created_at": _now(), "response": text, "done": done}


def _figures(ended: Ended, usage: Usage) -> dict[str, Any]:
    """Durations in nanoseconds, as Ollama has them."""
    prefill, decode = int(usage.prefill_ms * 1e6), int(usage.decode_ms * 1e6)
    return {
        "done_reason": "stop" if ended in ("end", "stop") else "length",
        "total_duration": prefill + decode,
        "load_duration": 0,
        "prompt_eval_count": usage.prompt_tokens,
        "prompt_eval_duration": prefill,
        "eval_count": usage.completion_tokens,
        "eval_duration": decode,
        "context": [],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")

"""`/v1/completions` and `/v1/fim/completions`: a prompt that is text, a hole, or a next-edit model's form. Knows no model.

Answers carry the text in both of the shapes that clients read, a completion's and a chat's.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from engine import confidence
from engine.dedent import ended
from engine.serving.requests import Facts, Finished, Hole, Passage, Service, Stream, TokenLog, Usage, Work
from mercury_lsp.http import streams
from mercury_lsp.http.answers import Answer, added, collected, finish_reason, merged, submitted
from mercury_lsp.http.bodies import Completion
from mercury_lsp.http.errors import ApiError, decoded
from mercury_lsp.http.forms import Form, form
from mercury_lsp.http.plan import sampling
from mercury_lsp.http.rewriting import rewritten
from mercury_lsp.http.templates import END_OF_TEXT, hole
from mercury_lsp.overlap import endings

# What a completion has where its client says nothing, as its interface has it.
_USUAL = 256
_MOST_PROMPTS = 16


async def complete(request: Request) -> Response:
    body = await decoded(request, Completion)
    service: Service = request.app.state.service
    head = {"id": f"cmpl-{uuid.uuid4().hex}", "object": "text_completion", "created": int(time.time()), "model": service.facts.model}
    prompts = _prompts(body)
    asked = form(prompts[0]) if len(prompts) == 1 and body.suffix is None else None
    if asked is not None:
        answer = await _edited(asked, body, service, request)
        whole = {**head, "choices": [_choice(0, answer)], "usage": added([answer.usage])}
        return streams.events(_at_once(answer, head, usage=body.with_usage)) if body.stream else JSONResponse(whole)
    tasks = [_task(prompt, body) for prompt in prompts]
    works = [_work(body, task, choice) for task in tasks for choice in range(body.n or 1)]
    if body.max_tokens == 0:
        nothing = [Answer("", "length", Usage(prompt_tokens=service.count(prompt), completion_tokens=0)) for prompt in prompts]
        return JSONResponse({**head, "choices": [_choice(n, each) for n, each in enumerate(nothing)], "usage": _of_all(nothing, 1)})
    if body.stream:
        return streams.events(_chunks(submitted(service, works), works, head, usage=body.with_usage))
    written = [_within_block(answer, body.dedent) for answer in await collected(service, works, request)]
    if body.pieces:
        choices = [_choice(place, answer) | {"pieces": _pieces(answer, service.facts)} for place, answer in enumerate(written)]
        return JSONResponse({**head, "choices": choices, "usage": _of_all(written, body.n or 1)})
    answers = [_fitted(answer, work.task) for answer, work in zip(written, works, strict=True)]
    echo = [prompt if body.echo else "" for prompt in prompts for _ in range(body.n or 1)]
    choices = [_choice(place, answer, echo[place]) for place, answer in enumerate(answers)]
    return JSONResponse({**head, "choices": choices, "usage": _of_all(answers, body.n or 1)})


def task_of(prompt: str) -> Hole | Passage:
    """A hole where the prompt has markers, else text that goes on."""
    return hole(prompt) or Passage(prompt)


def fitted(text: str, task: object) -> str:
    """A hole's text without what already stands right of the hole: clients insert it there as it is."""
    if not isinstance(task, Hole):
        return text
    rest = task.suffix.partition("\n")[0]
    if not rest.strip() or not text:
        return text
    return next(iter(endings(text, rest, task.prefix.rpartition("\n")[2])), text)


def _prompts(body: Completion) -> list[str]:
    if isinstance(body.prompt, str):
        return [body.prompt]
    if not body.prompt or len(body.prompt) > _MOST_PROMPTS:
        raise ApiError(400, f"Expected 1 to {_MOST_PROMPTS} prompts at prompt", param="prompt", code="invalid_value")
    texts = [each for each in body.prompt if isinstance(each, str)]
    if len(texts) < len(body.prompt):
        raise ApiError(400, "Expected text at prompt[0]: ids are another tokenizer's", param="prompt[0]", code="invalid_type")
    return texts


def _task(prompt: str, body: Completion) -> Hole | Passage:
    if body.suffix is None:
        return task_of(prompt)
    suffix = "" if body.suffix == END_OF_TEXT else body.suffix
    return Hole(prefix=prompt, suffix=suffix, path=body.path, related=tuple(body.related), dedent=body.dedent, unlike=tuple(body.unlike))


def _work(body: Completion, task: Hole | Passage, choice: int) -> Work:
    logprobs = 0 if body.pieces else None if body.logprobs is None or body.logprobs is False else int(body.logprobs)
    return Work(
        task=task,
        max_tokens=body.max_tokens or _USUAL,
        stop=tuple(stop for stop in body.stops if stop),
        sampling=sampling(body.temperature, body.top_p, body.seed, choice),
        logprobs=logprobs,
        interactive=isinstance(task, Hole),
    )


def _within_block(answer: Answer, dedent: int | None) -> Answer:
    """An answer as far as the block that it began in, where that is told; a forward may have written on."""
    raw = b""
    for count, token in enumerate(() if dedent is None else answer.tokens, 1):
        raw += token.text
        if dedent is not None and (end := ended(raw.decode(errors="ignore"), dedent)) is not None:
            return msgspec.structs.replace(answer, text=answer.text[:end], tokens=answer.tokens[:count], end_logprob=None)
    return answer


def _pieces(answer: Answer, facts: Facts) -> list[object]:
    """The answer's tokens as `engine.api.Piece` has them."""
    raw, tokens = b"", []
    for token in answer.tokens:
        raw += token.text
        length = min(len(raw.decode(errors="ignore")), len(answer.text))
        tokens.append(confidence.Token(length, math.exp(token.logprob)))
    if answer.end_logprob is not None:
        tokens.append(confidence.Token(len(answer.text), math.exp(answer.end_logprob)))
    return [msgspec.to_builtins(piece) for piece in confidence.pieces(answer.text, tokens, facts.calibration)]


def _fitted(answer: Answer, task: object) -> Answer:
    return msgspec.structs.replace(answer, text=fitted(answer.text, task))


async def _edited(asked: Form, body: Completion, service: Service, request: Request) -> Answer:
    """A next edit in the form of its prompt."""
    rules = Work(task=Passage(""), max_tokens=body.max_tokens or _USUAL, interactive=True)

    async def ask(work: Work) -> Answer:
        return (await collected(service, [work], request))[0]

    text, answer = await rewritten(asked.request, service.facts, rules, ask)
    return _told(asked.said(text), answer, service, asked)


def _told(text: str, answer: Answer | None, service: Service, asked: Form) -> Answer:
    usage = answer.usage if answer else Usage(prompt_tokens=service.count(asked.request.region), completion_tokens=0)
    return Answer(text, "end", usage)


def _of_all(answers: Sequence[Answer], choices: int) -> dict[str, Any]:
    """Usage of several prompts, each with so many choices."""
    each = [added([answer.usage for answer in answers[start : start + choices]]) for start in range(0, len(answers), choices)]
    total = dict(each[0])
    for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
        total[name] = sum(int(str(usage[name])) for usage in each)
    return total


def _choice(place: int, answer: Answer, echo: str = "") -> dict[str, Any]:
    text = echo + answer.text
    message = {"role": "assistant", "content": text}
    logprobs = _logged(answer.tokens) if answer.tokens else None
    return {"index": place, "text": text, "message": message, "logprobs": logprobs, "finish_reason": finish_reason(answer.ended)}


def _logged(tokens: Sequence[TokenLog]) -> dict[str, Any]:
    """In the completions' own shape."""
    texts = [token.text.decode(errors="replace") for token in tokens]
    return {
        "tokens": texts,
        "token_logprobs": [max(token.logprob, -9999.0) for token in tokens],
        "top_logprobs": [{each.text.decode(errors="replace"): each.logprob for each in token.top} for token in tokens],
        "text_offset": [sum(map(len, texts[:place])) for place in range(len(texts))],
    }


def _piece(head: Mapping[str, object], place: int, text: str, reason: str | None, tokens: Sequence[TokenLog] = ()) -> dict[str, Any]:
    logprobs = _logged(tokens) if tokens else None
    delta = {"content": text}
    return {**head, "choices": [{"index": place, "text": text, "delta": delta, "logprobs": logprobs, "finish_reason": reason}]}


async def _chunks(
    works: Sequence[Stream], asked: Sequence[Work], head: Mapping[str, object], *, usage: bool
) -> AsyncIterator[dict[str, Any]]:
    usages: list[Usage] = []
    held = [""] * len(works)  # the texts of holes that may repeat what stands right of them
    holds = [_has_rest(each.task) for each in asked]
    async for place, event in merged(works):
        if isinstance(event, Finished):
            usages.append(event.usage)
            yield _piece(head, place, fitted(held[place], asked[place].task), finish_reason(event.ended))
        elif holds[place]:
            held[place] += event.text
        else:
            yield _piece(head, place, event.text, None, event.tokens)
    if usage:
        yield {**head, "choices": [], "usage": added(usages)}


def _has_rest(task: object) -> bool:
    return isinstance(task, Hole) and bool(task.suffix.partition("\n")[0].strip())


async def _at_once(answer: Answer, head: Mapping[str, object], *, usage: bool) -> AsyncIterator[dict[str, Any]]:
    yield _piece(head, 0, answer.text, None)
    yield _piece(head, 0, "", finish_reason(answer.ended))
    if usage:
        yield {**head, "choices": [], "usage": added([answer.usage])}

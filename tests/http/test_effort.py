"""Answers that are worked on: what is remasked, what stays, and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import openai
import pytest
import tiny_service
from servers import serving

from benchmarks.random_schemas import random_schema

EFFORTS = ("instant", "low", "medium", "high")
TOOL = {"name": "now", "parameters": {"type": "object", "properties": {"zone": {"enum": ["utc", "cet"]}}, "required": ["zone"]}}


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with serving(tiny_service.service()) as url:
        yield openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def ask(client: openai.OpenAI, question: str, effort: str | None, **more: Any) -> Any:
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": question}], reasoning_effort=effort, **{"max_tokens": 24, **more}
    )


def rank(choice: Any) -> tuple[bool, float]:
    """An answer that ended is better than one that was cut off; else the likelier one."""
    logs = [token.logprob for token in choice.logprobs.content]
    return choice.finish_reason == "stop", round(sum(logs) / len(logs), 4)


def test_a_pass_keeps_the_likelier_answer_and_its_tokens_are_its_text(client: openai.OpenAI) -> None:
    better = 0
    for number in range(8):
        once, low, medium = (ask(client, f"Say {number}.", effort, logprobs=True).choices[0] for effort in (None, "low", "medium"))
        if medium.finish_reason == once.finish_reason == "length":  # what ended is ranked with its end, which is not told
            assert rank(medium) >= rank(low) >= rank(once)
        better += rank(medium) > rank(once)
        for choice in (low, medium):
            raw = b"".join(bytes(token.bytes) for token in choice.logprobs.content)
            assert raw.decode(errors="ignore").startswith(choice.message.content)
    assert better > 2


def test_what_is_not_shown_is_counted(client: openai.OpenAI) -> None:
    spent = {}
    for effort in EFFORTS:
        usage = ask(client, "Say something.", effort).usage
        hidden = usage.completion_tokens_details.reasoning_tokens
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens and usage.completion_tokens > hidden
        spent[effort] = hidden
    assert spent["instant"] == 0 < spent["low"] < spent["medium"] < spent["high"]


def test_an_answer_that_is_rewritten_is_what_the_model_writes_after_its_beginning(client: openai.OpenAI) -> None:
    """Its log probabilities are those of the same tokens read anew: the passes join what belongs together."""
    for number in range(4):
        worked = ask(client, f"Tell me {number}.", "medium", logprobs=True, top_logprobs=1).choices[0].logprobs.content
        greedy = [token for token in worked if token.token == token.top_logprobs[0].token]
        assert len(worked) - len(greedy) <= 3  # a pass departs from what is likeliest in one place
        assert len(greedy) >= 20


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_grammar_holds_whatever_the_effort(client: openai.OpenAI, effort: str) -> None:
    for seed in range(6):
        schema = random_schema(seed)
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        choice = ask(client, "x", effort, response_format=form, max_tokens=300).choices[0]
        assert choice.finish_reason == "stop"
        jsonschema.validate(json.loads(choice.message.content), schema, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("effort", ["low", "high"])
def test_streamed_it_is_the_same(client: openai.OpenAI, effort: str) -> None:
    whole = ask(client, "Say something.", effort)
    chunks = list(ask(client, "Say something.", effort, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    canvases = [
        chunk.choices[0].delta.content
        for chunk in ask(client, "Say something.", effort, stream=True, extra_body={"diffusing": True})
        if chunk.choices and chunk.choices[0].delta.content
    ]
    assert canvases[-1] == whole.choices[0].message.content and len(canvases) >= 2


def test_calls_come_through_it(client: openai.OpenAI) -> None:
    asked = {"tools": [{"type": "function", "function": TOOL}], "tool_choice": "required", "parallel_tool_calls": False, "max_tokens": 90}
    [call] = ask(client, "When?", "medium", **asked).choices[0].message.tool_calls
    assert json.loads(call.function.arguments)["zone"] in ("utc", "cet")
    pieces = [chunk.choices[0].delta.tool_calls for chunk in ask(client, "When?", "medium", stream=True, **asked)]
    [[streamed]] = [piece for piece in pieces if piece]
    assert (streamed.index, streamed.function.name, streamed.function.arguments) == (0, "now", call.function.arguments)


def test_what_is_refused_has_its_status_though_it_is_streamed(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError):
        ask(client, "x" * 5000, "high", stream=True)

"""The official clients against the server: every endpoint they know, streamed and whole, and what they make of errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

import inceptionai
import openai
import pytest
import tiny_service
from servers import serving

from engine.serving.scripted import ScriptedService

ASK = [{"role": "user", "content": "Say something."}]
SCHEMA = {
    "type": "object",
    "properties": {"place": {"type": "string", "maxLength": 9}},
    "required": ["place"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def noise() -> Iterator[openai.OpenAI]:
    """A client of random weights."""
    with serving(tiny_service.service()) as url:
        yield openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def test_a_chat_is_answered_with_usage_and_a_reason(noise: openai.OpenAI) -> None:
    answer = noise.chat.completions.create(model="default", messages=ASK, max_tokens=12)
    assert answer.object == "chat.completion" and answer.model == "tiny"
    assert answer.choices[0].message.role == "assistant" and answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "length"
    assert (answer.usage.completion_tokens, answer.usage.total_tokens) == (12, 12 + answer.usage.prompt_tokens)


def test_a_streamed_chat_is_the_whole_one_in_pieces(noise: openai.OpenAI) -> None:
    whole = noise.chat.completions.create(model="default", messages=ASK, max_tokens=30).choices[0].message.content
    chunks = list(
        noise.chat.completions.create(model="default", messages=ASK, max_tokens=30, stream=True, stream_options={"include_usage": True})
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == whole and len([piece for piece in pieces if piece]) > 3
    assert chunks[-1].choices == [] and chunks[-1].usage.completion_tokens == 30
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "length"


def test_a_seed_gives_the_same_text_again_and_choices_differ(noise: openai.OpenAI) -> None:
    def ask(seed: int) -> list[str]:
        answer = noise.chat.completions.create(model="m", messages=ASK, max_tokens=10, temperature=1.5, seed=seed, n=3)
        return [choice.message.content for choice in answer.choices]

    first = ask(7)
    assert first == ask(7) and len(set(first)) == 3
    assert first != ask(8)


def test_log_probabilities_tell_of_every_token(noise: openai.OpenAI) -> None:
    choice = noise.chat.completions.create(model="m", messages=ASK, max_tokens=6, logprobs=True, top_logprobs=2).choices[0]
    assert len(choice.logprobs.content) == 6
    for token in choice.logprobs.content:
        assert token.logprob <= 0 and len(token.top_logprobs) == 2
        assert token.top_logprobs[0].logprob == pytest.approx(token.logprob)  # the likeliest one was taken
    assert b"".join(bytes(token.bytes) for token in choice.logprobs.content).decode(errors="replace") == choice.message.content


def test_a_text_ends_before_a_stop_string_however_it_is_sent(noise: openai.OpenAI) -> None:
    whole = noise.completions.create(model="m", prompt="once", max_tokens=40).choices[0].text
    stop = whole[5:8]
    expected = whole[: whole.index(stop)]
    answer = noise.completions.create(model="m", prompt="once", max_tokens=40, stop=[stop]).choices[0]
    assert (answer.text, answer.finish_reason) == (expected, "stop")
    chunks = noise.completions.create(model="m", prompt="once", max_tokens=40, stop=stop, stream=True)
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == expected


def test_several_prompts_each_have_their_choices(noise: openai.OpenAI) -> None:
    answer = noise.completions.create(model="m", prompt=["a b", "c d"], max_tokens=5, n=2, temperature=1, seed=1, echo=True)
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    assert [choice.text[:3] for choice in answer.choices] == ["a b", "a b", "c d", "c d"]
    assert answer.usage.completion_tokens == 20


def test_models_are_listed_and_any_name_is_one(noise: openai.OpenAI) -> None:
    assert [model.id for model in noise.models.list()] == ["tiny"]
    assert noise.models.retrieve("gpt-4o").id == "gpt-4o"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
        ({"messages": ASK, "temperature": "hot"}, "temperature"),
        ({"messages": ASK, "n": 17}, "n"),
        ({"messages": ASK, "max_tokens": -2}, "max_tokens"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0].type"),
        ({}, "messages"),
    ],
)
def test_a_wrong_field_is_named_by_its_path(noise: openai.OpenAI, body: dict, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        noise.post("/chat/completions", body=body, cast_to=object)
    assert caught.value.param == param and param in caught.value.message
    assert caught.value.type == "invalid_request_error"


def test_fields_nobody_knows_are_ignored(noise: openai.OpenAI) -> None:
    extra = {
        "nextEdit": True,
        "realtime": True,
        "store": False,
        "metadata": {"a": 1},
        "user": "me",
        "stop": None,
        "reasoning_effort": "instant",
    }
    answer = noise.chat.completions.create(model="m", messages=ASK, max_tokens=3, extra_body=extra)
    assert answer.usage.completion_tokens == 3


def test_a_prompt_that_is_too_long_is_refused_with_both_numbers(noise: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        noise.chat.completions.create(model="m", messages=[{"role": "user", "content": "x y" * 2000}], max_tokens=5)
    assert caught.value.code == "context_length_exceeded"
    assert "4096" in caught.value.message and "6018" in caught.value.message


def test_a_first_answer_that_is_not_shown_is_counted_and_revised() -> None:
    service = ScriptedService(["one two three", "better", "one two three", "better"])
    with serving(service) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        answer = client.chat.completions.create(model="m", messages=ASK, reasoning_effort="high")
        assert answer.choices[0].message.content == "better"
        assert (answer.usage.completion_tokens, answer.usage.completion_tokens_details.reasoning_tokens) == (4, 3)
        options = {"include_usage": True}
        chunks = list(client.chat.completions.create(model="m", messages=ASK, reasoning_effort="high", stream=True, stream_options=options))
        assert chunks[-1].usage.completion_tokens_details.reasoning_tokens == 3
    assert [turn.text for turn in service.asked[1].task.turns][:2] == ["Say something.", "one two three"]


def test_diffusing_streams_the_whole_canvas_each_time(noise: openai.OpenAI) -> None:
    whole = noise.chat.completions.create(model="m", messages=ASK, max_tokens=20).choices[0].message.content
    chunks = noise.chat.completions.create(model="m", messages=ASK, max_tokens=20, stream=True, extra_body={"diffusing": True})
    shown = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert shown[-1] == whole and len(shown) > 3
    assert any(not whole.startswith(text) for text in shown)  # drafts are shown that do not stay


def test_inceptions_client_chats_fills_and_edits() -> None:
    texts = ["Hello there.", "Hello there.", "a, b", "a, b", "def f(a):\n    return a"]
    with serving(ScriptedService(texts)) as url:
        client = inceptionai.Inception(base_url=url, api_key="none", max_retries=0)
        chat = client.chat.completions.create(messages=ASK, model="mercury-2")
        assert chat.choices[0].message.content == "Hello there."
        stream = client.chat.completions.create(messages=ASK, model="mercury-2", stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == "Hello there."
        fim = client.fim.completions.create(model="mercury-edit-2", prompt="def add(", suffix="):\n    return a + b")
        assert fim.choices[0].text == "a, b"
        pieces = client.fim.completions.create(model="mercury-edit-2", prompt="def add(", suffix="\n", stream=True)
        assert "".join(chunk.choices[0].text for chunk in pieces) == "a, b"
        content = (
            "<|recently_viewed_code_snippets|>\n<|/recently_viewed_code_snippets|>\n<|current_file_content|>\ncurrent_file_path: f.py\n"
            "<|code_to_edit|>\ndef f(a):<|cursor|>\n    return\n<|/code_to_edit|>\n<|/current_file_content|>\n"
            "<|edit_diff_history|>\n<|/edit_diff_history|>"
        )
        edit = client.edit.completions.create(model="mercury-edit-2", messages=[{"role": "user", "content": content}])
        assert edit.choices[0].message.content == "```\ndef f(a):\n    return a\n```"


def test_inceptions_client_asks_for_json_and_calls_functions(noise: openai.OpenAI) -> None:
    client = inceptionai.Inception(base_url=str(noise.base_url).removesuffix("/v1/"), api_key="none", max_retries=0)
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True}}
    more = {"model": "mercury-2", "max_tokens": 200, "reasoning_effort": "instant"}
    answer = client.chat.completions.create(messages=ASK, response_format=form, **more)
    assert set(json.loads(answer.choices[0].message.content)) == {"place"}
    tools = [{"type": "function", "function": {"name": "weather", "description": "Of a place.", "parameters": SCHEMA}}]
    answer = client.chat.completions.create(messages=ASK, tools=tools, tool_choice="required", **more)
    [call, *_] = answer.choices[0].message.tool_calls
    assert call.function.name == "weather" and set(json.loads(call.function.arguments)) == {"place"}


def test_openais_client_fills_holes_and_edits() -> None:
    edit = (
        "<|current_file_content|>\ncurrent_file_path: f.py\n<|code_to_edit|>\ny = <|cursor|>2\n<|/code_to_edit|>\n<|/current_file_content|>"
    )
    with serving(ScriptedService(["a, b", "a, b", "y = 3", "y = 3"])) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        assert client.completions.create(model="m", prompt="def add(", suffix="):\n").choices[0].text == "a, b"
        fim = client.post("/fim/completions", body={"prompt": "def add(", "suffix": "):\n"}, cast_to=openai.types.Completion)
        assert fim.choices[0].text == "a, b"
        edited = client.post(
            "/edit/completions",
            body={"model": "m", "messages": [{"role": "user", "content": edit}]},
            cast_to=openai.types.chat.ChatCompletion,
        )
        assert edited.choices[0].message.content == "```\ny = 3\n```"

"""Answers held to a schema or to calls, by a model whose own texts are noise: whatever it wants to write, this is what comes out."""

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
from engine.serving.calls import CallReader, written
from engine.serving.digits import Digits
from engine.serving.grammar import Grammars
from engine.serving.requests import Grammar
from engine.serving.schemas import inward, repeated

ASK = [{"role": "user", "content": "x"}]
FORMATS = ("time", "date-time", "email", "uuid", "ipv4", "ipv6", "hostname", "duration", "uri")
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a place.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 12}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
TIME = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}}


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with serving(tiny_service.service()) as url:
        yield openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return Grammars(tiny_service.tokenizer(), tiny_service.LAYOUT.end_id)


def structured(client: openai.OpenAI, schema: dict[str, Any], **more: Any) -> Any:
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    return client.chat.completions.create(model="m", messages=ASK, response_format=form, **more).choices[0]


@pytest.mark.parametrize("seed", range(60))
def test_every_answer_is_valid_and_whole(client: openai.OpenAI, seed: int) -> None:
    schema = random_schema(seed)
    choice = structured(client, schema, max_tokens=600, temperature=seed % 3 * 0.7, seed=seed)
    assert choice.finish_reason == "stop", choice.message.content
    jsonschema.validate(json.loads(choice.message.content), schema, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("room", [40, 48, 60, 90])
def test_what_is_open_is_closed_in_time(client: openai.OpenAI, room: int) -> None:
    """A string and a list that the model would go on with for ever."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}},
        "required": ["text", "list"],
        "additionalProperties": False,
    }
    choice = structured(client, schema, max_tokens=room, temperature=1.2, seed=3)
    assert choice.finish_reason == "stop"
    assert set(json.loads(choice.message.content)) == {"text", "list"}


@pytest.mark.parametrize("seed", range(6))
def test_room_that_suffices_changes_nothing(client: openai.OpenAI, seed: int) -> None:
    schema = {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0, "maximum": 99999},
            "name": {"type": "string", "maxLength": 9},
            "last": {"type": "integer", "minimum": 0, "maximum": 99},
        },
        "required": ["count", "name", "last"],
        "additionalProperties": False,
    }

    def ask(room: int) -> Any:
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        return client.chat.completions.create(model="m", messages=ASK, response_format=form, max_tokens=room, temperature=1, seed=seed)

    ample = ask(900)
    assert ample.choices[0].message.content == ask(ample.usage.completion_tokens + 1).choices[0].message.content


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number"},
        *({"type": "integer", "multipleOf": factor} for factor in (3, 7, 37)),
        *({"type": "string", "format": kind} for kind in FORMATS),
        {"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 4, "maxItems": 4},
        *({"type": "string", "pattern": pattern} for pattern in ("^[a-z]+@[a-z]+$", "^[0-9a-z]+;$", "^(ab)+c$")),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_what_could_go_on_for_ever_does_not(client: openai.OpenAI, schema: dict[str, Any], seed: int) -> None:
    choice = structured(client, schema, max_tokens=60, temperature=1, seed=seed)
    assert choice.finish_reason == "stop"
    jsonschema.validate(json.loads(choice.message.content), schema)


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("1" * 20, True),
        ("1" * 19, False),
        ("46." + "0" * 10, True),
        ("46." + "0" * 9, False),
        ("-1.5e-10", True),
        ("2e9", False),
        ('{"a": 12345678901234567890', True),
        ('{"a": "12345678901234567890', False),
        ('["1234567890\\"1234567890", 1', False),
        ("12345678901234567890, 1", False),
    ],
)
def test_when_a_number_is_long_enough(text: str, enough: bool) -> None:
    digits = Digits()
    for char in text:
        digits.see(char.encode())
    assert digits.enough is enough


def test_numbers_without_end_end_and_fit_as_they_are_read(client: openai.OpenAI) -> None:
    """A bias of the sampling would do as well as a model that likes zeros: every digit here is drawn from what may follow."""
    for seed in range(12):
        schema = {
            "type": "array",
            "items": {"type": "number", "exclusiveMinimum": 46, "exclusiveMaximum": 47},
            "minItems": 2,
            "maxItems": 2,
        }
        choice = structured(client, schema, max_tokens=400, temperature=2, seed=seed)
        assert choice.finish_reason == "stop" and len(choice.message.content) < 60
        assert all(46 < number < 47 for number in json.loads(choice.message.content)), choice.message.content


def test_too_little_room_says_so_and_what_there_is_begins_an_answer(client: openai.OpenAI) -> None:
    choice = structured(
        client, {"type": "object", "properties": {"long_name": {"type": "integer"}}, "required": ["long_name"]}, max_tokens=5
    )
    assert choice.finish_reason == "length" and '{"long_name": 1}'.startswith(choice.message.content)


def test_any_object_will_do(client: openai.OpenAI) -> None:
    choice = client.chat.completions.create(
        model="m", messages=ASK, response_format={"type": "json_object"}, max_tokens=60, temperature=1, seed=1
    ).choices[0]
    assert isinstance(json.loads(choice.message.content), dict)


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"not": {"type": "string"}}, "not"),
        ({"type": "object", "propertyNames": {"pattern": "a"}, "unevaluatedProperties": False}, "propertyNames, unevaluatedProperties"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"if": {}, "then": {}}, "if, then"),
        ({"oneOf": [{"type": "string"}, {"maxLength": 3}]}, "oneOf"),
        ({"$ref": "http://elsewhere/schema"}, "elsewhere"),
        ({"$ref": "file:///etc/passwd"}, "passwd"),
        ({"type": "string", "pattern": "(?=a)b"}, "look-ahead"),
        ({"type": "shape"}, "shape"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "Unsatisfiable"),
        ({"type": "string", "pattern": "^(a{1000}){1000}$"}, "1000000 characters"),
        ({"patternProperties": {"^(x|y{2,900}){0,90}$": {}}}, "81090 characters"),
        ({"$ref": "#"}, "refers to itself alone"),
    ],
)
def test_what_cannot_be_held_to_is_refused_by_name(client: openai.OpenAI, schema: dict[str, Any], named: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        structured(client, schema, max_tokens=5)
    assert named in caught.value.message and caught.value.code == "unsupported_schema"


def nested(depth: int) -> dict[str, Any]:
    return {"type": "array", "items": nested(depth - 1)} if depth else {"type": "null"}


@pytest.mark.parametrize(
    "schema",
    [
        nested(100),
        {"enum": ["x" * 1000 + str(number) for number in range(80)]},
        {"type": "string", "pattern": "((a{1,200}){1,200}){1,200}b"},
        {"type": "string", "pattern": "(" + "|".join(f"{n}.*{n}" for n in range(3000)) + ")"},
        {"type": "object", "properties": {f"p{n}": {"type": "string", "pattern": ".*a.{40}"} for n in range(50)}},
        {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 50}}, "$ref": "#/$defs/a"},
        {"x-guidance": {"whitespace_flexible": True, "lenient": True}, "not": {}},
    ],
)
def test_wild_schemas_end_in_an_error_or_an_answer_within_seconds(client: openai.OpenAI, schema: dict[str, Any]) -> None:
    try:
        choice = structured(client, schema, max_tokens=30, timeout=5.0)
    except openai.BadRequestError as error:
        assert error.code == "unsupported_schema"
    else:
        assert choice.finish_reason in ("stop", "length")


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_a_call_that_is_asked_for_comes_with_valid_arguments(client: openai.OpenAI, choice: Any) -> None:
    answer = client.chat.completions.create(
        model="m", messages=ASK, tools=[WEATHER, TIME], tool_choice=choice, max_tokens=300, temperature=1, seed=4
    ).choices[0]
    assert answer.finish_reason == "tool_calls" and answer.message.content is None
    for call in answer.message.tool_calls:
        tool = next(tool for tool in (WEATHER, TIME) if tool["function"]["name"] == call.function.name)
        jsonschema.validate(json.loads(call.function.arguments), tool["function"]["parameters"])
    if choice != "required":
        assert [call.function.name for call in answer.message.tool_calls] == ["weather"]


def test_streamed_calls_are_the_whole_ones_in_pieces(client: openai.OpenAI) -> None:
    ask = {
        "model": "m",
        "messages": ASK,
        "tools": [WEATHER, TIME],
        "tool_choice": "required",
        "max_tokens": 300,
        "temperature": 1,
        "seed": 9,
    }
    whole = client.chat.completions.create(**ask).choices[0].message.tool_calls
    calls: dict[int, dict[str, str]] = {}
    reason = None
    for chunk in client.chat.completions.create(**ask, stream=True):
        reason = chunk.choices[0].finish_reason or reason
        for piece in chunk.choices[0].delta.tool_calls or ():
            call = calls.setdefault(piece.index, {"id": piece.id, "name": piece.function.name, "arguments": ""})
            call["arguments"] += piece.function.arguments
    assert [(call["name"], call["arguments"]) for call in calls.values()] == [
        (call.function.name, call.function.arguments) for call in whole
    ]
    assert reason == "tool_calls" and all(call["id"].startswith("call_") for call in calls.values())


def test_one_call_at_most_where_parallel_ones_are_not_wanted(client: openai.OpenAI) -> None:
    for seed in range(5):
        answer = client.chat.completions.create(
            model="m",
            messages=ASK,
            tools=[TIME],
            tool_choice="required",
            parallel_tool_calls=False,
            max_tokens=80,
            temperature=1,
            seed=seed,
        )
        assert len(answer.choices[0].message.tool_calls) == 1


def test_auto_may_answer_in_text_and_none_must(client: openai.OpenAI) -> None:
    for choice in ("auto", "none"):
        answer = client.chat.completions.create(model="m", messages=ASK, tools=[TIME], tool_choice=choice, max_tokens=8).choices[0]
        assert answer.message.content is not None or answer.message.tool_calls
        assert choice == "auto" or not answer.message.tool_calls


def test_a_conversation_with_calls_and_results_goes_on(client: openai.OpenAI) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    messages = [*ASK, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "noon"}]
    assert client.chat.completions.create(model="m", messages=messages, tools=[TIME], max_tokens=5).choices[0].message is not None


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "nobody"}}])
def test_a_tool_that_is_not_there_cannot_be_chosen(client: openai.OpenAI, choice: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=ASK, tools=[TIME] if choice != "required" else [], tool_choice=choice)
    assert caught.value.param == "tool_choice"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_calls_are_read_back_from_pieces_of_any_size(size: int) -> None:
    text = written("a", '{"x": "}\\"{", "y": [{}]}') + "\n" + written("b", "{}")
    reader = CallReader()
    told: dict[int, list[str]] = {}
    for start in range(0, len(text), size):
        said, pieces = reader.push(text[start : start + size])
        assert said == ""
        for piece in pieces:
            told.setdefault(piece.index, []).append(piece.name or piece.arguments)
    assert [(parts[0], "".join(parts[1:])) for parts in told.values()] == [("a", '{"x": "}\\"{", "y": [{}]}'), ("b", "{}")]


@pytest.mark.parametrize("text", ["Hello <tool_call>", "<tool", "", "<b>bold</b>"])
def test_text_that_is_no_call_stays_text(text: str) -> None:
    reader = CallReader()
    said = "".join(reader.push(char)[0] for char in text) + reader.close()
    assert said == text and reader.calls == 0


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        ("^a{3}$", 3),
        ("(ab){2,5}c", 11),
        ("(?:a{10}){10,}", 100),
        (r"\{9}[^]{9}]{2}", 5),
        (r"[a\]{7}]{2}", 2),
        ("a*(b+|c?){4}", 9),
        ("((a{2}){2}){2}", 8),
        ("(a{9", 3),
    ],
)
def test_counted_repetitions_are_written_out(pattern: str, size: int) -> None:
    assert repeated(pattern) == size


@pytest.mark.parametrize("low", [-3.5, -1, -0.01, 0, 0.2, 1, 2])
@pytest.mark.parametrize("width", [0.01, 0.25, 0.5, 1, 2.5])
@pytest.mark.parametrize(
    "keys", [("exclusiveMinimum", "exclusiveMaximum"), ("exclusiveMinimum", "maximum"), ("minimum", "exclusiveMaximum")]
)
def test_an_excluded_bound_is_out(grammars: Grammars, low: float, width: float, keys: tuple[str, str]) -> None:
    schema = {"type": "number", keys[0]: low, keys[1]: low + width}
    frontier = grammars.frontier(Grammar("schema", json.dumps(schema)))
    tokenizer = tiny_service.tokenizer()
    for key, bound in zip(keys, (low, low + width), strict=True):
        if key.startswith("exclusive"):
            forms = {json.dumps(bound), str(float(bound)), f"{bound:g}", "-0" if bound == 0 else f"{bound:g}"}
            assert not any(frontier.fits(tokenizer.encode(text)) for text in forms)
    assert frontier.fits(tokenizer.encode(f"{low + width / 2:g}"))


def test_bounds_in_values_are_values() -> None:
    schema = {
        "enum": [{"exclusiveMinimum": 0, "exclusiveMaximum": 0.5}],
        "properties": {"a": {"exclusiveMinimum": 0, "exclusiveMaximum": 0.5}},
    }
    moved = inward(schema)
    assert moved["enum"] == schema["enum"]
    assert moved["properties"] == {"a": {"exclusiveMaximum": 0.5, "minimum": 0.0001}}

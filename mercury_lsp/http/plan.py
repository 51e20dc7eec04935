"""A chat request as work: its turns, and the grammar that its tools and its format ask for. Knows no event."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from engine.api import GrammarUnsupported, Turn
from engine.serving import calls
from engine.serving.requests import Conversation, Grammar, Sampling, Work
from mercury_lsp.http.bodies import Chat, Message, NamedTool, Tool
from mercury_lsp.http.effort import Effort, effort
from mercury_lsp.http.errors import ApiError

_ANYTHING = '{"type": "object"}'
# Characters of a schema that the model is told of; a longer one holds the answer all the same.
_LONGEST_TOLD = 2_000


class Plan(msgspec.Struct, frozen=True):
    """What to ask, whether the answer may have calls in it, and how much it is worked on."""

    works: tuple[Work, ...]
    calls: bool
    effort: Effort


def planned(body: Chat) -> Plan:
    """Raises `ApiError` or `GrammarUnsupported`."""
    tools = _chosen(body)
    grammar = _grammar(body, tools)
    turns = _turns(body.messages)
    if tools:
        turns = (Turn("system", calls.described([_function(tool) for tool in tools])), *turns)
    elif grammar is not None and grammar.text != _ANYTHING and len(grammar.text) <= _LONGEST_TOLD:
        turns = (Turn("system", f"Answer with JSON of this schema:\n{grammar.text}"), *turns)
    most = body.max_completion_tokens or body.max_tokens
    if most == 0:
        raise ApiError(400, "Expected `int` >= 1 at max_tokens", param="max_tokens", code="invalid_value")
    works = [
        Work(
            task=Conversation(turns),
            max_tokens=most,
            stop=body.stops,
            sampling=sampling(body.temperature, body.top_p, body.seed, choice),
            logprobs=(body.top_logprobs or 0) if body.logprobs else None,
            grammar=grammar,
            canvas=bool(body.diffusing and body.stream),
        )
        for choice in range(body.n or 1)
    ]
    return Plan(tuple(works), bool(tools), effort(body.reasoning_effort))


def sampling(temperature: float | None, top_p: float | None, seed: int | None, choice: int = 0) -> Sampling:
    """At temperature 0 unless said otherwise: the text that is verified. Choices of one request differ by their seeds."""
    return Sampling(temperature=temperature or 0.0, top_p=top_p or 1.0, seed=None if seed is None else abs(seed) + choice)


def _turns(messages: Sequence[Message]) -> tuple[Turn, ...]:
    return tuple(_turn(message, f"messages[{place}]") for place, message in enumerate(messages))


def _turn(message: Message, path: str) -> Turn:
    text = text_of(message, path)
    if message.role == "assistant":
        told = [calls.written(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        return Turn("assistant", "\n".join([*([text] if text else []), *told]))
    if message.role in ("tool", "function"):
        return Turn("user", f"<tool_response>\n{text}\n</tool_response>")
    return Turn("user" if message.role == "user" else "system", text)


def text_of(message: Message, path: str) -> str:
    """A message's text. Raises `ApiError` where it holds something else."""
    if isinstance(message.content, str) or message.content is None:
        return message.content or ""
    for place, part in enumerate(message.content):
        if part.type not in ("text", "input_text") or part.text is None:
            where = f"{path}.content[{place}].type"
            raise ApiError(400, f"{part.type!r} is not supported at {where}: the model reads text", param=where, code="unsupported_content")
    return "".join(part.text or "" for part in message.content)


def _chosen(body: Chat) -> list[Tool]:
    """The tools that may be called."""
    if body.tool_choice == "none" or not body.tools:
        if body.tool_choice not in (None, "none", "auto"):
            raise ApiError(400, "a tool is asked for, and none is given at tools", param="tool_choice", code="invalid_value")
        return []
    if isinstance(body.tool_choice, NamedTool):
        name = body.tool_choice.function.name
        named = [tool for tool in body.tools if tool.function.name == name]
        if not named:
            raise ApiError(400, f"no tool is named {name!r} at tool_choice.function.name", param="tool_choice", code="invalid_value")
        return named[:1]
    return body.tools


def _function(tool: Tool) -> calls.Function:
    shape = tool.function
    parameters = _ANYTHING if shape.parameters is None else json.dumps(shape.parameters)
    return calls.Function(shape.name, parameters, shape.description or "", bool(shape.strict))


def _grammar(body: Chat, tools: Sequence[Tool]) -> Grammar | None:
    wanted = body.response_format
    if tools:
        several = body.parallel_tool_calls is not False and not isinstance(body.tool_choice, NamedTool)
        lark = calls.grammar([_function(tool) for tool in tools], several=several, text=body.tool_choice in (None, "auto"))
        return Grammar("lark", lark)
    if wanted is None or wanted.type == "text":
        return None
    if wanted.type == "json_object":
        return Grammar("schema", _ANYTHING)
    if wanted.json_schema is None or wanted.json_schema.schema is None:
        raise GrammarUnsupported("a schema is missing at response_format.json_schema.schema")
    return Grammar("schema", json.dumps(wanted.json_schema.schema))

"""The bodies of requests, as clients send them. What is not named here is ignored. Knows no engine."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from engine.api import Related, RewriteRequest

Count = Annotated[int, msgspec.Meta(ge=1, le=131_072)]
Many = Annotated[int, msgspec.Meta(ge=1, le=16)]
Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]
Share = Annotated[float, msgspec.Meta(gt=0, le=1)]
Effort = Literal["none", "minimal", "instant", "low", "medium", "high"]
Stops = Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(max_length=64)]


class StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class Common(msgspec.Struct, kw_only=True):
    """What all of them have."""

    model: str = "default"
    max_tokens: Annotated[int, msgspec.Meta(ge=-1, le=131_072)] | None = None  # -1, of llama.cpp's clients: no bound
    temperature: Temperature | None = None
    top_p: Share | None = None
    seed: int | None = None
    stop: Stops | Annotated[str, msgspec.Meta(max_length=1000)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None

    def __post_init__(self) -> None:
        if self.max_tokens == -1:
            self.max_tokens = None

    @property
    def stops(self) -> tuple[str, ...]:
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def with_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class Part(msgspec.Struct):
    type: str
    text: str | None = None


class CalledFunction(msgspec.Struct):
    name: str
    arguments: str = "{}"


class ToolCall(msgspec.Struct):
    function: CalledFunction
    id: str = ""


class Message(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class FunctionShape(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(msgspec.Struct):
    function: FunctionShape
    type: Literal["function"] = "function"


class NamedFunction(msgspec.Struct):
    name: str


class NamedTool(msgspec.Struct):
    function: NamedFunction
    type: Literal["function"] = "function"


class JsonSchema(msgspec.Struct):
    schema: dict[str, Any] | None = None
    name: str = ""
    strict: bool | None = None


class ResponseFormat(msgspec.Struct):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class Chat(Common, kw_only=True):
    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=2000)]
    max_completion_tokens: Count | None = None
    n: Many | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, msgspec.Meta(ge=0, le=20)] | None = None
    response_format: ResponseFormat | None = None
    tools: Annotated[list[Tool], msgspec.Meta(max_length=128)] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: Effort | None = None
    diffusing: bool | None = None
    realtime: bool | None = None


class Completion(Common, kw_only=True):
    """Of `/v1/completions` and `/v1/fim/completions`."""

    prompt: str | list[Any]
    suffix: str | None = None
    n: Many | None = None
    logprobs: Annotated[int, msgspec.Meta(ge=0, le=20)] | bool | None = None
    echo: bool | None = None
    # Our own: a language server tells what its other engine would get.
    path: str = ""
    related: list[Related] = []
    dedent: int | None = None
    unlike: Annotated[list[str], msgspec.Meta(max_length=16)] = []
    pieces: bool = False  # how sure to be of the text, token by token; it comes as the model wrote it then


class Edit(Common, kw_only=True):
    """Of `/v1/edit/completions` and `/v1/apply/completions`."""

    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=20)]


class Extra(msgspec.Struct):
    text: str = ""
    filename: str = ""


class Infill(msgspec.Struct, kw_only=True):
    """llama.cpp's `/infill`."""

    input_prefix: str
    input_suffix: str
    input_extra: Annotated[list[Extra], msgspec.Meta(max_length=200)] | None = None
    prompt: str | None = None
    n_predict: int | None = None
    stop: Stops | None = None
    temperature: Temperature | None = None
    top_p: float | None = None
    seed: int | None = None
    stream: bool | None = None
    t_max_predict_ms: int | None = None
    response_fields: list[str] | None = None


class LlamaCompletion(msgspec.Struct, kw_only=True):
    """llama.cpp's `/completion`."""

    prompt: str | list[Any]
    n_predict: int | None = None
    stop: Stops | None = None
    temperature: Temperature | None = None
    top_p: float | None = None
    seed: int | None = None
    stream: bool | None = None
    json_schema: dict[str, Any] | None = None
    response_fields: list[str] | None = None


class OllamaOptions(msgspec.Struct, kw_only=True):
    num_predict: int | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    seed: int | None = None
    stop: Stops | Annotated[str, msgspec.Meta(max_length=1000)] | None = None


class Generate(msgspec.Struct, kw_only=True):
    """Ollama's `/api/generate`."""

    model: str = "default"
    prompt: str = ""
    suffix: str | None = None
    system: str | None = None
    raw: bool | None = None
    stream: bool | None = None
    format: Literal["json", ""] | dict[str, Any] | None = None
    options: OllamaOptions | None = None


class Rewrite(msgspec.Struct, kw_only=True):
    """Our own: a language server's rewriting, as it would ask the engine in its process."""

    request: RewriteRequest


class Feedback(msgspec.Struct, kw_only=True):
    request_id: str = ""
    provider_name: str = ""
    user_action: Literal["accept", "reject", "ignore"] = "ignore"

"""What is asked of the engine when many ask at once, and what comes back while it works. Knows no tensor and no protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol

import msgspec

from engine.api import Related, RewriteRequest, Turn
from engine.confidence import Calibration

Ended = Literal["end", "length", "stop", "stopped", "deadline"]


class Hole(msgspec.Struct, frozen=True, kw_only=True):
    """Text to be put between two others. It is cut to what the model sees, as a suggestion's is."""

    prefix: str
    suffix: str = ""
    path: str = ""
    related: tuple[Related, ...] = ()
    dedent: int | None = None  # as `engine.api.InfillRequest` has them
    unlike: tuple[str, ...] = ()


class Conversation(msgspec.Struct, frozen=True):
    """Turns, the last of which is answered. Not cut."""

    turns: tuple[Turn, ...]


class Passage(msgspec.Struct, frozen=True):
    """Text that goes on. Not cut."""

    text: str


Task = Hole | Conversation | Passage | RewriteRequest


class Grammar(msgspec.Struct, frozen=True):
    """What an answer must be: a JSON Schema, or a grammar in the grammar library's own notation."""

    kind: Literal["schema", "lark"]
    text: str


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How an id is chosen. At temperature 0 it is the likeliest one; else a seed gives the same text again."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """One text to write."""

    task: Task
    begins: tuple[bytes, ...] = ()  # the tokens, as text, that the answer goes on after; they are not told again
    max_tokens: int | None = None  # of what follows them; None: as many as fit, within the engine's own bound
    stop: tuple[str, ...] = ()  # the text ends before the first of them
    sampling: Sampling = Sampling()
    logprobs: int | None = None  # so many alternatives are told of each token; 0 tells of the token alone
    grammar: Grammar | None = None
    canvas: bool = False  # tell the whole canvas, drafts included, after every denoise step
    interactive: bool = False  # somebody waits at a keyboard: goes before what is not
    deadline: float | None = None  # `time.monotonic()` seconds


class Alternative(msgspec.Struct, frozen=True):
    text: bytes
    logprob: float


class TokenLog(msgspec.Struct, frozen=True):
    """A committed token, how likely the model thought it, and the likeliest ones in its place."""

    text: bytes
    logprob: float
    top: tuple[Alternative, ...] = ()


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer took."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0  # of the prompt, whose keys and values were there
    forced_tokens: int = 0  # of the answer, that a grammar left no choice for
    denoise_steps: int = 0
    prefill_ms: float = 0.0  # from the first forward to the first committed token
    decode_ms: float = 0.0  # from there to the end


class Progress(msgspec.Struct, frozen=True):
    """Text that was committed since the last event. With a canvas: all there is so far, drafts included, in place of the one before."""

    text: str
    tokens: tuple[TokenLog, ...] = ()
    canvas: str | None = None


class Finished(msgspec.Struct, frozen=True):
    """The last event. The texts before it, in order, are the answer."""

    ended: Ended
    usage: Usage
    end_logprob: float | None = None  # of the end, where the model wrote it and log probabilities are told


Event = Progress | Finished


class Stream(Protocol):
    """The events of one work. Iterating raises what the engine raised."""

    def __aiter__(self) -> AsyncIterator[Event]: ...

    def stop(self) -> None:
        """End it at the next denoise step. Harmless when it has ended."""
        ...


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a service without asking its engine."""

    model: str
    context: int  # tokens of prompt and answer together
    converses: bool
    rewrites: bool
    rewrite_chars: int  # a region of so many characters or more is too long to be rewritten at once
    calibration: Calibration | None = None  # of the confidence


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How busy a service is."""

    running: int
    waiting: int
    cached_tokens: int
    cache_tokens: int  # that fit
    alive: bool = True  # whether the engine's thread is


class Service(Protocol):
    """An engine that many can ask at once."""

    facts: Facts

    def submit(self, work: Work) -> Stream:
        """Called on the event loop. Raises `Overloaded`, `PromptTooLong`, `GrammarUnsupported` or `RequestInvalid`."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text."""
        ...

    def load(self) -> Load: ...

    def close(self) -> None: ...

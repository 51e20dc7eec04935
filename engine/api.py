"""What crosses the engine's edge: requests, drafts, the stop flag, the error tree.

Imports no torch, so that a language server can speak of drafts before any model is loaded. Knows no LSP.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

# ------------------------------------------------------------------------------------------------ errors
#
#   MercuryError
#   ├── ModelError
#   │   ├── ModelMissing        nothing in the cache folder: `mercury-lsp pull` mends it
#   │   ├── CheckpointInvalid   a file is there and is not what it should be
#   │   └── DownloadFailed      offline, wrong hash, full disk
#   ├── EngineUnavailable       a remote engine does not answer
#   ├── RequestInvalid          a request that no engine could serve
#   │   ├── PromptTooLong       more tokens than the model reads
#   │   └── GrammarUnsupported  a schema or grammar that answers cannot be held to
#   ├── Overloaded              too many requests wait already: try again later
#   └── SettingInvalid          a setting that names nothing we have


class MercuryError(Exception):
    """Anything in the user's world that went wrong; `str()` is one line that names the thing and the mend."""


class ModelError(MercuryError):
    """The model could not be had."""


class ModelMissing(ModelError):
    """The model's files are not in the cache folder."""


class CheckpointInvalid(ModelError):
    """A model file is damaged, or of a kind that is not supported."""


class DownloadFailed(ModelError):
    """The model's files could not be fetched."""


class EngineUnavailable(MercuryError):
    """The remote engine does not answer."""


class RequestInvalid(MercuryError):
    """The request cannot be served by any engine."""


class PromptTooLong(RequestInvalid):
    """The prompt has more tokens than the model reads."""


class GrammarUnsupported(RequestInvalid):
    """A schema or grammar that answers cannot be held to."""


class Overloaded(MercuryError):
    """More requests wait than are let in."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds


class SettingInvalid(MercuryError):
    """A setting has a value that cannot be used."""


# ------------------------------------------------------------------------------------------------ requests


class StopFlag:
    """Asks the engine to end at its next denoise step. Set once, never cleared: one flag a request."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()


class Related(msgspec.Struct, frozen=True):
    """A piece of text from elsewhere that bears on the hole: the head of the file, a definition the code refers to."""

    path: str
    text: str


class PastEdit(msgspec.Struct, frozen=True):
    """An edit that was made: `diff` is its lines, each with `-`, `+` or a space in front."""

    path: str
    diff: str


class Turn(msgspec.Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class InfillRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Fill the hole between `prefix` and `suffix`.

    The texts use `\n` only. They may be longer than the model can see: the engine cuts them to its layout, the prefix from the
    left and the suffix from the right. For the prefix cache to hold between keystrokes their far ends should move in coarse steps.
    """

    prefix: str
    suffix: str
    path: str = ""  # as shown to the model, relative to the workspace, with forward slashes
    related: tuple[Related, ...] = ()  # most relevant last, so that what changes rarely stays in front
    multiline: bool = False  # False: the draft ends before the first line break
    # The draft ends before a line, not blank, that is indented by fewer columns than this; tabs count to the next multiple of 4. A line
    # that only closes brackets is the last one; one that closes and goes on (`} else {`) is not, and then its own columns count instead.
    # Lines that begin with `#` do not count. `engine.dedent.ended` tells; an engine need not heed it, what runs on is cut later.
    dedent: int | None = None
    begins: str = ""  # what the draft has to begin with; an engine that cannot be held to it may draft something else
    unlike: tuple[str, ...] = ()  # known drafts: this one begins otherwise than any of them, where the engine can see to that
    max_tokens: int = 64
    deadline: float | None = None  # `time.monotonic()` seconds; what is committed by then is the draft
    verify: bool = True  # False: commitment goes by confidence alone, without the causal forward


class RewriteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Rewrite a region: as the edits that led here suggest, or as the instruction says.

    The region is whole lines without the last line break; texts use `\n` only. What follows the region begins with a line break.
    """

    prefix: str
    region: str
    suffix: str
    path: str = ""
    cursor: int | None = None  # a place in the region
    history: tuple[PastEdit, ...] = ()  # the latest last
    instruction: str = ""  # `engine.instructions` has the wordings that the default model knows best
    related: tuple[Related, ...] = ()
    # Where so many lines of the region follow the first change, that is the whole text: the rest stays as it is. 0: what changes is written
    # to the end. An engine need not heed it.
    first_change: int = 0
    deadline: float | None = None  # `time.monotonic()` seconds


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Answer the last of `turns`, the user's; turns that do not fit are refused, not cut."""

    turns: tuple[Turn, ...]
    max_tokens: int = 256
    deadline: float | None = None  # `time.monotonic()` seconds


class Piece(msgspec.Struct, frozen=True):
    """A committed token of a draft, and how sure the engine is of the draft as far as that."""

    length: int  # characters of the draft's text up to and with this token; of one that adds none, all of them
    probability: float  # the model's own, after the tokens before it
    confidence: float  # that the user would write the text so far; never more than that of the piece before
    word: float  # the same, and that no word goes on after it


class Canvas(msgspec.Struct, frozen=True):
    """A text while it is written: what will not change any more, and what stands behind that as a draft."""

    settled: str
    draft: str = ""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine yields. `text` is valid as it stands, however the decoding ended."""

    text: str
    confidence: float  # that `text` is what the user would write next, no word going on after it; 0 where `text` is empty
    tokens: int  # committed, the end-of-middle token included
    denoise_steps: int  # forwards over a masked block
    forwards: int  # all forwards after prefill, verification included
    prefill_tokens: int  # prompt tokens that were not in the prefix cache
    latency_ms: float
    ended: Literal["end", "line", "length", "deadline", "stopped"]  # why decoding ended
    model: str
    pieces: tuple[Piece, ...] = ()  # none from an engine that says nothing of its tokens


def unheard(said: str | Canvas) -> None:
    """Tells nobody."""


class Engine(Protocol):
    """Anything that fills holes: the local model, a remote engine, a script."""

    name: str

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """Fill one hole. Returns early with what is committed when `stop` is set or the deadline passes. Not thread-safe.

        Raises `MercuryError` where the engine itself fails.
        """
        ...

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        """The region's new text; the region itself where nothing is to change. `ended` is "end" where the text is whole.

        `heard` is told how far it is, on the engine's thread.
        Raises `RequestInvalid` where the model cannot rewrite, or not so much at once.
        """
        ...

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        """The answer. `heard` is told the answer so far as it grows, on the engine's thread.

        Raises `RequestInvalid` where the model cannot converse, or the turns are too long for it.
        """
        ...


def watch(engine: Engine, told: Callable[[str], None]) -> None:
    """Have `told` hear, on the engine's thread, what becomes wrong with an engine that goes on answering, and "" once it is well again."""
    if hasattr(engine, "told"):
        engine.told = told


def foreseen(engine: Engine, request: InfillRequest, stop: StopFlag) -> Draft | None:
    """The draft of a request that nobody has made yet; None from an engine for which it would cost more than this machine's time."""
    return engine.infill(request, stop) if getattr(engine, "drafts_freely", False) else None


class EngineConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which engine to load and how it runs."""

    model: str = "quicksilver-135m"  # a catalogued name, or `scripted:FILE`
    url: str | None = None  # a remote engine's base URL instead of a local model
    threads: int | None = None  # None: physical cores − 1, at least 1
    dtype: Literal["auto", "float32", "bfloat16", "int8"] = "auto"  # int8: the compiled graph, where its library is installed


def load_engine(config: EngineConfig) -> Engine:
    """Load what `config` names; this is where torch is first imported.

    Raises `ModelMissing`, `CheckpointInvalid`, `SettingInvalid` or `EngineUnavailable`.
    """
    if config.url is not None:
        from engine.fallback import FallbackEngine
        from engine.remote import RemoteEngine

        local = msgspec.structs.replace(config, url=None)
        model = "default" if config.model == EngineConfig().model else config.model
        return FallbackEngine(RemoteEngine(config.url, model), lambda: load_engine(local))
    kind, _, argument = config.model.partition(":")
    if kind == "scripted":
        from engine.scripted import ScriptedEngine

        return ScriptedEngine.from_file(argument)
    from engine.engine import LocalEngine

    return LocalEngine.load(config)

"""An engine on another machine or in another process, over HTTP: the fill-in-the-middle endpoint that OpenAI-compatible servers share.

Of our own service it asks more: the path and the text from other files go along, and rewritings and conversations are answered too.
"""

from __future__ import annotations

import http
import http.client
import os
import select
import time
from collections.abc import Callable
from typing import Literal, TypeVar
from urllib.parse import SplitResult, urlsplit

import msgspec

from engine import confidence
from engine.api import (
    Canvas,
    ChatRequest,
    Draft,
    EngineUnavailable,
    InfillRequest,
    Piece,
    RequestInvalid,
    RewriteRequest,
    SettingInvalid,
    StopFlag,
    unheard,
)
from engine.beginnings import begun, behind
from engine.dedent import ended

_ENDPOINT = "/v1/fim/completions"
# The key that is sent: to Inception's own API that of its clients, to any other server ours.
_INCEPTION, _INCEPTION_MODEL = ".inceptionlabs.ai", "mercury-edit-2"
_INCEPTION_KEY, _KEY = "INCEPTION_API_KEY", "MERCURY_API_KEY"
# How long a connection may take, how often a server that is busy is asked again, and for how long it is left alone unless it says so.
_CONNECT_S = 2.0
_TRIES = 3
_PAUSE_S = 1.0
# How often the stop flag and the deadline are looked at while the answer is awaited, and how long an answer may take at most.
_POLL_S = 0.01
_LONGEST_S = 30.0


class _Choice(msgspec.Struct):
    text: str
    pieces: tuple[Piece, ...] = ()  # of our own service


class _Usage(msgspec.Struct):
    completion_tokens: int = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    model: str = ""
    usage: _Usage | None = None


class _Said(msgspec.Struct):
    content: str | None = None


class _SaidChoice(msgspec.Struct):
    message: _Said
    finish_reason: str | None = None


class _SaidAnswer(msgspec.Struct):
    choices: list[_SaidChoice]
    usage: _Usage | None = None


class _Model(msgspec.Struct):
    id: str = ""
    owned_by: str = ""


class _Models(msgspec.Struct):
    data: list[_Model] = []


Body = dict[str, object]
Interrupt = Literal["stopped", "deadline"]
T = TypeVar("T")


class RemoteEngine:
    """Sends each hole to `url`. One connection, kept open; a stop or a deadline closes it, which tells the server to give up.

    Ours says how sure to be of a draft; of others every draft that is not empty has confidence 1.
    """

    def __init__(self, url: str, model: str = "default") -> None:
        """Raises `SettingInvalid` when `url` is not an http or https address. Nothing is sent yet."""
        self.name = url
        self._address = _address(url)
        inception = (self._address.hostname or "").endswith(_INCEPTION)
        self._model = _INCEPTION_MODEL if inception and model == "default" else model
        key = os.environ.get(_INCEPTION_KEY if inception else _KEY)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._base = self._address.path.rstrip("/").removesuffix("/v1")
        self._connection: http.client.HTTPConnection | None = None
        self._ours: bool | None = None  # whether our own service answers there, once it was asked

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """Raises `EngineUnavailable` when the server cannot be reached or its answer is not one."""
        if request.begins:
            return begun(request.begins, self.infill(behind(request), stop))
        started = time.monotonic()
        answer = self._asked(_ENDPOINT, self._hole(request), _Answer, stop, request.deadline)
        if isinstance(answer, str):
            return self._draft("", 0, started, answer)
        choice = answer.choices[0] if answer.choices else _Choice("")
        tokens = answer.usage.completion_tokens if answer.usage else 0
        text = _as_long_as_asked(choice.text, request)
        draft = self._draft(text, tokens, started, "end")
        if not choice.pieces:
            return draft
        return msgspec.structs.replace(draft, pieces=choice.pieces, confidence=confidence.confidence(text, choice.pieces))

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        """`heard` is told nothing: the answer comes whole.

        Raises `RequestInvalid` where the server is not ours: others fill holes only, or cannot be told of an instruction.
        """
        started = time.monotonic()
        if not self._is_ours():
            raise RequestInvalid(f"the engine at {self.name} fills holes only, it cannot rewrite text")
        body: Body = {"request": msgspec.to_builtins(msgspec.structs.replace(request, deadline=None))}
        return self._answered("/v1/rewrite", body, stop, request.deadline, started)

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        """`heard` is told the whole answer once. Raises `RequestInvalid` where the server is not ours."""
        started = time.monotonic()
        if not self._is_ours():
            raise RequestInvalid(f"the engine at {self.name} fills holes only, it cannot converse")
        turns = [{"role": turn.role, "content": turn.text} for turn in request.turns]
        body: Body = {"model": self._model, "messages": turns, "max_tokens": request.max_tokens}
        draft = self._answered("/v1/chat/completions", body, stop, request.deadline, started)
        heard(draft.text)
        return draft

    def _answered(self, path: str, body: Body, stop: StopFlag, deadline: float | None, started: float) -> Draft:
        answer = self._asked(path, body, _SaidAnswer, stop, deadline)
        if isinstance(answer, str):
            return self._draft("", 0, started, answer)
        said = answer.choices[0] if answer.choices else _SaidChoice(_Said())
        tokens = answer.usage.completion_tokens if answer.usage else 0
        return self._draft(said.message.content or "", tokens, started, "length" if said.finish_reason == "length" else "end")

    def _hole(self, request: InfillRequest) -> Body:
        body = _body(request, self._model)
        if self._is_ours():
            body |= {"path": request.path, "related": msgspec.to_builtins(request.related), "pieces": True}
            body |= {"unlike": list(request.unlike)} | ({"dedent": request.dedent} if request.multiline else {})
        return body

    def _is_ours(self) -> bool:
        if self._ours is None:
            models = self._asked("/v1/models", None, _Models, StopFlag(), time.monotonic() + _CONNECT_S, other=_Models())
            if isinstance(models, str):
                return False  # it did not say in time
            self._ours = any(model.owned_by == "mercury-lsp" for model in models.data)
        return self._ours

    def _asked(
        self, path: str, body: Body | None, kind: type[T], stop: StopFlag, deadline: float | None, other: T | None = None
    ) -> T | Interrupt:
        """The answer as `kind`, or why there is none. `other` is what an answer that is none of it counts as."""
        try:
            answer = self._patiently(path, body, stop, deadline)
            if isinstance(answer, str):
                self._close()
                return answer
            return _read(*answer, kind)
        except (OSError, http.client.HTTPException) as error:
            self._close()
            if other is not None and isinstance(error, http.client.HTTPException):
                return other
            raise EngineUnavailable(f"engine.url {self.name}: {error or type(error).__name__}; is the engine running there?") from None

    def _patiently(self, path: str, body: Body | None, stop: StopFlag, deadline: float | None) -> tuple[int, bytes] | Interrupt:
        """Ask again where the server is busy, when it says, as long as there is time."""
        latest = time.monotonic() + _LONGEST_S
        until = min(latest, deadline or latest)
        for tries_left in reversed(range(_TRIES)):
            answer = self._ask(path, body, stop, until)
            if isinstance(answer, str):
                return answer
            status, content, pause = answer
            if status != http.HTTPStatus.TOO_MANY_REQUESTS or not tries_left:
                break
            if reason := _waited(pause, stop, until):
                return reason
        return status, content

    def _ask(self, path: str, body: Body | None, stop: StopFlag, until: float) -> tuple[int, bytes, float] | Interrupt:
        """Status, content, and for how long a busy server wants to be left alone."""
        connection = self._sent(path, body)
        while not select.select([connection.sock], [], [], _POLL_S)[0]:
            if stop.is_set():
                return "stopped"
            if time.monotonic() >= until:
                return "deadline"
        response = connection.getresponse()
        return response.status, response.read(), _seconds(response.headers.get("Retry-After"))

    def _sent(self, path: str, body: Body | None) -> http.client.HTTPConnection:
        method, content = ("GET", None) if body is None else ("POST", msgspec.json.encode(body))
        connection = self._connection or self._connect()
        try:
            connection.request(method, self._base + path, content, self._headers)
        except (OSError, http.client.HTTPException):  # the server closed a connection that lay idle
            self._close()
            connection = self._connect()
            connection.request(method, self._base + path, content, self._headers)
        return connection

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        assert self._address.hostname is not None
        self._connection = kind(self._address.hostname, self._address.port, timeout=_CONNECT_S)
        self._connection.connect()
        self._connection.sock.settimeout(_LONGEST_S)
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _draft(self, text: str, tokens: int, started: float, ended: Literal["end", "length", "stopped", "deadline"]) -> Draft:
        return Draft(
            text=text,
            confidence=1.0 if text else 0.0,
            tokens=tokens,
            denoise_steps=0,
            forwards=0,
            prefill_tokens=0,
            latency_ms=(time.monotonic() - started) * 1e3,
            ended=ended,
            model=self.name,
        )


def _address(url: str) -> SplitResult:
    try:
        address = urlsplit(url)
        address.port  # noqa: B018  # raises on a port that is no number
    except ValueError as error:
        raise SettingInvalid(f"engine.url {url!r}: {error}") from None
    if address.scheme not in ("http", "https") or not address.hostname:
        raise SettingInvalid(f"engine.url {url!r}: expected an address such as http://127.0.0.1:8012")
    return address


def _body(request: InfillRequest, model: str) -> Body:
    fields: Body = {
        "model": model,
        "prompt": request.prefix,
        "suffix": request.suffix,
        "max_tokens": request.max_tokens,
        "temperature": 0,
    }
    return fields if request.multiline else fields | {"stop": ["\n"]}


def _as_long_as_asked(text: str, request: InfillRequest) -> str:
    """Servers that are not ours know nothing of blocks, and not all of them heed a stop string."""
    if not request.multiline:
        return text.partition("\n")[0]
    return text if request.dedent is None else text[: ended(text, request.dedent)]


def _read(status: int, content: bytes, kind: type[T]) -> T:
    if status != http.HTTPStatus.OK:
        raise http.client.HTTPException(f"HTTP {status} {content[:200].decode(errors='replace').strip()}")
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError as error:
        raise http.client.HTTPException(f"unexpected answer: {error}") from None


def _seconds(retry_after: str | None) -> float:
    """A date instead of seconds counts as nothing said."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else _PAUSE_S


def _waited(seconds: float, stop: StopFlag, until: float) -> Interrupt | None:
    """Wait, unless there is no time for it."""
    end = time.monotonic() + seconds
    if end >= until:
        return "deadline"
    while time.monotonic() < end:
        if stop.is_set():
            return "stopped"
        time.sleep(_POLL_S)
    return None

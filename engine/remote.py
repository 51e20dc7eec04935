"""An engine on another machine or in another process, over HTTP: the fill-in-the-middle endpoint that OpenAI-compatible servers share."""

from __future__ import annotations

import http.client
import select
import time
from typing import Literal
from urllib.parse import SplitResult, urlsplit

import msgspec

from engine.api import Draft, EngineUnavailable, InfillRequest, SettingInvalid, StopFlag

_ENDPOINT = "/v1/fim/completions"
# How often the stop flag and the deadline are looked at while the answer is awaited, and how long an answer may take at most.
_POLL_S = 0.01
_LONGEST_S = 30.0


class _Choice(msgspec.Struct):
    text: str


class _Usage(msgspec.Struct):
    completion_tokens: int = 0


class _Answer(msgspec.Struct):
    choices: list[_Choice]
    model: str = ""
    usage: _Usage | None = None


class RemoteEngine:
    """Sends each hole to `url`. One connection, kept open; a stop or a deadline closes it, which tells the server to give up.

    The server says nothing of its confidence, so every draft that is not empty has confidence 1.
    """

    def __init__(self, url: str) -> None:
        """Raises `SettingInvalid` when `url` is not an http or https address. Nothing is sent yet."""
        self.name = url
        self._address = _address(url)
        self._connection: http.client.HTTPConnection | None = None

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """Raises `EngineUnavailable` when the server cannot be reached or its answer is not one."""
        started = time.monotonic()
        try:
            answer = self._ask(request, stop, started + _LONGEST_S)
        except (OSError, http.client.HTTPException) as error:
            self._close()
            raise EngineUnavailable(f"engine.url {self.name}: {error or type(error).__name__}; is the engine running there?") from None
        if isinstance(answer, str):
            self._close()
            return self._draft("", 0, started, answer)
        text = answer.choices[0].text if answer.choices else ""
        tokens = answer.usage.completion_tokens if answer.usage else 0
        return self._draft(text if request.multiline else text.partition("\n")[0], tokens, started, "end")

    def _ask(self, request: InfillRequest, stop: StopFlag, latest: float) -> _Answer | Literal["stopped", "deadline"]:
        connection = self._connection or self._connect()
        try:
            connection.request("POST", self._address.path.rstrip("/") + _ENDPOINT, _body(request), {"Content-Type": "application/json"})
        except (OSError, http.client.HTTPException):  # the server closed a connection that lay idle
            self._close()
            connection = self._connect()
            connection.request("POST", self._address.path.rstrip("/") + _ENDPOINT, _body(request), {"Content-Type": "application/json"})
        until = min(latest, request.deadline or latest)
        while not select.select([connection.sock], [], [], _POLL_S)[0]:
            if stop.is_set():
                return "stopped"
            if time.monotonic() >= until:
                return "deadline"
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise http.client.HTTPException(f"HTTP {response.status} {body[:200].decode(errors='replace').strip()}")
        try:
            return msgspec.json.decode(body, type=_Answer)
        except msgspec.MsgspecError as error:
            raise http.client.HTTPException(f"unexpected answer: {error}") from None

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        assert self._address.hostname is not None
        self._connection = kind(self._address.hostname, self._address.port, timeout=_LONGEST_S)
        self._connection.connect()
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _draft(self, text: str, tokens: int, started: float, ended: Literal["end", "stopped", "deadline"]) -> Draft:
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


def _body(request: InfillRequest) -> bytes:
    fields = {
        "model": "default",
        "prompt": request.prefix,
        "suffix": request.suffix,
        "max_tokens": request.max_tokens,
        "temperature": 0,
    }
    return msgspec.json.encode(fields if request.multiline else fields | {"stop": ["\n"]})

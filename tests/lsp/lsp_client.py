"""A language client for tests: frames, ids and waiting, and a cursor marker in texts. Knows no server but by its streams."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from engine.api import Engine, EngineConfig
from engine.scripted import ScriptedEngine
from mercury_lsp import server

ROOT = Path(__file__).parents[2]
CURSOR = "‸"
URI = "file:///project/main.py"
NEOVIM_ENCODINGS = ["utf-8", "utf-16", "utf-32"]
PATIENCE = 30.0  # seconds until a test gives up; no test is fast because of it


class Client:
    """Sends messages and collects what comes back. Answers the server's own requests like an editor."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self.configuration: Any = None  # what this editor has under our section
        self.capabilities: dict[str, Any] = {"general": {"positionEncodings": NEOVIM_ENCODINGS}}
        self.before_answering = threading.Event()  # the server's requests are answered once it is set
        self.before_answering.set()
        self.messages: list[dict[str, Any]] = []  # all that came, in order
        self.versions: dict[str, int] = {}
        self._reader, self._writer = reader, writer
        self._arrived = threading.Condition()
        self._writing = threading.Lock()
        self._ids = iter(range(1, 1_000_000))
        threading.Thread(target=self._read, daemon=True).start()

    # ---------------------------------------------------------------------------------------- messages

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, body: bytes) -> None:
        with self._writing:
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._writer.flush()

    def hang_up(self) -> None:
        self._writer.close()

    def request(self, method: str, params: object = None, **more: object) -> int:
        number = next(self._ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params, **more})
        return number

    def notify(self, method: str, params: object = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, number: object) -> dict[str, Any]:
        return self.wait_for(lambda message: "method" not in message and message.get("id") == number)

    def call(self, method: str, params: object = None) -> Any:
        message = self.answer(self.request(method, params))
        assert "error" not in message, message
        return message["result"]

    def error(self, method: str, params: object = None) -> int:
        return self.answer(self.request(method, params))["error"]["code"]

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool], patience: float = PATIENCE) -> dict[str, Any]:
        with self._arrived:
            found = self._arrived.wait_for(lambda: next(filter(wanted, self.messages), None), patience)
        assert found is not None, f"it did not come; this did: {self.messages[-10:]}"
        return found

    def notified(self, method: str) -> dict[str, Any]:
        return self.wait_for(lambda message: message.get("method") == method)["params"]

    def received(self, method: str) -> list[Any]:
        return [message["params"] for message in self.messages if message.get("method") == method]

    def _read(self) -> None:
        while (header := self._reader.readline()) != b"":
            if not header.lower().startswith(b"content-length:"):
                continue
            while self._reader.readline().strip():
                pass
            message = json.loads(self._reader.read(int(header.split(b":")[1])))
            if "method" in message and "id" in message:
                threading.Thread(target=self._serve, args=(message,)).start()
            with self._arrived:
                self.messages.append(message)
                self._arrived.notify_all()

    def _serve(self, message: Mapping[str, Any]) -> None:
        self.before_answering.wait(PATIENCE)
        with suppress(ValueError, BrokenPipeError):  # hung up meanwhile
            self._answer(message)

    def _answer(self, message: Mapping[str, Any]) -> None:
        result = [self.configuration for _ in message["params"]["items"]] if message["method"] == "workspace/configuration" else None
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    # ---------------------------------------------------------------------------------------- an editor's habits

    def initialize(self, options: object = None, **params: object) -> dict[str, Any]:
        usual = {"processId": None, "rootUri": "file:///project", "capabilities": self.capabilities, "initializationOptions": options}
        result: dict[str, Any] = self.call("initialize", {**usual, **params})
        self.notify("initialized", {})
        return result

    def open(self, text: str, uri: str = URI, language: str = "python") -> None:
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}})

    def change(self, *changes: object, uri: str = URI) -> None:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def ask(self, line: int, character: int, *, uri: str = URI, kind: int = 1, **more: object) -> int:
        """An explicit request; `more` goes into its context."""
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.request("textDocument/inlineCompletion", {**place, "context": {"triggerKind": kind, **more}})

    def items(self, line: int, character: int, *, uri: str = URI, kind: int = 1, **more: object) -> list[dict[str, Any]]:
        message = self.answer(self.ask(line, character, uri=uri, kind=kind, **more))
        assert "error" not in message, message
        assert list(message["result"]) == ["items"]
        items: list[dict[str, Any]] = message["result"]["items"]
        return items


# ------------------------------------------------------------------------------------------------ servers


@contextmanager
def in_process(load: Callable[[EngineConfig], Engine], overrides: Mapping[str, Any] | None = None) -> Iterator[Client]:
    """A server in a thread of this process, with an engine of the test's own."""
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()

    def serve() -> None:
        with os.fdopen(to_server, "rb") as reader, os.fdopen(from_server, "wb") as writer:
            asyncio.run(server.build(load, overrides).serve(reader, writer))

    thread = threading.Thread(target=serve)
    thread.start()
    client = Client(os.fdopen(to_client, "rb"), os.fdopen(from_client, "wb"))
    try:
        yield client
    finally:
        client.hang_up()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server did not end when its input did"


@contextmanager
def scripted(*drafts: str, overrides: Mapping[str, Any] | None = None) -> Iterator[Client]:
    """A server whose engine yields `drafts` in order."""
    with in_process(lambda _: ScriptedEngine(drafts), overrides) as client:
        yield client


class Process(Client):
    """A client with a server process of its own."""

    def __init__(self, *arguments: str, python: Sequence[str] = ("-m", "mercury_lsp")) -> None:
        self.started = time.monotonic()
        self.child = subprocess.Popen(
            [sys.executable, *python, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self.child.stdout is not None and self.child.stdin is not None
        super().__init__(self.child.stdout, self.child.stdin)

    def exit_code(self) -> int:
        return self.child.wait(PATIENCE)


@contextmanager
def process(*arguments: str) -> Iterator[Process]:
    client = Process(*arguments)
    try:
        yield client
    finally:
        client.child.kill()
        client.child.wait()


def within(true: Callable[[], object], patience: float = PATIENCE) -> bool:
    """Whether `true` becomes so in time."""
    end = time.monotonic() + patience
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(found)


# ------------------------------------------------------------------------------------------------ texts


def cut(marked: str) -> tuple[str, int, int]:
    """A text with the marker → the text, and the marker's line and UTF-16 character."""
    before, _, after = marked.partition(CURSOR)
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return before + after, len(lines) - 1, utf16_length(lines[-1])


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def accept(text: str, item: Mapping[str, Any]) -> str:
    """The text after an editor has accepted `item`. Its line breaks are the document's."""
    start, end = item["range"]["start"], item["range"]["end"]
    assert start["line"] == end["line"]
    assert "\r" not in item["insertText"]
    break_ = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(break_)
    units = lines[start["line"]].encode("utf-16-le")
    assert 2 * end["character"] <= len(units), "out of the line"
    left, right = (part.decode("utf-16-le") for part in (units[: 2 * start["character"]], units[2 * end["character"] :]))
    lines[start["line"]] = left + item["insertText"].replace("\n", break_) + right
    return break_.join(lines)

"""An editor that types: it tells the real server every stroke over stdio, asks for ghost text, and takes back what a stroke overtook.

Knows no benchmark.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import psutil

from benchmarks.typist import Stroke, Writing

_PING = "getVersion"  # a request that needs no thought
_PING_AFTER = 0.02  # seconds after a stroke: while the server thinks about it
_PATIENCE = 60.0
_REST = 0.15  # seconds until a cursor that was put somewhere is said to rest there


class Asked(NamedTuple):
    """Milliseconds until an answer, and whether it showed something; None where the next stroke overtook it."""

    ms: float | None
    shown: bool


class Used(NamedTuple):
    """What the server's process has used so far."""

    cpu: float  # seconds
    peak: float  # MiB; 0 where the system does not say


class Editor:
    """One document after another in one server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._number = self._documents = 0
        self._reading = asyncio.ensure_future(self._read())
        self.pings: list[float] = []

    @classmethod
    async def start(cls, *arguments: str, **settings: object) -> Editor:
        command = [sys.executable, "-m", "mercury_lsp", *arguments]
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        editor = cls(process)
        await editor.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": settings})
        editor.notify("initialized", {})
        return editor

    async def warm(self) -> None:
        """Wait until the model answers."""
        self._open("warm.py", "python", "x = ")
        await self._ask(4, "x = ", kind=1)

    async def end(self) -> None:
        await self.call("shutdown", None)
        self.notify("exit", None)
        await self._process.wait()
        self._reading.cancel()

    def used(self) -> Used:
        times = psutil.Process(self._process.pid).cpu_times()
        peak = 0.0
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines()
            peak = next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
        return Used(times.user + times.system, peak)

    async def figures(self) -> dict[str, Any]:
        """The server's own account."""
        found: dict[str, Any] = await self.call("mercury/stats", {})
        return found

    async def write(self, writing: Writing, *, hurry: bool, rest: float = 0.0, tells: bool = True) -> list[Asked]:
        """All strokes, at the hands' own pace, or each as soon as the one before is answered.

        `rest`: seconds without a key after which it asks. `tells`: it says where the cursor was put, if that rests.
        """
        self._open(writing.path, writing.language, writing.before)
        text, asked, pending, cursor = writing.before, [], None, -1
        for stroke in writing.strokes:
            if not hurry:
                await self._pause(stroke, moved=tells and stroke.at + stroke.removed != cursor)
            if pending is not None:
                asked.append(await self._settle(pending))
            text = text[: stroke.at] + stroke.text + text[stroke.at + stroke.removed :]
            self._change(stroke, text)
            cursor = stroke.at + len(stroke.text)
            pending = asyncio.ensure_future(self._ask(cursor, text, kind=2, rest=rest))
            if hurry:
                await pending
            else:
                asyncio.ensure_future(self._ping())
        if pending is not None:
            asked.append(await pending)
        self.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})
        return asked

    async def _pause(self, stroke: Stroke, *, moved: bool) -> None:
        if moved and stroke.delay > _REST:
            await asyncio.sleep(_REST)
            place = _position(self._text, stroke.at + stroke.removed)
            self.notify("mercury/didMoveCursor", {"textDocument": {"uri": self._uri}, "position": place})
            await asyncio.sleep(stroke.delay - _REST)
        else:
            await asyncio.sleep(stroke.delay)

    async def _settle(self, pending: asyncio.Task[Asked]) -> Asked:
        """The last stroke's answer, if it is there by now."""
        if pending.done():
            return pending.result()
        pending.cancel()
        return Asked(None, False)

    async def _ping(self) -> None:
        await asyncio.sleep(_PING_AFTER)
        began = time.perf_counter()
        await self.call(_PING, {})
        self.pings.append((time.perf_counter() - began) * 1e3)

    async def _ask(self, at: int, text: str, kind: int, rest: float = 0.0) -> Asked:
        await asyncio.sleep(rest)
        began = time.perf_counter()
        where = {"textDocument": {"uri": self._uri}, "position": _position(text, at), "context": {"triggerKind": kind}}
        number = self._send("textDocument/inlineCompletion", where)
        try:
            result = await asyncio.wait_for(self._waiting[number], _PATIENCE)
        except asyncio.CancelledError:
            self.notify("$/cancelRequest", {"id": number})
            raise
        return Asked((time.perf_counter() - began) * 1e3, bool(result["items"]))

    def _open(self, path: str, language: str, text: str) -> None:
        self._documents += 1
        self._uri, self._version, self._text = f"file:///bench/{self._documents}/{path}", 1, text
        document = {"uri": self._uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def _change(self, stroke: Stroke, text: str) -> None:
        self._version += 1
        span = {"start": _position(self._text, stroke.at), "end": _position(self._text, stroke.at + stroke.removed)}
        change = {"range": span, "text": stroke.text}
        document = {"uri": self._uri, "version": self._version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        self._text = text

    # ------------------------------------------------------------------------------------------ messages

    async def call(self, method: str, params: object) -> Any:
        return await asyncio.wait_for(self._waiting[self._send(method, params)], _PATIENCE)

    def notify(self, method: str, params: object) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, method: str, params: object) -> int:
        self._number += 1
        self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def _write(self, message: object) -> None:
        assert self._process.stdin is not None
        body = msgspec.json.encode(message)
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        while (header := await self._process.stdout.readuntil(b"\r\n\r\n")) != b"":
            length = next(int(line.split(b":")[1]) for line in header.split(b"\r\n") if line.lower().startswith(b"content-length"))
            message = msgspec.json.decode(await self._process.stdout.readexactly(length))
            if "method" in message:
                if "id" in message:
                    self._write({"jsonrpc": "2.0", "id": message["id"], "result": None})
            elif (future := self._waiting.pop(message["id"], None)) is not None and not future.done():
                future.set_result(message.get("result") or {"items": []})


def _position(text: str, at: int) -> dict[str, int]:
    start = text.rfind("\n", 0, at) + 1
    return {"line": text.count("\n", 0, at), "character": len(text[start:at].encode("utf-16-le")) // 2}

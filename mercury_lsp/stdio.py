"""Frames over stdin and stdout: whole message bodies in, bytes out. Knows no message.

Reading and writing have a thread each, which sleeps in the call; that works for pipes, files and consoles on every system. So a client
that does not read keeps nobody from seeing that it has hung up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import BinaryIO

_HEADER_MAX = 64  # lines before a frame's body; more is no client of ours
_BODY_MAX = 1 << 30  # bytes; no editor opens a text that is as large
_PIECE = 1 << 20  # a body grows as its bytes arrive, whatever length the header promises
_UNREAD_MAX = 64 << 20  # bytes a client may leave unread until it counts as gone: some 200,000 suggestions
_LAST_WORDS_SECONDS = 1.0  # for a client to read what was said before the end


class FrameError(Exception):
    """What arrives is not framed; nothing after it can be read."""


def claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the protocol: what anybody else prints goes to stderr, what anybody else reads is empty."""
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reader, writer


def read_frame(stream: BinaryIO) -> bytes | None:
    """One message's body; None at the end of the stream, also in the middle of a frame."""
    length: int | None = None
    for _ in range(_HEADER_MAX):
        line = stream.readline(4096)
        if not line:
            return None
        if not line.strip():
            if length is not None:
                break
            continue  # blank lines between frames
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = _length(value.strip())
    else:
        raise FrameError("no frame begins here")
    return _read_exactly(stream, length)


def _length(value: bytes) -> int:
    if not value.isdigit():
        raise FrameError(f"Content-Length is no number: {_short(value)}")
    if len(value) > len(str(_BODY_MAX)) or int(value) > _BODY_MAX:
        raise FrameError(f"Content-Length is {_short(value)} bytes, at most {_BODY_MAX} are taken")
    return int(value)


def _short(value: bytes) -> str:
    text = value.decode("ascii", "backslashreplace")
    return text if len(text) <= 40 else f"{text[:40]}…"


def _read_exactly(stream: BinaryIO, length: int) -> bytes | None:
    body = bytearray()
    while len(body) < length:
        piece = stream.read(min(_PIECE, length - len(body)))
        if not piece:
            return None
        body += piece
    return bytes(body)


async def read_frames(stream: BinaryIO, handle: Callable[[bytes], None]) -> None:
    """Hand over each body, in order, until the stream ends. Raises `FrameError`."""
    loop = asyncio.get_running_loop()
    bodies: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()

    def read() -> None:
        body: bytes | Exception | None = b""
        while isinstance(body, bytes):
            try:
                body = read_frame(stream)
            except (OSError, ValueError):  # closed under our hands
                body = None
            except Exception as error:  # whatever it is: the one who waits must hear of it
                body = error
            try:
                loop.call_soon_threadsafe(bodies.put_nowait, body)
            except RuntimeError:  # the loop has ended
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (body := await bodies.get()) is not None:
        if isinstance(body, Exception):
            raise body
        handle(body)
        # The coroutine that answers a request runs its first lines before the next message changes anything under it.
        await asyncio.sleep(0)


class Writer:
    """The stream behind the protocol's writer; used on the event loop only, and never waits there.

    `hung_up` is called on the loop when nobody reads any more: the stream is closed, or too much lies unread.
    """

    def __init__(self, stream: BinaryIO, hung_up: Callable[[], None]) -> None:
        self._stream = stream
        self._hung_up = hung_up
        self._loop = asyncio.get_running_loop()
        self._pieces: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._taken = 0  # bytes, on the loop
        self._written = 0  # bytes, on the thread
        self._ended = asyncio.Event()
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    def write(self, data: bytes) -> None:
        self._taken += len(data)
        if self._taken - self._written > _UNREAD_MAX:
            self._hung_up()
        else:
            self._pieces.put(data)

    def close(self) -> None:
        self._pieces.put(None)

    async def wait_closed(self) -> None:
        """After `close`: until all is written, but not longer than somebody who reads would need."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), _LAST_WORDS_SECONDS)

    def _run(self) -> None:
        while (data := self._pieces.get()) is not None:
            try:
                self._stream.write(data)
                self._stream.flush()
            except (OSError, ValueError):
                self._post(self._hung_up)
                break
            self._written += len(data)
        self._post(self._ended.set)

    def _post(self, call: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone: the server is on its way out
            self._loop.call_soon_threadsafe(call)

"""Frames over stdin and stdout: whole message bodies in, bytes out. Knows no message.

Reading has a thread of its own, which sleeps in the read; that works for pipes, files and consoles on every system.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import BinaryIO

_HEADER_MAX = 64  # lines before a frame's body; more is no client of ours


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
            if not value.strip().isdigit():
                raise FrameError(f"Content-Length is no number: {line!r}")
            length = int(value)
    else:
        raise FrameError("no frame begins here")
    body = stream.read(length)
    return body if len(body) == length else None


async def read_frames(stream: BinaryIO, handle: Callable[[bytes], None]) -> None:
    """Hand over each body, in order, until the stream ends. Raises `FrameError`."""
    loop = asyncio.get_running_loop()
    bodies: asyncio.Queue[bytes | FrameError | None] = asyncio.Queue()

    def read() -> None:
        while True:
            body: bytes | FrameError | None
            try:
                body = read_frame(stream)
            except FrameError as error:
                body = error
            except (OSError, ValueError):  # closed under our hands
                body = None
            try:
                loop.call_soon_threadsafe(bodies.put_nowait, body)
            except RuntimeError:  # the loop has ended
                return
            if not isinstance(body, bytes):
                return

    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (body := await bodies.get()) is not None:
        if isinstance(body, FrameError):
            raise body
        handle(body)
        # The coroutine that answers a request runs its first lines before the next message changes anything under it.
        await asyncio.sleep(0)


class Writer:
    """The stream behind the protocol's writer; after the client has hung up, it drops what is written and says so once."""

    def __init__(self, stream: BinaryIO, hung_up: Callable[[], None]) -> None:
        self._stream = stream
        self._hung_up: Callable[[], None] | None = hung_up

    def write(self, data: bytes) -> None:
        if self._hung_up is None:
            return
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            told, self._hung_up = self._hung_up, None
            told()

    def close(self) -> None:
        self._hung_up = None

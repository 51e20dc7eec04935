"""Answers that are sent while they are written: server-sent events, and a JSON object a line. Knows no endpoint's shape."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import msgspec
from starlette.responses import Response, StreamingResponse

from mercury_lsp.http.errors import of_engine, shape

# Proxies that gather what passes through them would hold an answer back until it is whole.
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def events(chunks: AsyncIterator[Mapping[str, object]], *, done: bool = True) -> Response:
    """Server-sent events, `[DONE]` the last one where the interface has that."""

    async def lines() -> AsyncIterator[bytes]:
        try:
            async for chunk in chunks:
                yield b"data: " + msgspec.json.encode(chunk) + b"\n\n"
        except Exception as error:  # the status is sent already
            yield b"data: " + msgspec.json.encode(shape(of_engine(error))) + b"\n\n"
            return
        if done:
            yield b"data: [DONE]\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers=_HEADERS)


def objects(chunks: AsyncIterator[Mapping[str, object]]) -> Response:
    """A JSON object a line."""

    async def lines() -> AsyncIterator[bytes]:
        try:
            async for chunk in chunks:
                yield msgspec.json.encode(chunk) + b"\n"
        except Exception as error:
            yield msgspec.json.encode({"error": of_engine(error).message}) + b"\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=_HEADERS)

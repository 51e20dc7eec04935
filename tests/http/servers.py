"""A service on a free port of loopback, in this process, for clients that want a real socket."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn

from engine.serving.requests import Service
from mercury_lsp.http.app import build
from mercury_lsp.http.command import listening
from mercury_lsp.http.guard import Rules


@contextlib.contextmanager
def serving(service: Service, rules: Rules | None = None) -> Iterator[str]:
    """The server's base URL, without a path."""
    listener = listening("127.0.0.1", 0)
    config = uvicorn.Config(build(service, rules or Rules()), log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        service.close()

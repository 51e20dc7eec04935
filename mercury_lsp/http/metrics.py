"""What was asked and how long it took, in Prometheus's text form. Counts, no texts. Knows no endpoint."""

from __future__ import annotations

import time
from collections import Counter

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.serving.requests import Service

_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counters of one server. Used on the event loop only."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.feedback: Counter[str] = Counter()
        self._seconds: Counter[float] = Counter()
        self._sum = 0.0
        self._count = 0

    def seen(self, path: str, status: int, seconds: float) -> None:
        self.requests[path, status] += 1
        self._sum, self._count = self._sum + seconds, self._count + 1
        for bound in _BUCKETS:
            self._seconds[bound] += seconds <= bound

    def text(self, service: Service) -> str:
        load = service.load()
        lines = ["# TYPE mercury_requests_total counter"]
        lines += [f'mercury_requests_total{{path="{path}",status="{status}"}} {n}' for (path, status), n in sorted(self.requests.items())]
        lines += ["# TYPE mercury_request_seconds histogram"]
        lines += [f'mercury_request_seconds_bucket{{le="{bound}"}} {self._seconds[bound]}' for bound in _BUCKETS]
        lines += [f'mercury_request_seconds_bucket{{le="+Inf"}} {self._count}']
        lines += [f"mercury_request_seconds_sum {self._sum:.6f}", f"mercury_request_seconds_count {self._count}"]
        lines += ["# TYPE mercury_feedback_total counter"]
        lines += [f'mercury_feedback_total{{action="{action}"}} {count}' for action, count in sorted(self.feedback.items())]
        for name, value in (
            ("running", load.running),
            ("waiting", load.waiting),
            ("cache_tokens", load.cached_tokens),
            ("cache_tokens_limit", load.cache_tokens),
        ):
            lines += [f"# TYPE mercury_{name} gauge", f"mercury_{name} {value}"]
        return "\n".join(lines) + "\n"


class Counted:
    """Tells `metrics` of every request to one of `paths`; others go as one, so that nobody can make up series."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._metrics.seen(path, status, time.perf_counter() - started)


async def show(request: Request) -> Response:
    metrics: Metrics = request.app.state.metrics
    return PlainTextResponse(metrics.text(request.app.state.service), media_type="text/plain; version=0.0.4")

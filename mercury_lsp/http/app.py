"""The application: which path leads where, and what stands before all of them. Knows no endpoint's shape."""

from __future__ import annotations

import time

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from engine.api import MercuryError
from engine.serving.requests import Service
from mercury_lsp import __version__
from mercury_lsp.http import chat, completions, editing, llama, metrics, ollama
from mercury_lsp.http.bodies import Feedback
from mercury_lsp.http.errors import ApiError, decoded, of_engine, response
from mercury_lsp.http.guard import Guard, Rules
from mercury_lsp.http.metrics import Counted, Metrics

# With and without the version in front: clients differ in what they take for the base.
_POSTS = {
    "/chat/completions": chat.complete,
    "/completions": completions.complete,
    "/fim/completions": completions.complete,
    "/edit/completions": editing.edit,
    "/apply/completions": editing.apply,
}


def build(service: Service, rules: Rules) -> Starlette:
    routes = [Route(f"{base}{path}", endpoint, methods=["POST"]) for path, endpoint in _POSTS.items() for base in ("/v1", "")]
    lists = ("/v1/models", "/models", *(f"/v1/{kind}/completions/models" for kind in ("chat", "fim", "edit", "apply")))
    routes += [Route(path, _models) for path in lists]
    routes += [
        Route("/v1/models/{name:path}", _model),
        Route("/v1/rewrite", editing.rewrite, methods=["POST"]),
        Route("/infill", llama.infill, methods=["POST"]),
        Route("/completion", llama.completion, methods=["POST"]),
        Route("/props", llama.props),
        Route("/api/generate", ollama.generate, methods=["POST"]),
        Route("/api/tags", ollama.tags),
        Route("/api/version", ollama.version),
        Route("/health", _health),
        Route("/v1/health", _health),
        Route("/metrics", metrics.show),
        Route("/feedback", _feedback, methods=["POST"]),
        Route("/v1/feedback", _feedback, methods=["POST"]),
    ]
    counters = Metrics()
    before = [Middleware(Counted, metrics=counters, paths=frozenset(route.path for route in routes)), Middleware(Guard, rules=rules)]
    if rules.origins:
        before.insert(1, Middleware(CORSMiddleware, allow_origins=rules.origins, allow_methods=["GET", "POST"], allow_headers=["*"]))
    handlers = {ApiError: _failed, MercuryError: _failed, 404: _no_such_path, 405: _no_such_path, Exception: _failed}
    app = Starlette(routes=routes, middleware=before, exception_handlers=handlers)
    app.state.service, app.state.metrics, app.state.version, app.state.started = service, counters, __version__, int(time.time())
    return app


async def _failed(request: Request, error: Exception) -> Response:
    return response(of_engine(error))


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    return response(ApiError(status, f"{request.method} {request.url.path}: there is no such endpoint", code="unknown_url"))


async def _health(request: Request) -> Response:
    service: Service = request.app.state.service
    if not service.load().alive:
        raise ApiError(503, "the engine's thread ended: start the server anew", kind="server_error", code="engine_unavailable")
    return JSONResponse({"status": "ok"})


def _entry(request: Request) -> dict[str, object]:
    service: Service = request.app.state.service
    return {
        "id": service.facts.model,
        "object": "model",
        "created": request.app.state.started,
        "owned_by": "mercury-lsp",
        "context_length": service.facts.context,
        "meta": {"n_ctx_train": service.facts.context},
    }


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [_entry(request)]})


async def _model(request: Request) -> Response:
    """Any name is answered by the loaded model."""
    return JSONResponse(_entry(request) | {"id": request.path_params["name"]})


async def _feedback(request: Request) -> Response:
    """Counted, not kept."""
    body = await decoded(request, Feedback)
    request.app.state.metrics.feedback[body.user_action] += 1
    return JSONResponse({"status": "ok"})

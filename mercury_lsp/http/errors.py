"""What goes wrong, as the clients of these interfaces expect to read it: one shape, the right status, the field's path."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from engine.api import GrammarUnsupported, MercuryError, Overloaded, PromptTooLong, RequestInvalid

T = TypeVar("T")


class ApiError(Exception):
    """An answer that is an error."""

    def __init__(
        self, status: int, message: str, *, kind: str = "invalid_request_error", param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.kind, self.param, self.code = status, message, kind, param, code
        self.headers: dict[str, str] = {}


def shape(error: ApiError) -> dict[str, object]:
    return {"error": {"message": error.message, "type": error.kind, "param": error.param, "code": error.code}}


def response(error: ApiError) -> Response:
    return JSONResponse(shape(error), status_code=error.status, headers=error.headers)


def of_engine(error: BaseException) -> ApiError:
    """The engine's errors by their kinds; what is none of them is our own fault and says so."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, Overloaded):
        busy = ApiError(429, str(error), kind="rate_limit_error", code="rate_limit_exceeded")
        busy.headers["Retry-After"] = str(max(1, round(error.retry_after)))
        return busy
    if isinstance(error, PromptTooLong):
        return ApiError(400, str(error), param="messages", code="context_length_exceeded")
    if isinstance(error, GrammarUnsupported):
        return ApiError(400, str(error), param="response_format", code="unsupported_schema")
    if isinstance(error, RequestInvalid):
        return ApiError(400, str(error))
    if isinstance(error, MercuryError):
        return ApiError(503, str(error), kind="server_error", code="engine_unavailable")
    return ApiError(500, f"the server failed: {type(error).__name__}", kind="server_error", code="internal_error")


async def decoded(request: Request, kind: type[T]) -> T:
    """The request's body. What is unknown in it is ignored; what has the wrong type is refused by its path."""
    try:
        body = await request.body()
    except ClientDisconnect:
        raise ApiError(499, "the client is gone", kind="client_error") from None
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.ValidationError as error:
        message, param = _place(str(error))
        raise ApiError(400, message, param=param, code="invalid_type") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, f"the body is not JSON: {error}", code="invalid_json") from None


def _place(error: str) -> tuple[str, str | None]:
    """`Expected `int`, got `str` - at `$.a[0]`` → the message, and the path without its root."""
    what, _, where = error.partition(" - at `$")
    path = where.rstrip("`").lstrip(".") or None
    missing = re.search(r"missing required field `(\w+)`", what)
    if missing:
        path = f"{path}.{missing[1]}" if path else missing[1]
    return f"{what} at {path}" if path else what, path

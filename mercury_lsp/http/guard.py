"""Who may ask: the Host header, the origin, the key, and the size of a body, looked at before anything else. Knows no endpoint.

A page in a browser can reach a server on loopback: by a name that resolves there (hence the Host header), or by a request that needs no
leave of the server (hence the origin).
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mercury_lsp.http.errors import ApiError, response

_OPEN = ("/health", "/v1/health")


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What is let in."""

    key: str | None = None
    names: tuple[str, ...] = ()  # host names beside `localhost` and addresses
    origins: tuple[str, ...] = ()  # origins of web pages
    body: int = 8 * 1024 * 1024  # bytes


class Guard:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        error = self._refusal(scope, Headers(scope=scope))
        if error is not None:
            await response(error)(scope, receive, send)
            return
        await self._within(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Headers) -> ApiError | None:
        if not self._known(headers.get("host", "")):
            return ApiError(403, "the Host header names a host that is not served here; --allow-host adds it", code="host_not_allowed")
        origin = headers.get("origin")
        if origin is not None and origin not in self._rules.origins and _is_page(origin):
            return ApiError(403, "pages of this origin may not ask; --cors-origin lets them", code="origin_not_allowed")
        if scope["method"] != "OPTIONS" and scope["path"] not in _OPEN and not self._has_key(headers):
            return ApiError(401, "a key is missing, or another one", kind="authentication_error", code="invalid_api_key")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._rules.body:
            return self._too_large()
        return None

    def _known(self, host: str) -> bool:
        """Addresses cannot be made to resolve elsewhere; names can, all but `localhost`."""
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost" or name in self._rules.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _has_key(self, headers: Headers) -> bool:
        if self._rules.key is None:
            return True
        kind, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if kind.lower() == "bearer" else headers.get("x-api-key", headers.get("api-key", ""))
        return hmac.compare_digest(given.encode(), self._rules.key.encode())

    def _too_large(self) -> ApiError:
        return ApiError(413, f"the body is larger than {self._rules.body} bytes", code="body_too_large")

    async def _within(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A body that says nothing of its length is counted."""
        counted = 0

        async def counting() -> Message:
            nonlocal counted
            message = await receive()
            if message["type"] == "http.request":
                counted += len(message.get("body", b""))
                if counted > self._rules.body:
                    raise self._too_large()
            return message

        await self._app(scope, counting, send)


def _is_page(origin: str) -> bool:
    """Whether an origin is a web page from elsewhere, not an editor's own view or a page of this machine."""
    try:
        address = urlsplit(origin)
    except ValueError:
        return True
    return origin == "null" or (address.scheme in ("http", "https") and address.hostname not in ("localhost", "127.0.0.1", "::1"))

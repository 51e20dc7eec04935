"""What the protocol library lacks: every request gets an answer, nothing pops up, positions are UTF-16. Knows no document and no engine."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcMethodNotFound, JsonRpcParseError
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    default_converter,
    lsp_method,
)

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)

_NOT_INITIALIZED = -32002

# Their params arrive as the client sent them: the library's types drop fields and refuse messages that can well be served.
_RAW = frozenset(
    {
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_SAVE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.TEXT_DOCUMENT_INLINE_COMPLETION,
        types.TEXT_DOCUMENT_COMPLETION,
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CODE_ACTION_RESOLVE,
        types.WORKSPACE_APPLY_EDIT,
        types.WINDOW_SHOW_DOCUMENT,
        "workspace/textDocumentContent",
        "workspace/textDocumentContent/refresh",
        types.WINDOW_SHOW_MESSAGE_REQUEST,
        types.WORKSPACE_CONFIGURATION,
        types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        types.WORKSPACE_EXECUTE_COMMAND,
        types.WINDOW_WORK_DONE_PROGRESS_CREATE,
        types.CLIENT_REGISTER_CAPABILITY,
    }
)

# The library's own handlers that ours replace.
_OURS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    types.WORKSPACE_EXECUTE_COMMAND,
)


class Protocol(LanguageServerProtocol):
    """Reads and dispatches messages. Its own answers are errors; the handlers' stand in `server`."""

    _server: MercuryServer

    def __init__(self, server: MercuryServer, converter: Any) -> None:
        super().__init__(server, converter)
        for method in _OURS:
            self.fm.builtin_features.pop(method, None)
        self.initialize_params: Mapping[str, Any] = {}  # as the client sent them
        # By id, what we asked the client. The library keeps it with what the client asked us, and then takes one for the other.
        self._asked: dict[Any, Future[Any]] = {}
        self._initialized = False

    @property
    def exit_code(self) -> int:
        """What the process returns if it ends now."""
        return 0 if self._shutdown else 1

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]  # the library's is a generator, for handlers we do not have
        self._server.stop(self.exit_code)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]  # the library's is cached
        return None if method in _RAW else super().get_message_type(method)

    def get_result_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        return None if method in _RAW else super().get_result_type(method)

    def receive(self, body: bytes) -> None:
        """Handle one message. Whatever is wrong with it: a request gets an error, the rest a line in the log."""
        try:
            self._receive(body)
        except Exception:  # a fault of ours must not end the session
            _log.exception("a message was not handled")

    def _receive(self, body: bytes) -> None:
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, JsonRpcParseError(f"not JSON: {error}"))
            return
        message_id = data.get("id") if isinstance(data, dict) else None
        if not isinstance(message_id, str | int | float | None):
            self._refuse(None, JsonRpcInvalidRequest("an id is a string or a number"))
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != self.VERSION or not isinstance(data.get("method", ""), str):
            self._refuse(message_id, JsonRpcInvalidRequest("no JSON-RPC 2.0 message"))
            return
        if "id" in data and "method" in data:
            self._receive_request(data)
        elif "method" in data:
            self._receive_notification(data)
        else:
            self._receive_response(data)

    def _receive_request(self, data: dict[str, Any]) -> None:
        method = data["method"]
        if self._shutdown:
            self._refuse(data["id"], JsonRpcInvalidRequest("the server is shutting down"))
        elif method == types.INITIALIZE and self._initialized:
            self._refuse(data["id"], JsonRpcInvalidRequest("the server is initialized already"))
        elif method != types.INITIALIZE and not self._initialized:
            self._refuse(data["id"], JsonRpcException("the server is not initialized", code=_NOT_INITIALIZED))
        elif not self._has_handler(method):
            self._refuse(data["id"], JsonRpcMethodNotFound.of(method))
        else:
            if method == types.INITIALIZE:
                data = self._take_initialize(data)
            try:
                message = self._structure_request(data)
            except Exception as error:
                self._refuse(data["id"], JsonRpcInvalidParams(f"{method}: {_first_line(error)}"))
            else:
                self._initialized = True
                self.handle_message(message)

    def _receive_notification(self, data: dict[str, Any]) -> None:
        method = data["method"]
        if not self._has_handler(method) and method != types.CANCEL_REQUEST:
            return
        if method != types.EXIT and (self._shutdown or not self._initialized):
            return
        if _has_id(self.get_message_type(method)):
            _log.warning("%s: a request, and it came without an id", method)
            return
        try:
            message = self._structure_notification(data)
        except Exception as error:
            _log.warning("%s: %s", method, _first_line(error))
        else:
            self.handle_message(message)

    def _receive_response(self, data: dict[str, Any]) -> None:
        try:
            message = self.structure_message(data)
        except Exception as error:
            # Whoever waits for it must not wait for ever.
            _log.warning("response %r: %s", data.get("id"), _first_line(error))
            self._handle_response(data.get("id"), error=types.ResponseError(code=types.ErrorCodes.InternalError, message="unreadable"))
        else:
            self.handle_message(message)

    def _handle_notification(self, method_name: str, params: Any) -> None:
        if method_name == types.CANCEL_REQUEST:
            self._handle_cancel_notification(params.id)
        else:
            self._execute_handler(str(uuid.uuid4()), self._get_handler(method_name), partial(self._notified, method_name), (params,))

    def _notified(self, method: str, future: Future[Any]) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, JsonRpcInvalidParams):
            _log.warning("%s: %s", method, error)
        elif error is not None:
            _log.error("%s: %s", method, error, exc_info=error)

    def send_request(
        self, method: str, params: Any = None, callback: Callable[[Any], None] | None = None, msg_id: Any = None
    ) -> Future[Any]:
        msg_id = msg_id or str(uuid.uuid4())
        future = super().send_request(method, params, callback, msg_id)
        self._asked[msg_id] = self._request_futures.pop(msg_id)
        return future

    def _handle_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:
        future = self._asked.pop(msg_id, None)
        if future is None or future.done():  # nobody asked, or nobody waits any longer
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(JsonRpcException.from_error(error))

    def _structure_request(self, data: dict[str, Any]) -> Any:
        kind = self.get_message_type(data["method"])
        if kind is None or not _has_id(kind):
            return JsonRPCRequestMessage(id=data["id"], jsonrpc=self.VERSION, method=data["method"], params=data.get("params"))
        return self._converter.structure(data, kind)

    def _structure_notification(self, data: dict[str, Any]) -> Any:
        kind = self.get_message_type(data["method"])
        if kind is None:
            return JsonRPCNotification(jsonrpc=self.VERSION, method=data["method"], params=data.get("params"))
        return self._converter.structure(data, kind)

    def _take_initialize(self, data: dict[str, Any]) -> dict[str, Any]:
        """Keep the params as they are; what the library gets of them has no encodings to choose from, so UTF-16 it is.

        Many clients count UTF-16 whatever was agreed. The library needs nothing else of the capabilities either.
        """
        params = data.get("params")
        self.initialize_params = params if isinstance(params, Mapping) else {}
        process_id = self.initialize_params.get("processId")
        return {**data, "params": {"processId": process_id if type(process_id) is int else None, "rootUri": None, "capabilities": {}}}

    def _has_handler(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features

    def _refuse(self, message_id: Any, error: JsonRpcException) -> None:
        self._send_data({"jsonrpc": self.VERSION, "id": message_id, "error": {"code": error.code, "message": error.message}})


def converter() -> Any:
    """The library's converter; an answer that it has no type for keeps its plain dicts."""
    made = default_converter()

    def plain(data: Mapping[str, Any], _: object) -> JsonRPCResponseMessage:
        return JsonRPCResponseMessage(id=data["id"], jsonrpc=data["jsonrpc"], result=data.get("result"))

    made.register_structure_hook(JsonRPCResponseMessage, plain)
    return made


def _has_id(kind: type[Any] | None) -> bool:
    """Whether messages of this type are requests."""
    return kind is not None and any(field.name == "id" for field in kind.__attrs_attrs__)


def _first_line(error: BaseException) -> str:
    """The innermost reason of a nested structuring error, on one line."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]  # type: ignore[attr-defined]
    return f"{type(error).__name__}: {error}".splitlines()[0]

"""What Copilot's clients ask besides suggestions: who is signed in, which version, how the server is. There is no account here, so the
answers never change; every client gets on with its work. Knows no document."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mercury_lsp import __version__

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

USER = "local"  # clients take a status without a user for one that is not signed in
_SIGNED_IN = {"status": "OK", "user": USER}
_FINISH_SIGN_IN = "github.copilot.finishDeviceFlow"


def check_status(ls: MercuryServer, params: object) -> dict[str, str]:
    return dict(_SIGNED_IN)


def sign_in(ls: MercuryServer, params: object) -> dict[str, str]:
    return {"status": "AlreadySignedIn", "user": USER}


def sign_out(ls: MercuryServer, params: object) -> dict[str, str]:
    """Says what clients expect; there is nothing to sign out of."""
    return {"status": "NotSignedIn"}


def get_version(ls: MercuryServer, params: object) -> dict[str, str]:
    return {"version": __version__, "buildType": "prod", "runtimeVersion": f"python/{platform.python_version()}"}


def models(ls: MercuryServer, params: object) -> list[dict[str, Any]]:
    name = ls.suggester.settings.model
    return [{"id": name, "modelName": name, "modelFamily": name, "scopes": ["completion"], "preview": False, "default": True}]


def file_status(ls: MercuryServer, params: object) -> dict[str, str]:
    return {"status": "included"}


def noted(ls: MercuryServer, params: object) -> str:
    """Something that a client tells as a request, and that nothing follows from."""
    return "OK"


def heard(ls: MercuryServer, params: object) -> None:
    """The same as a notification."""


def finished(command: str) -> dict[str, str] | None:
    """What a command answers: only that which ends a sign-in is waited for."""
    return dict(_SIGNED_IN) if command == _FINISH_SIGN_IN else None


def tell_status(ls: MercuryServer, *, busy: bool = False, error: str = "") -> None:
    """How the server is, for clients that say that they are Copilot's; others would log a message that they do not know."""
    options = ls.protocol.initialize_params.get("initializationOptions")
    if not isinstance(options, Mapping) or "editorPluginInfo" not in options:
        return
    kind = "Error" if error else "Normal"
    ls.protocol.notify("didChangeStatus", {"busy": busy, "kind": kind, "message": error})
    status = "Warning" if error else "InProgress" if busy else "Normal"
    ls.protocol.notify("statusNotification", {"busy": busy, "kind": kind, "status": status, "message": error})


HANDLERS: Mapping[str, Callable[[MercuryServer, Any], Any]] = {
    "checkStatus": check_status,
    "signIn": sign_in,
    "signInInitiate": sign_in,
    "signInConfirm": check_status,
    "signInWithGithubToken": check_status,
    "signOut": sign_out,
    "getVersion": get_version,
    "copilot/models": models,
    "checkFileStatus": file_status,
    "setEditorInfo": noted,
    "notifyShown": noted,
    "notifyAccepted": noted,
    "notifyRejected": noted,
    "notifyChangeConfiguration": heard,
    "textDocument/didShowCompletion": heard,
    "textDocument/didPartiallyAcceptCompletion": heard,
    "telemetry/exception": noted,
}

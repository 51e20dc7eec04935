"""The handlers, and the life of the server they belong to. How a suggestion comes about is not known here.

Importing this loads neither torch nor a grammar: `initialize` is answered first, the rest comes with the engine, on its thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from engine.api import Engine, EngineConfig, MercuryError
from mercury_lsp import __version__, client, completion_items, copilot, legacy, parent, stdio
from mercury_lsp import settings as configuration
from mercury_lsp.ask import inline_completion_ask
from mercury_lsp.choice import Choice
from mercury_lsp.lines import Known
from mercury_lsp.nextedit import handlers as next_edit
from mercury_lsp.nextedit.service import NextEdits
from mercury_lsp.params import AtCursor, Changes, Command, DidOpen, OnDocument, PartlyAccepted, read
from mercury_lsp.project import Project
from mercury_lsp.protocol import Protocol, converter
from mercury_lsp.recall import recalled
from mercury_lsp.refactor import service as refactor
from mercury_lsp.refactor.state import State
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.suggest import ACCEPTED, Suggester
from mercury_lsp.uris import file_key, key_of, path_of
from mercury_lsp.worker import Worker

_log = logging.getLogger(__name__)

# Copilot's clients run these, and refuse a command that a server does not list.
COMMANDS = (
    ACCEPTED,
    "github.copilot.finishDeviceFlow",
    "github.copilot.didAcceptCompletionItem",
    "github.copilot.didAcceptNextEditSuggestionItem",
    "github.copilot.didRejectNextEditSuggestionItem",
    "github.copilot.didIgnoreNextEditSuggestionItem",
    "github.copilot.didAcceptPanelCompletionItem",
)


class MercuryServer(LanguageServer):
    """One client's server. Everything here is touched on the event loop only."""

    protocol: Protocol
    suggester: Suggester
    project: Project
    choice: Choice
    next_edits: NextEdits

    def __init__(self, load: Callable[[EngineConfig], Engine], overrides: Mapping[str, Any]) -> None:
        super().__init__("mercury-lsp", __version__, protocol_cls=Protocol, converter_factory=converter)
        self.session = Session()
        self.refactoring = State()
        self.accepted: deque[tuple[str, tuple[Any, ...]]] = deque(maxlen=100)
        self._load = load
        self._overrides = overrides  # settings from the command line; they weigh most
        self._configured: object = None  # what the client's configuration said last
        self._engine: EngineConfig | None = None  # loaded, or being loaded
        self.state = {"kind": "loading", "message": ""}  # what `mercury/status` says; kinds: loading, ready, warning, error
        self._told: set[str] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._settings_read = asyncio.Event()
        self._exit_code: asyncio.Future[int] | None = None

    # ------------------------------------------------------------------------------------------ life

    async def serve(self, reader: BinaryIO, writer: BinaryIO) -> int:
        """Serve one client until it exits, hangs up or dies; the process's exit code."""
        loop = asyncio.get_running_loop()
        self._exit_code = loop.create_future()
        output = stdio.Writer(writer, self.hung_up)
        self.protocol.set_writer(output)
        worker = Worker(self._load, loop)
        worker.changed = self._engine_changed
        self.project = Project(self.session, lambda: worker.busy)
        self.suggester = Suggester(self.session, worker)
        self.choice = Choice(self.project.indexing)
        self.suggester.related = lambda snapshot, settings: self.choice.related(snapshot, settings, self.suggester.roots)
        self.suggester.recall = self._recalled
        self.next_edits = NextEdits(
            self.session, lambda: self.suggester.settings, lambda: self.suggester.roots, lambda name: self.project.indexing.view.find(name)
        )
        self.next_edits.rewrite = lambda document, request: worker.aside(document, lambda engine, stop: engine.rewrite(request, stop))
        with client.logging_to(self, loop):
            reading = asyncio.ensure_future(stdio.read_frames(reader, self.protocol.receive))
            reading.add_done_callback(self._stream_ended)
            try:
                return await self._exit_code
            finally:
                reading.cancel()
                self._keep_figures()
                self.suggester.worker.close()
                self.project.close()
                output.close()
                await output.wait_closed()

    def _recalled(self, snapshot: Snapshot) -> Known | None:
        indexing = self.project.indexing
        return recalled(snapshot, indexing.lines, indexing.text_of(file_key(snapshot.uri)))

    def _keep_figures(self) -> None:
        if self.suggester.settings.stats:
            from mercury_lsp import stats

            try:
                stats.keep(self.suggester.account.figures())
            except OSError as error:
                _log.warning("the figures could not be written: %s", error)

    def stop(self, code: int) -> None:
        if self._exit_code is not None and not self._exit_code.done():
            self._exit_code.set_result(code)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do `work` in the background, until it or the server ends."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("in the background: %s", error, exc_info=error)

    def hung_up(self) -> None:
        """The client is gone without `exit`."""
        self.stop(self.protocol.exit_code)

    def _stream_ended(self, reading: asyncio.Task[None]) -> None:
        if not reading.cancelled() and (error := reading.exception()) is not None:
            _log.error("cannot read any further: %s", error)
        self.hung_up()

    def report_server_error(self, error: Exception, source: object) -> None:
        """Never a pop-up; a request's error is in its answer already."""
        level = logging.WARNING if isinstance(error, JsonRpcInvalidParams) else logging.ERROR
        _log.log(level, "%s: %s", getattr(source, "__name__", source), error)

    # ------------------------------------------------------------------------------------------ settings and engine

    async def configured(self) -> None:
        """Wait until the settings are known. Reading them begins with `initialized`, or here if the client forgets to say that."""
        if not self._background and not self._settings_read.is_set():
            self.begin(self.configure())
        await self._settings_read.wait()

    async def configure(self, pushed: object = None) -> None:
        """Read the settings anew, and load the engine they name if it is not the one that is there."""
        try:
            asked = await client.configuration(self.protocol) if self.client_can("workspace", "configuration") else None
            self._read_settings(pushed if asked is None else asked)
        finally:
            self._settings_read.set()
        settings = self.suggester.settings
        await self._load_engine(EngineConfig(model=settings.model, url=settings.engine_url))
        self.project.start()  # not before: loading is what a user waits for

    def _read_settings(self, said: object) -> None:
        if said is not None:
            self._configured = said
        reading = configuration.read(self._overrides, self._configured, self.protocol.initialize_params.get("initializationOptions"))
        excluded_before, self.suggester.settings = self.suggester.settings.exclude, reading.settings
        if reading.settings.exclude != excluded_before:
            self.exclude()
        for warning in reading.bad:
            self.tell_once(warning, types.MessageType.Warning)
        if reading.unknown:
            _log.info("unknown settings: %s", ", ".join(reading.unknown))

    def exclude(self) -> None:
        """Keep what the settings name out of prompts, in the folders that the workspace has now."""
        globs, roots = self.suggester.settings.exclude, self.suggester.roots
        for privacy in (self.suggester.privacy, self.choice.privacy, self.next_edits.privacy):
            privacy.exclude(globs, roots)
        self.project.indexing.exclude(globs, roots)

    async def _load_engine(self, config: EngineConfig) -> None:
        if config == self._engine:
            return
        self._engine = config
        self.state = {"kind": "loading", "message": f"Loading {config.url or config.model}"}
        copilot.tell_status(self, busy=True)
        fault = ""
        try:
            await client.progress(self, f"Loading {config.url or config.model}", lambda told: self.suggester.worker.load(config, told))
        except MercuryError as error:
            fault = str(error)
        except Exception:
            _log.exception("%s could not be loaded", config.model)
            fault = f"{config.model} could not be loaded; the log says why"
        if fault:
            self._engine = None  # the next change of the configuration tries again
            self.tell_once(fault, types.MessageType.Error)
        if fault or self.state["kind"] == "loading":  # else the engine has told of itself already
            self.state = {"kind": "error" if fault else "ready", "message": fault}
            self._tell_status()
        copilot.tell_status(self, error=fault)

    def _engine_changed(self, fault: str) -> None:
        """A remote engine that is gone, or back, is told once a time it goes: a status, and no pop-up beyond the first."""
        self.state = {"kind": "warning" if fault else "ready", "message": fault}
        copilot.tell_status(self, error=fault)
        if not self._tell_status() and fault:
            self.tell_once(fault, types.MessageType.Warning)

    def _tell_status(self) -> bool:
        """Whether the client knows it."""
        known = self.client_can("experimental", "mercuryStatus")
        if known:
            self.protocol.notify("mercury/status", self.state)
        return known

    def client_said(self, *path: str) -> Any:
        """What the client's capabilities have there; None for nothing."""
        found: Any = self.protocol.initialize_params.get("capabilities")
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    def client_can(self, *path: str) -> bool:
        return bool(self.client_said(*path))

    def tell_once(self, message: str, kind: types.MessageType) -> None:
        if message not in self._told:
            self._told.add(message)
            self.window_show_message(types.ShowMessageParams(type=kind, message=f"mercury-lsp: {message}"))


# ------------------------------------------------------------------------------------------------ handlers


async def inline_completion(ls: MercuryServer, params: object) -> dict[str, Any]:
    ask = inline_completion_ask(params)
    snapshot = ls.session.snapshot(ask.text_document.uri, ask.position.line, ask.position.character) if ask else None
    if ask is None or snapshot is None:
        return {"items": []}
    try:
        await ls.configured()
        return {"items": await ls.suggester.items(ask, snapshot)}
    except MercuryError as error:
        _log.error("%s", error)
    except Exception:
        _log.exception("no suggestion")
    return {"items": []}


def initialize(ls: MercuryServer, params: types.InitializeParams) -> None:
    said = ls.protocol.initialize_params
    folders = said.get("workspaceFolders") or [{"uri": said.get("rootUri") or ""}]
    _set_roots(ls, _paths(folders))
    completion_items.offer(ls)
    if params.process_id is not None and params.process_id > 0:
        parent.watch(params.process_id, ls.hung_up)


def initialized(ls: MercuryServer, _: object) -> None:
    ls.begin(ls.configure())
    if ls.client_can("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
        ls.begin(client.watch_files(ls.protocol))
    if ls.client_can("workspace", "textDocumentContent", "dynamicRegistration"):
        ls.begin(refactor.register(ls))


def did_change_configuration(ls: MercuryServer, params: object) -> None:
    settings = _mapping(_mapping(params).get("settings"))
    ls.begin(ls.configure(settings.get(configuration.SECTION)))


def did_change_workspace_folders(ls: MercuryServer, params: object) -> None:
    event = _mapping(_mapping(params).get("event"))
    gone = _paths(event.get("removed"))
    _set_roots(ls, [root for root in ls.suggester.roots if root not in gone] + _paths(event.get("added")))


def did_change_watched_files(ls: MercuryServer, params: object) -> None:
    ls.project.touched(_paths(_mapping(params).get("changes")))


def did_open(ls: MercuryServer, params: object) -> None:
    document = read(params, DidOpen).text_document
    try:
        ls.session.open(document.uri, document.language_id, document.version, document.text)
    except ValueError as error:
        raise JsonRpcInvalidParams(f"{document.uri}: {error}") from None
    ls.suggester.forget(key_of(document.uri))  # some clients open a document anew without closing it
    ls.project.opened(document.uri)
    ls.next_edits.opened(document.uri)


def did_change(ls: MercuryServer, params: object) -> None:
    """A change that cannot be read closes the document: better no suggestion than one for a text that the client does not have."""
    document = read(params, OnDocument).text_document
    ls.suggester.worker.stop(key_of(document.uri))  # what it computes is about a text that is no more
    try:
        changes = read(params, Changes).content_changes
        ls.session.change(document.uri, document.version, changes)
    except JsonRpcInvalidParams:
        ls.session.close(document.uri)
        ls.project.closed(document.uri)
        ls.next_edits.closed(key_of(document.uri))
        raise
    ls.suggester.ahead.changed(key_of(document.uri), document.uri, changes)
    ls.project.changed(document.uri)
    ls.next_edits.changed(document.uri)


def did_move_cursor(ls: MercuryServer, params: object) -> None:
    """Our own clients say where it has come to rest: by the first key there, what stands around it is read."""
    said = read(params, AtCursor)

    async def begin() -> None:
        await ls.configured()
        ls.suggester.ahead.moved(key_of(said.text_document.uri), said.text_document.uri, said.position)

    ls.begin(begin())


def did_save(ls: MercuryServer, params: object) -> None:
    """The text is known; but some clients watch no files, and what was saved may be the rules of what is read."""
    uri = read(params, OnDocument).text_document.uri
    with contextlib.suppress(ValueError):
        ls.project.touched([path_of(uri)])


def status(ls: MercuryServer, params: object) -> dict[str, str]:
    """What the notification of the same name told last, or would have: for who comes later."""
    return ls.state


def figures(ls: MercuryServer, params: object) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(ls.suggester.account.figures())
    return found


def did_partially_accept(ls: MercuryServer, params: object) -> None:
    """Clients send it in more forms than one; what cannot be read counts for nothing."""
    try:
        said = read(params, PartlyAccepted)
    except JsonRpcInvalidParams:
        return
    arguments = (said.item.command or {}).get("arguments") or [""]
    ls.suggester.account.accepted_part(str(arguments[0]), said.accepted_length)


def did_close(ls: MercuryServer, params: object) -> None:
    uri = read(params, OnDocument).text_document.uri
    ls.session.close(uri)
    ls.suggester.forget(key_of(uri))
    ls.choice.forget(key_of(uri))
    ls.refactoring.forget(key_of(uri))
    ls.next_edits.closed(key_of(uri))
    ls.project.closed(uri)


async def execute_command(ls: MercuryServer, params: object) -> dict[str, Any] | None:
    """Do a refactoring, or record what became of a suggestion. Some clients send it as a notification, with any arguments."""
    said = read(params, Command)
    if said.command in refactor.TITLES:
        return await refactor.execute(ls, said.command, said.arguments, params)
    if said.command not in COMMANDS:
        raise JsonRpcInvalidParams(f"no such command: {said.command}")
    ls.accepted.append((said.command, tuple(said.arguments)))
    if said.command in (ACCEPTED, "github.copilot.didAcceptCompletionItem") and said.arguments:
        ls.suggester.account.accepted(str(said.arguments[0]))
    next_edit.told(ls, said.command, said.arguments)
    return copilot.finished(said.command)


HANDLERS: Mapping[str, Callable[[MercuryServer, Any], Coroutine[Any, Any, Any] | Any]] = {
    types.INITIALIZE: initialize,
    types.INITIALIZED: initialized,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: did_change_workspace_folders,
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: did_change_watched_files,
    types.WORKSPACE_EXECUTE_COMMAND: execute_command,
    types.TEXT_DOCUMENT_DID_OPEN: did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: did_change,
    types.TEXT_DOCUMENT_DID_SAVE: did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: did_close,
    types.TEXT_DOCUMENT_INLINE_COMPLETION: inline_completion,
    **next_edit.HANDLERS,
    **copilot.HANDLERS,
    **legacy.HANDLERS,
    **refactor.HANDLERS,
    "textDocument/didPartiallyAcceptCompletion": did_partially_accept,
    "mercury/stats": figures,
    "mercury/status": status,
    "mercury/didMoveCursor": did_move_cursor,
}

OPTIONS = {
    types.TEXT_DOCUMENT_DID_SAVE: types.SaveOptions(include_text=False),
    types.TEXT_DOCUMENT_INLINE_COMPLETION: types.InlineCompletionOptions(),
    **refactor.OPTIONS,
}


def build(load: Callable[[EngineConfig], Engine], overrides: Mapping[str, Any] | None = None) -> MercuryServer:
    """A server that gets its engine from `load`. `overrides` are settings that weigh more than the client's."""
    server = MercuryServer(load, overrides or {})
    for method, handler in HANDLERS.items():
        server.feature(method, OPTIONS.get(method))(handler)
    for command in (*COMMANDS, *refactor.TITLES):
        server.command(command)(execute_command)  # only for the list in the capabilities
    return server


def _set_roots(ls: MercuryServer, roots: list[str]) -> None:
    ls.suggester.roots = roots
    ls.exclude()
    ls.project.look_through(roots)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _paths(folders: object) -> list[str]:
    uris = [_mapping(folder).get("uri") for folder in folders] if isinstance(folders, Sequence) else []
    paths = []
    for uri in uris:
        if isinstance(uri, str) and uri:
            with contextlib.suppress(ValueError):
                paths.append(path_of(uri))
    return paths

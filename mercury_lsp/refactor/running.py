"""A command on its way: its target, the model, progress and cancelling. Knows no single command."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import uuid
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types

from engine.api import Canvas, ChatRequest, Draft, Engine, InfillRequest, MercuryError, PromptTooLong, Related, RewriteRequest, StopFlag
from mercury_lsp.context import shown_path
from mercury_lsp.refactor.arguments import Arguments
from mercury_lsp.refactor.canvas import CanvasView
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.target import Target
from mercury_lsp.uris import path_of

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

T = TypeVar("T")
_numbers = itertools.count(1)
_QUICK_SECONDS = 2.0  # for what can be done without the model as well
_SHOWN_AFTER = 0.3  # seconds; what is done sooner needs no bar


class TooLong(Refused):
    """The model cannot read so much."""


class Run:
    """One command about one target."""

    def __init__(self, ls: MercuryServer, target: Target, arguments: Arguments) -> None:
        self.target, self.arguments = target, arguments
        self.report: Callable[[str], None] = lambda message: None  # tells the user how far it is
        self.canvas = CanvasView(ls, target.snapshot)
        self._ls = ls
        self._key = f"command {next(_numbers)}"

    @property
    def path(self) -> str:
        """As the model is told."""
        return shown_path(self.target.snapshot.path, self._ls.suggester.roots)

    def exists(self, uri: str) -> bool:
        """Whether there is such a document, open or on disk."""
        return self._ls.session.snapshot(uri, 0, 0) is not None or Path(path_of(uri)).exists()

    def related(self) -> tuple[Related, ...]:
        """What from other files bears on the place."""
        return tuple(self._ls.suggester.related(self.target.snapshot, self._ls.suggester.settings))

    async def infill(self, request: InfillRequest) -> Draft:
        return await self._asked(lambda engine, stop: engine.infill(request, stop))

    async def rewrite(self, request: RewriteRequest, start: int, end: int) -> Draft:
        """The region is the document's characters `start`…`end`: there the user sees it being written."""

        def shown(canvas: Canvas) -> None:
            self.canvas.show(canvas, start, end)

        told = _on_loop(shown)
        return await self._asked(lambda engine, stop: engine.rewrite(request, stop, told))

    async def chat(self, request: ChatRequest, heard: Callable[[str], None]) -> Draft:
        """`heard` is called on the event loop."""
        told = _on_loop(heard)
        return await self._asked(lambda engine, stop: engine.chat(request, stop, told))

    async def quickly(self, request: InfillRequest) -> Draft | None:
        """A draft where the model is there and fast; None where one has to do without."""
        try:
            return await asyncio.wait_for(self.infill(request), _QUICK_SECONDS)
        except (TimeoutError, Refused):
            return None

    async def _asked(self, ask: Callable[[Engine, StopFlag], Draft]) -> Draft:
        try:
            draft = await self._ls.suggester.worker.call(self._key, ask)
        except PromptTooLong as error:
            raise TooLong(str(error)) from None
        except MercuryError as error:
            raise Refused(str(error)) from None
        if draft is None:
            raise Refused("no model is loaded; `mercury-lsp doctor` says what is missing")
        return draft


def _on_loop(heard: Callable[[T], None]) -> Callable[[T], None]:
    """`heard` for who calls from another thread."""
    loop = asyncio.get_running_loop()

    def told(said: T) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone
            loop.call_soon_threadsafe(heard, said)

    return told


async def with_progress(ls: MercuryServer, run: Run, title: str, token: str | int | None, work: Coroutine[Any, Any, T]) -> T:
    """Await `work` with a bar that can be cancelled: the client's own, or one that it makes for us. Raises `Refused` when cancelled."""
    task = asyncio.ensure_future(work)
    shown: str | int | None = None
    try:
        shown = await _begun(ls, title, token, task)
        if shown is not None:
            _attach(ls, run, shown, task)
        await asyncio.wait((task,))
        if task.cancelled():
            raise Refused("cancelled")
        return task.result()
    finally:
        task.cancel()  # where the request was cancelled
        run.report = lambda message: None
        run.canvas.close()
        if shown is not None:
            ls.work_done_progress.end(shown, types.WorkDoneProgressEnd())
            ls.work_done_progress.tokens.pop(shown, None)


def _attach(ls: MercuryServer, run: Run, shown: str | int, task: asyncio.Task[Any]) -> None:
    """What the run reports is shown in the bar, and the bar's button cancels it."""
    ls.work_done_progress.tokens[shown].add_done_callback(lambda future: task.cancel() if future.cancelled() else None)
    run.report = lambda message: ls.work_done_progress.report(shown, types.WorkDoneProgressReport(message=message))


async def _begun(ls: MercuryServer, title: str, token: str | int | None, task: asyncio.Task[Any]) -> str | int | None:
    """The token of a bar that is shown, None where there is none."""
    begin = types.WorkDoneProgressBegin(title=title, cancellable=True)
    if token is None:
        done, _ = await asyncio.wait((task,), timeout=_SHOWN_AFTER)
        if done or not ls.client_can("window", "workDoneProgress"):
            return None
        token = str(uuid.uuid4())
        created = ls.protocol.send_request_async(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": token})
        await asyncio.wait((created, task), return_when=asyncio.FIRST_COMPLETED)
        if not created.done() or created.exception() is not None:
            created.cancel()
            return None
    ls.work_done_progress.begin(token, begin)
    return token


def token_of(params: object) -> str | int | None:
    token = params.get("workDoneToken") if isinstance(params, Mapping) else None
    return token if isinstance(token, str | int) else None

"""What the server says to and asks of its client besides answers: log lines, progress, configuration. Knows no document."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from mercury_lsp.definitions import LANGUAGES
from mercury_lsp.languages import suffixes_of
from mercury_lsp.settings import SECTION
from mercury_lsp.walk import RULES

if TYPE_CHECKING:
    from mercury_lsp.protocol import Protocol
    from mercury_lsp.server import MercuryServer

_log = logging.getLogger(__name__)

_CONFIGURATION_SECONDS = 3.0  # a client that promises configuration and then does not answer shall not keep the model from loading


async def configuration(protocol: Protocol) -> object:
    """What the client has under our section; None where it has nothing or does not say."""
    asked = protocol.send_request_async(types.WORKSPACE_CONFIGURATION, {"items": [{"section": SECTION}]})
    try:
        answer = await asyncio.wait_for(asked, _CONFIGURATION_SECONDS)
    except TimeoutError:
        _log.warning("no configuration from the client: no answer within %.0f s", _CONFIGURATION_SECONDS)
        return None
    except Exception as error:
        _log.warning("no configuration from the client: %s", str(error) or type(error).__name__)
        return None
    return answer[0] if isinstance(answer, list) and answer else None


async def watch_files(protocol: Protocol) -> None:
    """Have the client say what happens to source files on disk, and to the rules of which may be read."""
    globs = [f"**/*.{{{','.join(suffixes_of(LANGUAGES))}}}", *(f"**/{name}" for name in RULES)]
    options = {"watchers": [{"globPattern": glob} for glob in globs]}
    registration = {"id": str(uuid.uuid4()), "method": types.WORKSPACE_DID_CHANGE_WATCHED_FILES, "registerOptions": options}
    try:
        await protocol.send_request_async(types.CLIENT_REGISTER_CAPABILITY, {"registrations": [registration]})
    except Exception as error:
        _log.warning("the client does not watch files: %s", str(error) or type(error).__name__)


async def progress(ls: MercuryServer, title: str, work: Callable[[Callable[[float], None]], Coroutine[None, None, None]]) -> None:
    """Await `work`, with a progress bar where the client can show one; it is called with what to tell which share of it is done.

    Never waits for the client. Its end says what went wrong.
    """
    begun, percent = False, 0

    def told(share: float) -> None:
        nonlocal percent
        if int(100 * share) > percent:
            percent = int(100 * share)
            if begun:
                ls.work_done_progress.report(token, types.WorkDoneProgressReport(percentage=percent))

    task = asyncio.ensure_future(work(told))
    token = str(uuid.uuid4())
    begun = ls.client_can("window", "workDoneProgress") and await _created(ls.protocol, token, task)
    if begun:
        ls.work_done_progress.begin(token, types.WorkDoneProgressBegin(title=title, percentage=percent))
    try:
        await task
    finally:
        if begun:
            error = task.exception() if task.done() and not task.cancelled() else None
            ls.work_done_progress.end(token, types.WorkDoneProgressEnd(message=None if error is None else str(error)))
            ls.work_done_progress.tokens.pop(token, None)


async def _created(protocol: Protocol, token: str, task: asyncio.Future[None]) -> bool:
    created = protocol.send_request_async(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": token})
    await asyncio.wait((created, task), return_when=asyncio.FIRST_COMPLETED)
    if not created.done():
        created.cancel()
        return False
    return created.exception() is None


@contextlib.contextmanager
def logging_to(ls: MercuryServer, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Send what the packages log to the client; on stderr it would be an error in every editor's eyes."""
    handler = _ClientLog(ls, loop)
    loggers = [logging.getLogger(name) for name in ("mercury_lsp", "engine")]
    library = logging.getLogger("pygls")
    before = [(logger, logger.level, logger.propagate) for logger in (*loggers, library)]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    library.propagate = False
    library.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        for logger, level, propagate in before:
            logger.setLevel(level)
            logger.propagate = propagate


class _ClientLog(logging.Handler):
    def __init__(self, ls: MercuryServer, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._ls = ls
        self._loop = loop
        self._last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """May be called on any thread. A line that only repeats the last one is not sent: a broken engine fails at every key."""
        message = self.format(record)
        if message != self._last:
            self._last = message
            with contextlib.suppress(RuntimeError):  # the loop is gone
                self._loop.call_soon_threadsafe(self._send, record.levelno, message)

    def _send(self, level: int, message: str) -> None:
        if level >= logging.ERROR:
            kind = types.MessageType.Error
        else:
            kind = types.MessageType.Warning if level >= logging.WARNING else types.MessageType.Info
        self._ls.window_log_message(types.LogMessageParams(type=kind, message=message))

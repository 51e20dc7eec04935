"""The commands that ask about a selection. The answer grows in a virtual document where the client has such, else in progress messages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from engine.api import ChatRequest, Draft, Turn
from mercury_lsp.indent import leading
from mercury_lsp.refactor.changes import Changes, Replace
from mercury_lsp.refactor.conversation import Conversation
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run, TooLong
from mercury_lsp.refactor.written import checks
from mercury_lsp.refactor.written.checks import Unfit

if TYPE_CHECKING:
    from mercury_lsp.server import MercuryServer

SCHEME = "mercury-answer"
_TOKENS = 256
_REFRESH_SECONDS = 0.2  # between two views of an answer that grows
_TAIL = 80  # characters of an answer that a progress message shows
_QUESTION = "What does this code do?"


async def ask(ls: MercuryServer, run: Run) -> dict[str, Any]:
    """Answer `question` (or `instruction`) about the selection; with `conversation` it goes on with that one."""
    said = run.arguments
    question = (said.question or said.instruction).strip()
    conversation = ls.refactoring.conversations.find(said.conversation) if said.conversation else None
    if said.conversation and conversation is None:
        raise Refused("that conversation is over: ask about the selection again")
    if conversation is None:
        if not run.target.selected.strip():
            raise Refused("nothing is selected")
        conversation = ls.refactoring.conversations.begin(run.target.selected.strip("\n"), run.target.language)
        question = question or _QUESTION
    if not question:
        raise Refused("there is no question")
    view = _View(ls, run, conversation)
    await view.open()
    turns, draft = await _answered(run, conversation, question, view)
    if not draft.text.strip():
        raise Refused("the model had no answer")
    conversation.answered(turns, draft.text.strip())
    view.done()
    blocks = len(conversation.blocks())
    return {"answer": draft.text.strip(), "conversation": conversation.key, "blocks": blocks, "uri": view.uri}


async def _answered(run: Run, conversation: Conversation, question: str, view: _View) -> tuple[tuple[Turn, ...], Draft]:
    """What was asked in the end and the answer: what is too long for the model loses its oldest questions after the first."""
    while True:
        turns = conversation.asked(question)
        try:
            return turns, await run.chat(ChatRequest(turns=turns, max_tokens=_TOKENS), view.grow)
        except TooLong:
            if not conversation.without_oldest():
                raise


async def apply_answer(ls: MercuryServer, run: Run) -> Changes:
    """A code block of a conversation's last answer in the place of the selection, at its depth."""
    conversation = ls.refactoring.conversations.find(run.arguments.conversation)
    blocks = conversation.blocks() if conversation is not None else []
    if not 1 <= run.arguments.block <= len(blocks):
        raise Refused("there is no such code block in the last answer" if conversation is not None else "there is no such conversation")
    target = run.target
    target.check_parsed()
    first, end = target.rows()
    lines = target.text.split("\n")
    start = sum(len(line) + 1 for line in lines[:first])
    stop = sum(len(line) + 1 for line in lines[:end]) - 1
    whole = bool(target.selected.strip())
    space = leading(lines[first])
    text = "\n".join(space + line if line.strip() else "" for line in _flush(blocks[run.arguments.block - 1]))
    replace = Replace(start, stop, text) if whole else Replace(stop, stop, f"\n{text}")
    try:
        checks.check(target, replace)
    except Unfit as fault:
        raise Refused(f"the code block cannot stand there: {fault}") from None
    return Changes((replace,))


def _flush(block: str) -> list[str]:
    """Its lines as far left as they go."""
    lines = block.split("\n")
    common = min((len(leading(line)) for line in lines if line.strip()), default=0)
    return [line[common:] for line in lines]


class _View:
    """Where the user sees an answer."""

    def __init__(self, ls: MercuryServer, run: Run, conversation: Conversation) -> None:
        self._ls, self._run, self._conversation = ls, run, conversation
        self._last = 0.0
        document = ls.client_can("workspace", "textDocumentContent")
        self.uri = f"{SCHEME}:{conversation.key}/answer.md" if document else None

    async def open(self) -> None:
        if self.uri is not None and self._ls.client_can("window", "showDocument"):
            self._ls.protocol.send_request(types.WINDOW_SHOW_DOCUMENT, {"uri": self.uri, "takeFocus": False})

    def grow(self, text: str) -> None:
        if time.monotonic() - self._last < _REFRESH_SECONDS:
            return
        self._last = time.monotonic()
        self._conversation.growing = text
        self._run.report(" ".join(text.split())[-_TAIL:])
        self._refresh()

    def done(self) -> None:
        self._refresh()
        if self.uri is None:
            answer = self._conversation.turns[-1].text
            self._ls.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message=answer))

    def _refresh(self) -> None:
        if self.uri is not None:
            self._ls.protocol.send_request("workspace/textDocumentContent/refresh", {"uri": self.uri})


def content(ls: MercuryServer, uri: str) -> str:
    """The text of a virtual document."""
    conversation = ls.refactoring.conversations.find(uri.removeprefix(f"{SCHEME}:").partition("/")[0])
    return conversation.text() if conversation is not None else ""

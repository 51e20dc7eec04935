"""What a client says with a command, typed. Knows no document."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from pygls.exceptions import JsonRpcInvalidParams

from mercury_lsp.params import Range, read
from mercury_lsp.refactor.refused import Refused

Effort = Literal["instant", "low", "medium", "high"]


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The one argument of every command. `revision` is ours: it tells the text that a code action was made for."""

    uri: str
    range: Range | None = None
    instruction: str = ""
    effort: Effort = "low"
    message: str = ""  # of the diagnostic that is to be fixed
    name: str = ""  # for what is extracted
    variant: int = 1
    revision: int | None = None
    conversation: str = ""  # of an answer
    block: int = 1  # of an answer's code blocks
    question: str = ""


def arguments(sent: list[Any]) -> Arguments:
    """Raises `Refused` that says what is wrong with them."""
    if not sent or not isinstance(sent[0], dict):
        raise Refused("the command takes an object such as {uri, range, instruction, effort}")
    try:
        return read(sent[0], Arguments)
    except JsonRpcInvalidParams as error:
        raise Refused(f"the command's arguments: {error}") from None

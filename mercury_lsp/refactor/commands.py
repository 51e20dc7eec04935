"""The commands: what each is called, what kind of action it is, where it is offered, and who does it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from lsprotocol import types

from mercury_lsp.refactor import moving, offers
from mercury_lsp.refactor.changes import Changes
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.target import Target
from mercury_lsp.refactor.written import bodies, docs, redenoising, regional, tests_beside


class Command(NamedTuple):
    """`offered` gives the titles under which it is offered for a target, none where it does not apply."""

    title: str
    kind: str
    run: Callable[[Run], Coroutine[Any, Any, Changes]]
    offered: Callable[[Target], list[str]]
    generated: bool = True  # the model writes what comes of it


# Not edits of their own: they answer, and take from an answer.
ASK, APPLY_ANSWER = "mercury.ask", "mercury.applyAnswer"

_REWRITE = types.CodeActionKind.RefactorRewrite.value
_EXTRACT = types.CodeActionKind.RefactorExtract.value
_INLINE = types.CodeActionKind.RefactorInline.value
_FIX = types.CodeActionKind.QuickFix.value
_SOURCE = types.CodeActionKind.Source.value

COMMANDS: dict[str, Command] = {
    "mercury.extractFunction": Command("Extract to a function", f"{_EXTRACT}.function", moving.extract_to_function, offers.extract, False),
    "mercury.extractVariable": Command(
        "Extract to a variable", f"{_EXTRACT}.variable", moving.extract_to_variable, offers.expression, False
    ),
    "mercury.inlineVariable": Command("Inline the variable", f"{_INLINE}.variable", moving.inline, offers.variable, False),
    "mercury.completeBody": Command("Complete the body", _REWRITE, bodies.complete_body, offers.stub),
    "mercury.commentToCode": Command("Convert the comment to code", _REWRITE, bodies.comment_to_code, offers.comment),
    "mercury.writeDocstring": Command("Write the documentation", _REWRITE, docs.docstring, offers.documentation),
    "mercury.addTypes": Command("Add type annotations", _REWRITE, regional.types, offers.types),
    "mercury.rewrite": Command("Rewrite the selection", _REWRITE, regional.instruct, offers.instruction),
    "mercury.simplify": Command("Simplify the selection", _REWRITE, regional.simplify, offers.simplify),
    "mercury.redenoise": Command("Write the selection anew", _REWRITE, redenoising.redenoise, offers.variants),
    "mercury.fix": Command("Fix", _FIX, regional.fix, offers.nowhere),
    "mercury.generateTest": Command("Generate a test beside the file", f"{_SOURCE}.test", tests_beside.generate_test, offers.test),
}

"""Has the model fill a place: code at the start of a line, or words. What comes is trimmed to what can stand there. Knows no command."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from engine.api import Draft, InfillRequest
from mercury_lsp import boundary, present
from mercury_lsp.context import near_prefix, near_suffix
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written.passes import Candidate
from mercury_lsp.syntax import Tree

_TOKENS = 220


async def codes(run: Run, before: str, after: str) -> AsyncIterator[Candidate]:
    """Drafts of the code between two texts, each with another view of what is around. What does not fit there is trimmed away.

    The first goes by what a causal reading verifies, the second by the confidence of denoising alone.
    """
    space = before[before.rfind("\n") + 1 :]
    above = before.rstrip().rpartition("\n")[2]
    request = InfillRequest(
        prefix=near_prefix(before),
        suffix=near_suffix(after),
        path=run.path,
        related=run.related(),
        multiline=True,
        dedent=boundary.stays_at(space, above, run.target.language),
        max_tokens=_TOKENS,
    )
    for draft in views(request):
        filled = await run.infill(draft)
        yield Candidate(fitted(run.target.language, before, filled.text, after), filled)


def views(request: InfillRequest) -> list[InfillRequest]:
    """The same hole seen in different ways."""

    def seen(**how: object) -> InfillRequest:
        return msgspec.structs.replace(request, **how)

    return [
        request,
        seen(verify=False),
        seen(related=()),
        seen(suffix=""),
        seen(path="", related=()),
        seen(verify=False, related=()),
        seen(verify=False, suffix=""),
        seen(prefix=request.prefix[len(request.prefix) // 2 :], verify=False),
    ]


def fitted(language: str, before: str, text: str, after: str) -> str:
    """What of a draft can stand between two texts, indented as the file is; "" for nothing."""
    whole = before + after
    line = before.count("\n")
    column = len(before) - (before.rfind("\n") + 1)
    tree = Tree.parse(whole, language)
    item = present.item(whole, line, column, text, language=language if tree is not None else "", tree=tree)
    return item.completion if item is not None else ""


async def words(run: Run, before: str, after: str, tokens: int = 40) -> AsyncIterator[Draft]:
    """Drafts of the rest of a line of prose."""
    request = InfillRequest(
        prefix=near_prefix(before), suffix=near_suffix(after), path=run.path, related=run.related(), max_tokens=tokens, multiline=False
    )
    for view in views(request):
        yield await run.infill(view)

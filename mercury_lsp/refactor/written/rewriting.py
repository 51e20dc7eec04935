"""Has the model rewrite a region as an instruction says, and redraft where it is unsure or wrong. Knows no command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from engine.api import Draft, InfillRequest, RewriteRequest
from mercury_lsp.context import near_prefix, near_suffix
from mercury_lsp.indent import leading
from mercury_lsp.refactor.changes import Changes
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written.checks import Check, check
from mercury_lsp.refactor.written.passes import Candidate, Tried, best
from mercury_lsp.refactor.written.region import Region
from mercury_lsp.syntax import Tree

_LINE_TOKENS = 64
Kept = Callable[[Tree, str], None]  # raises `Unfit` where a new text changes what was not asked for


async def rewritten(
    run: Run, region: Region, wordings: Sequence[str], *, cursor: int | None = None, kept: Kept | None = None, faults_allowed: bool = False
) -> Changes:
    """The region's new text. `wordings` say the same in different words, the best first."""

    def checked(new: str) -> None:
        tree = check(run.target, region.replace(new), faults_allowed=faults_allowed)
        if kept is not None:
            kept(tree, new)

    text = await _best(run, region, wordings, cursor, checked)
    return Changes((region.replace(text),))


async def _best(run: Run, region: Region, wordings: Sequence[str], cursor: int | None, checked: Check) -> str:
    tried = Tried()
    return await best(run, _candidates(run, region, wordings, cursor, tried), checked, tried, unchanged=region.inside)


async def _candidates(run: Run, region: Region, wordings: Sequence[str], cursor: int | None, tried: Tried) -> AsyncIterator[Candidate]:
    """Each wording's answer, and after each that changed something the same with its weakest line masked and filled again.

    Then the same in other views: without what stands below, without what other files say, without either.
    """
    below, elsewhere = near_suffix(region.after), run.related()
    for suffix, related in ((below, elsewhere), ("", elsewhere), (below, ()), ("", ())):
        for wording in wordings:
            request = RewriteRequest(
                prefix=near_prefix(region.before),
                region=region.inside,
                suffix=suffix,
                path=run.path,
                cursor=cursor,
                instruction=wording,
                related=related,
            )
            draft = await run.rewrite(request, region.start, region.end)
            text = draft.text.rstrip("\n")
            yield Candidate(text, draft)
            if text != region.inside and text.strip():
                again = await _redrafted(run, region, text, draft, tried)
                if again is not None:
                    yield again


async def _redrafted(run: Run, region: Region, text: str, draft: Draft, tried: Tried) -> Candidate | None:
    """The text with one line masked and filled again: the one with the fault, else the least likely of the new ones."""
    lines = text.split("\n")
    row = _weakest(region, lines, draft, tried)
    if row is None:
        return None
    start = sum(len(line) + 1 for line in lines[:row])
    space = leading(lines[row])
    request = InfillRequest(
        prefix=near_prefix(region.before + text[:start] + space),
        suffix=near_suffix(text[start + len(lines[row]) :] + region.after),
        path=run.path,
        related=run.related(),
        max_tokens=_LINE_TOKENS,
    )
    filled = await run.infill(request)
    if not filled.text.strip():
        return None
    return Candidate("\n".join([*lines[:row], space + filled.text, *lines[row + 1 :]]), filled)


def _weakest(region: Region, lines: list[str], draft: Draft, tried: Tried) -> int | None:
    fault = tried.fault
    if fault is not None and fault.at is not None and region.start <= fault.at <= region.start + len("\n".join(lines)):
        return "\n".join(lines)[: fault.at - region.start].count("\n")
    old = set(region.inside.split("\n"))
    new = [row for row, line in enumerate(lines) if line.strip() and line not in old]
    if not new:
        return None
    sure = _by_line(lines, draft)
    return min(new, key=lambda row: sure[row])


def _by_line(lines: list[str], draft: Draft) -> list[float]:
    """The least probability of a token in each line."""
    sure, row, at = [1.0] * len(lines), 0, 0
    ends = []
    for line in lines:
        at += len(line) + 1
        ends.append(at)
    for piece in draft.pieces:
        while row < len(lines) - 1 and piece.length > ends[row]:
            row += 1
        sure[row] = min(sure[row], piece.probability)
    return sure

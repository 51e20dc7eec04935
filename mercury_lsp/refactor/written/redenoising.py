"""Masks the selection and fills it again: up to three variants, none of them what stood there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from engine.api import InfillRequest
from mercury_lsp.context import near_prefix, near_suffix
from mercury_lsp.refactor.changes import Changes, Replace
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written import checks, filling
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.passes import PASSES, Candidate
from mercury_lsp.refactor.written.region import selected

VARIANTS = 3
_PASSES_MORE = 2  # drafts for each variant after the first
_LINE_TOKENS = 64


async def redenoise(run: Run) -> Changes:
    """The variant that is asked for, counted from 1. The effort is spent on the first; each further one may cost two passes more."""
    if not 1 <= run.arguments.variant <= VARIANTS:
        raise Refused(f"there are {VARIANTS} variants at most")
    target = run.target
    target.check_parsed()
    start, end = _span(run)
    old = target.text[start:end]
    found: list[str] = []
    reason = ""
    most = PASSES[run.arguments.effort] + _PASSES_MORE * (run.arguments.variant - 1)
    candidates = _candidates(run, start, end)
    for number in range(1, most + 1):
        run.report(f"variant {len(found) + 1}, pass {number} of {most}")
        candidate = await anext(candidates, None)
        if candidate is None:
            break
        text = candidate.text
        if not text.strip() or text == old or text in found:
            continue
        try:
            checks.check(target, Replace(start, end, text))
        except Unfit as fault:
            reason = reason or str(fault)
            continue
        found.append(text)
        if len(found) == run.arguments.variant:
            return Changes((Replace(start, end, text),))
    if found:
        raise Refused(f"there {'is one variant' if len(found) == 1 else f'are {len(found)} variants'} only")
    raise Refused(f"no draft held: {reason}" if reason else "the model writes the same again")


def _span(run: Run) -> tuple[int, int]:
    """A part of one line as it is; of more, whole lines without the first one's indentation."""
    target = run.target
    if not target.selected.strip():
        raise Refused("nothing is selected")
    if "\n" not in target.selected.strip():
        start = target.start + len(target.selected) - len(target.selected.lstrip())
        return start, start + len(target.selected.strip())
    region = selected(target)
    return region.start + len(region.inside) - len(region.inside.lstrip()), region.end


async def _candidates(run: Run, start: int, end: int) -> AsyncIterator[Candidate]:
    text = run.target.text
    before, after = text[:start], text[end:]
    line = before[before.rfind("\n") + 1 :]
    if not line.strip() and (not after or after[0] == "\n"):
        async for candidate in filling.codes(run, before, after):
            yield candidate
        return
    request = InfillRequest(
        prefix=near_prefix(before), suffix=near_suffix(after), path=run.path, related=run.related(), max_tokens=_LINE_TOKENS
    )
    for view in filling.views(request):
        draft = await run.infill(msgspec.structs.replace(view, multiline=False))
        yield Candidate(filling.fitted(run.target.language, before, draft.text, after), draft)

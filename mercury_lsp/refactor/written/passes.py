"""Spends an effort: drafts that are tried in turn, checked, and the likeliest that holds taken. Knows no command."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import MappingProxyType

from engine.api import Draft
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.written.checks import Check, Unfit

# Drafts at most. With the first two efforts the first that holds is taken, with the others the likeliest of all.
PASSES = MappingProxyType({"instant": 1, "low": 3, "medium": 4, "high": 8})
_FIRST_WINS = frozenset({"instant", "low"})


@dataclass(frozen=True)
class Candidate:
    """A new text, and what the model said with it."""

    text: str
    draft: Draft

    @property
    def likelihood(self) -> float:
        """Of a token, on average: longer texts are not less likely for being long."""
        probabilities = [max(piece.probability, 1e-9) for piece in self.draft.pieces]
        if probabilities:
            return math.exp(sum(map(math.log, probabilities)) / len(probabilities))
        return self.draft.confidence


@dataclass
class Tried:
    """What became of the last candidate, for the next one to be made of it."""

    candidate: Candidate | None = None
    fault: Unfit | None = None


async def best(run: Run, candidates: AsyncIterator[Candidate], check: Check, tried: Tried, unchanged: str | None = None) -> str:
    """The text that is taken. `unchanged` is the one that means that nothing is to change. Raises `Refused` where none holds."""
    most = PASSES[run.arguments.effort]
    good: dict[str, Candidate] = {}
    seen: set[str] = set()
    reasons: list[str] = []
    for number in range(1, most + 1):
        run.report(f"pass {number} of {most}")
        candidate = await anext(candidates, None)
        if candidate is None:
            break
        tried.candidate, tried.fault = candidate, None
        if candidate.text in seen or candidate.text == unchanged:
            continue
        seen.add(candidate.text)
        try:
            _check_whole(candidate)
            await asyncio.to_thread(check, candidate.text)
        except Unfit as fault:
            tried.fault = fault
            reasons.append(str(fault))
            continue
        good[candidate.text] = candidate
        if run.arguments.effort in _FIRST_WINS:
            break
    if good:
        return max(good.values(), key=lambda each: each.likelihood).text
    raise Refused(f"no draft held: {reasons[0]}" if reasons else "the model finds nothing to change")


def _check_whole(candidate: Candidate) -> None:
    if not candidate.text.strip():
        raise Unfit("the model wrote nothing")
    if candidate.draft.ended in ("deadline", "stopped"):
        raise Unfit("the model did not come to an end")

"""One scenario through the server's own next edits, with an engine or without: what is offered, and how long it takes. Knows no table."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
from rapidfuzz.distance import Levenshtein

from benchmarks.scenarios import Scenario
from engine.api import Draft, Engine, RewriteRequest, StopFlag
from mercury_lsp.nextedit.service import NextEdits, Offer, Rewrite
from mercury_lsp.params import Change
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.settings import Settings

_FOLDER = "/scenario"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a scenario. `wanted`: an edit was; `similarity` is of what was to change, 1 where it was changed as wanted."""

    name: str
    kind: str
    wanted: bool
    offered: str | None  # the kind of the edit
    exact: bool
    place: bool  # the edit lies in lines that are to change
    similarity: float
    ms: float
    forwards: int
    confidence: float | None = None
    draft: float | None = None  # the model's own confidence in its draft, where it was asked

    @property
    def wrong(self) -> bool:
        """Something was shown that is not wanted."""
        return self.offered is not None and not self.exact


class Asked(msgspec.Struct):
    """What the model was asked and said."""

    drafts: list[Draft] = []
    regions: list[str] = []


def attempt(scenario: Scenario, engine: Engine | None) -> Outcome:
    """Open, edit, ask. The model, where there is one, is asked in this thread."""
    asked = Asked()
    edits, snapshot = _played(scenario, engine, asked)
    started = time.perf_counter()
    offer = asyncio.run(edits.next(snapshot, anywhere=False))
    ms = (time.perf_counter() - started) * 1e3
    if scenario.is_part and offer is not None and offer.proposal.kind == "import":
        offer = None
    after = None if offer is None else _applied(scenario.text, offer)
    return Outcome(
        name=scenario.name,
        kind=scenario.kind,
        wanted=bool(scenario.after),
        offered=None if offer is None else offer.proposal.kind,
        exact=_is_wanted(scenario, after),
        place=offer is not None and any(_touches(scenario.text, each, offer) for each in scenario.after),
        similarity=_similarity(scenario.text, after if after is not None else scenario.text, scenario.after),
        ms=ms,
        forwards=sum(draft.forwards for draft in asked.drafts),
        confidence=None if offer is None else offer.proposal.confidence,
        draft=next((draft.confidence for draft, region in zip(asked.drafts, asked.regions, strict=True) if draft.text != region), None),
    )


def _is_wanted(scenario: Scenario, after: str | None) -> bool:
    if after is None or not scenario.after:
        return after is None and not scenario.after
    if scenario.with_blanks:
        return after in scenario.after
    return _without_blanks(after) in map(_without_blanks, scenario.after)


def _without_blanks(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())


def _played(scenario: Scenario, engine: Engine | None, asked: Asked) -> tuple[NextEdits, Snapshot]:
    session = Session()
    edits = NextEdits(session, Settings, lambda: [_FOLDER], lambda name: (), pause=0.0)  # whoever stopped there has typed the word
    if engine is not None:
        edits.rewrite = _asking(engine, asked)
    for path, text in scenario.documents.items():
        session.open(_uri(path), "", 1, text)
        edits.opened(_uri(path))
    for version, step in enumerate(scenario.steps, 2):
        session.change(_uri(step.path), version, [Change(step.text)])
        edits.changed(_uri(step.path))
    before = scenario.text[: scenario.cursor]
    snapshot = session.snapshot(_uri(scenario.path), before.count("\n"), len(before.rpartition("\n")[2]))
    assert snapshot is not None
    return edits, snapshot


def _asking(engine: Engine, asked: Asked) -> Rewrite:
    async def rewrite(_: str, request: RewriteRequest) -> Draft:
        asked.drafts.append(engine.rewrite(msgspec.structs.replace(request, deadline=None), StopFlag()))
        asked.regions.append(request.region)
        return asked.drafts[-1]

    return rewrite


def _uri(path: str) -> str:
    return f"file://{_FOLDER}/{path}"


def _applied(text: str, offer: Offer) -> str:
    edit = offer.proposal.edit
    return text[: edit.start] + edit.text + text[edit.end :]


def _touches(text: str, after: str, offer: Offer) -> bool:
    """Whether the edit lies within the lines between the first and the last difference."""
    start = next((at for at, (left, right) in enumerate(zip(text, after, strict=False)) if left != right), min(len(text), len(after)))
    tail = next(
        (at for at, (left, right) in enumerate(zip(text[::-1], after[::-1], strict=False)) if left != right), min(len(text), len(after))
    )
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", max(start, len(text) - tail))
    edit = offer.proposal.edit
    return edit.start <= (last if last >= 0 else len(text)) and edit.end >= first


def _similarity(before: str, after: str, wanted: Sequence[str]) -> float:
    """1 less the part of the wanted change that is still to be made; below 0 what is farther off than before counts as 0."""
    if not wanted:
        return float(after == before)
    return max(0.0, max(1 - Levenshtein.distance(after, each) / max(1, Levenshtein.distance(before, each)) for each in wanted))

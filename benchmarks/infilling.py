"""Asks a model to fill held-out holes, and sums up how well it did. Knows no terminal and no file of results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from benchmarks.figures import Share, quartiles, quotient, share_of, similarity
from benchmarks.held_out import Case
from benchmarks.typing_replay import right_part
from engine.api import Engine, StopFlag
from mercury_lsp.languages import language_of
from mercury_lsp.syntax import Tree

_FIRST = re.compile(r"\s*(\w+|\S|$)")


def first_word(text: str) -> object:
    """The first token for an engine that does not say how it cuts text."""
    found = _FIRST.match(text)
    return found and found[0]


class Contender(NamedTuple):
    """A model to be measured. `first` is the first token of a text, as the model cuts it; its confidence was fitted on `fitted_on`."""

    label: str
    engine: Engine
    first: Callable[[str], object] = first_word
    fitted_on: frozenset[str] = frozenset()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one hole. The draft is the engine's own, with verification unless said otherwise, before anything is trimmed."""

    repository: str
    language: str
    kind: str
    exact: bool  # character by character
    right: bool  # all of the draft, or the rest of the line, begins the middle: what the confidence speaks of
    similarity: float
    first_token: bool
    parses: bool | None  # no more syntax errors than the file itself has; None: no draft, or no grammar
    confidence: float
    empty: bool
    tokens: int
    forwards: int
    latency_ms: float
    exact_unverified: bool
    tokens_unverified: int
    forwards_unverified: int


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Averages over holes. Shares 0..1; tokens a forward are committed tokens ÷ forwards after prefill, verification included."""

    holes: int
    exact: Share
    similarity: float
    first_token: float
    parses: Share
    tokens_a_forward: float | None
    exact_unverified: float
    tokens_a_forward_unverified: float | None
    latency_ms: tuple[float, float, float]  # quartiles of verified drafts, prefill included


def fill(contender: Contender, case: Case) -> Outcome:
    """Fill one hole, with verification and without. The second time the prompt lies in the prefix cache."""
    draft = contender.engine.infill(case.request(verify=True), StopFlag())
    unverified = contender.engine.infill(case.request(verify=False), StopFlag())
    return Outcome(
        repository=case.file.repo,
        language=case.file.language,
        kind=case.hole.kind,
        exact=draft.text == case.middle,
        right=right_part(draft.text, case.middle).verdict == "right",
        similarity=similarity(draft.text, case.middle),
        first_token=contender.first(draft.text) == contender.first(case.middle),
        parses=_parses(case, draft.text) if draft.text else None,
        confidence=draft.confidence,
        empty=not draft.text,
        tokens=draft.tokens,
        forwards=draft.forwards,
        latency_ms=draft.latency_ms,
        exact_unverified=unverified.text == case.middle,
        tokens_unverified=unverified.tokens,
        forwards_unverified=unverified.forwards,
    )


def _parses(case: Case, text: str) -> bool | None:
    language = language_of("", case.file.path)
    faults = []
    for whole in (case.file.text, case.filled(text)):
        tree = Tree.parse(whole, language)
        found = tree.faults() if tree is not None else None
        if found is None:
            return None
        faults.append(len(found))
    return faults[1] <= faults[0]


def score(outcomes: Sequence[Outcome]) -> Score:
    """Averages over at least one outcome; every hole counts the same."""
    count = len(outcomes)
    return Score(
        holes=count,
        exact=share_of(each.exact for each in outcomes),
        similarity=sum(each.similarity for each in outcomes) / count,
        first_token=sum(each.first_token for each in outcomes) / count,
        parses=share_of(each.parses for each in outcomes if each.parses is not None),
        tokens_a_forward=quotient(sum(each.tokens for each in outcomes), sum(each.forwards for each in outcomes)),
        exact_unverified=sum(each.exact_unverified for each in outcomes) / count,
        tokens_a_forward_unverified=quotient(
            sum(each.tokens_unverified for each in outcomes), sum(each.forwards_unverified for each in outcomes)
        ),
        latency_ms=quartiles([each.latency_ms for each in outcomes]),
    )

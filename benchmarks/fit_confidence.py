"""Fits an adapter's confidence to what was right: types held-out text, asks where the server would, writes weights beside the adapter.

Every second repository of the data folder is typed to fit, the others to judge what came out. Each new adapter needs it anew.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console

from benchmarks import contenders, held_out, tables
from benchmarks.figures import Bin, calibration_error, reliability
from benchmarks.progress import told
from benchmarks.typing_replay import NO_DEADLINE_MS, right_part, root, typed
from engine import confidence
from engine.api import Draft, Engine, MercuryError, SettingInvalid, StopFlag
from engine.confidence import Calibration, Token
from engine.training.corpus import Corpus, read_corpus
from mercury_lsp.context import infill_request
from mercury_lsp.portion import cuts, likelihood
from mercury_lsp.session import Session
from mercury_lsp.settings import Settings

_LENGTH = 70  # characters of a stretch: short ones, so that they come from many files
_STEPS = 50
_TOLD_FROM = 0.2  # most parts are far less likely, and never shown


class Asked(NamedTuple):
    """A draft, what stood before it, and what was to be written there."""

    draft: Draft
    before: str
    follows: str


class Event(NamedTuple):
    """What the model said of it, as the logarithm of its odds, and whether it happened."""

    log_odds: float
    happened: bool


# ------------------------------------------------------------------------------------------------ what is learnt from


def ask(engine: Engine, stretch: held_out.Stretch) -> Iterator[Asked]:
    """Type a stretch, and ask wherever it no longer goes on as the last draft said."""
    text = stretch.file.text[stretch.start : stretch.end]
    settings = Settings(deadline_ms=NO_DEADLINE_MS)
    awaited = ""  # what is to come by the last draft
    last = 0
    for at, snapshot in typed(Session(), stretch):
        key = text[last:at]
        awaited, last = awaited[len(key) :] if awaited.startswith(key) else "", at
        if not awaited:
            request = infill_request(snapshot, settings, "automatic", [root(stretch)])
            draft = engine.infill(request, StopFlag())
            awaited = draft.text
            yield Asked(draft, request.prefix, text[at:])


def events(asked: Asked) -> tuple[list[Event], list[Event]]:
    """Of a draft's tokens up to the first wrong one: that the text goes on so; of its words: that they end there."""
    draft, tokens = asked.draft, _tokens(asked.draft)
    agreed: list[Event] = []
    ended: list[Event] = []
    start = 0
    for place, token in enumerate(tokens):
        if token.length == start:
            continue
        start = token.length
        agreed.append(Event(confidence.log_odds(token.probability), asked.follows.startswith(draft.text[:start])))
        if not agreed[-1].happened:
            break
        if confidence.ends_word(draft.text, start):
            ended.append(Event(confidence.next_log_odds(tokens, place), confidence.ends_word(asked.follows, start)))
    return agreed, ended


def _tokens(draft: Draft) -> list[Token]:
    return [Token(piece.length, piece.probability) for piece in draft.pieces]


# ------------------------------------------------------------------------------------------------ fitting


def fitted(events: Sequence[Event]) -> tuple[float, float]:
    """The likeliest `always` and `odds`, drawn a little towards taking the model at its word."""
    prior = np.array([0.0, 1.0])
    known = np.array([[1.0, event.log_odds] for event in events]).reshape(-1, 2)
    happened = np.array([event.happened for event in events], dtype=float)
    weights = prior
    for _ in range(_STEPS):  # Newton's method, held back where it would leap: the loss is convex
        chance = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (happened - chance) - (weights - prior)
        bend = (known.T * (chance * (1 - chance))) @ known + np.eye(2)
        step = np.linalg.solve(bend, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
    return float(weights[0]), float(weights[1])


def calibration(drafts: Sequence[Asked], adapter: str, repositories: Sequence[str]) -> Calibration:
    """What the drafts tell. Raises `SettingInvalid` where that makes no sense."""
    found = [events(each) for each in drafts]
    said: dict[str, object] = {"adapter": adapter, "fitted_on": repositories}
    for kind, name in enumerate(("goes_on", "word")):
        always, odds = fitted([event for each in found for event in each[kind]])
        said[name] = {"always": round(always, 3), "odds": round(odds, 3)}
    try:
        return msgspec.convert(said, Calibration)
    except msgspec.ValidationError as error:
        raise SettingInvalid(f"{len(drafts)} drafts give no calibration: {error}") from None


# ------------------------------------------------------------------------------------------------ judging


def judged(drafts: Sequence[Asked], calibration: Calibration | None) -> list[Bin]:
    """How often each part that might be shown was right, by confidence."""
    pairs = []
    for draft, before, follows in drafts:
        pieces = confidence.pieces(draft.text, _tokens(draft), calibration)
        draft = msgspec.structs.replace(draft, pieces=pieces)
        for length in cuts(draft.text, before[before.rfind("\n") + 1 :], finished=True):
            pairs.append((likelihood(draft, 0, length), right_part(draft.text[:length], follows).verdict == "right"))
    return reliability(pairs)


def table(before: Sequence[Bin], after: Sequence[Bin]) -> tables.Table:
    """What was said and what was right, by the plain product of the tokens' probabilities and by the weights."""
    by_low = [{each.low: each for each in bins} for bins in (before, after)]
    rows = [
        [f"{low:.1f}–{low + 0.1:.1f}", *(text for bins in by_low for text in _cells(bins.get(low)))]
        for low in sorted({each.low for bins in (before, after) for each in bins})
    ]
    errors = " and ".join(tables.percent(calibration_error([each for each in bins if each.low >= _TOLD_FROM])) for bins in (before, after))
    columns = ("confidence", "product: parts", "said", "right", "fitted: parts", "said", "right")
    return tables.Table(
        "Parts of drafts, in repositories that were not fitted on", columns, rows, f"Calibration errors from {_TOLD_FROM} on: {errors}."
    )


def _cells(bin: Bin | None) -> tuple[str, str, str]:
    return ("–",) * 3 if bin is None else (str(bin.shown), tables.percent(bin.confidence), tables.percent(bin.right / bin.shown))


# ------------------------------------------------------------------------------------------------ the command line


def main(argv: Sequence[str] | None = None) -> int:
    """0 when written, 1 with a line that says why not."""
    args = _arguments(argv)
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        found = _fit(args, console)
    except MercuryError as error:
        print(f"fit-confidence: {error}", file=sys.stderr)
        return 1
    if not args.dry_run:
        confidence.save(args.adapter, found)
        print(f"wrote {confidence.place_of(args.adapter)}", file=sys.stderr)
    return 0


def _fit(args: argparse.Namespace, console: Console) -> Calibration:
    from engine.checkpoints.adapter import Adapter  # brings torch

    corpus = read_corpus([args.data], held_out=True, whole=True)
    repositories = sorted(corpus.by_repo())
    own, others = repositories[::2], repositories[1::2]
    ((contender, _),) = contenders.load([args.adapter], args.base, args.dtype, args.threads)
    drafts = _drafts(contender.engine, _of(corpus, own), args, args.stretches, "typed to fit", console)
    found = calibration(drafts, Adapter(args.adapter).fingerprint, own)
    unseen = _drafts(contender.engine, _of(corpus, others), args, args.stretches // 2, "typed to judge", console)
    tables.show(table(judged(unseen, None), judged(unseen, found)), Console(highlight=False))
    return found


def _of(corpus: Corpus, repositories: Sequence[str]) -> Corpus:
    return Corpus(tuple(file for file in corpus.files if file.repo in repositories))


def _drafts(engine: Engine, corpus: Corpus, args: argparse.Namespace, count: int, what: str, console: Console) -> list[Asked]:
    languages = held_out.languages_of(corpus)
    if not languages:
        raise SettingInvalid(f"{args.data}: expected source files of two repositories at least, in a folder for each")
    stretches = held_out.draw_stretches(corpus, languages, -(-count // len(languages)), args.length, args.seed)
    return [asked for stretch in told(stretches[:count], f"stretches {what}", console) for asked in ask(engine, stretch)]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fit-confidence", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of held-out files, one folder a repository")
    parser.add_argument("--adapter", type=Path, default=contenders.shipped(), help="(default: the shipped one)")
    parser.add_argument("--base", type=Path, help="the base model, a GGUF file (default: the pulled one)")
    parser.add_argument("--stretches", type=int, default=36, help="to be typed to fit, half as many again to judge (default: %(default)s)")
    parser.add_argument("--length", type=int, default=_LENGTH, help="of a stretch, in characters (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

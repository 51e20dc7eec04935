"""Replays lines of a file being typed, and a user who accepts what is right. Knows the server's suggestions, no message and no model.

One pass for each threshold types every key and accepts nothing; what is shown at each cursor is recorded. What a user saves follows from
that: an accepted text equals what would have been typed, so the cursors after it are the same. The engine is asked once for each hole,
however many passes come to it.

The user
- types a key for each character; a line break and the indentation after it are one key, for editors indent;
- accepts with one key the whole suggestion where it equals what follows, else its first line where that is the rest of the line, else
  its first word, with what stands before it, where that comes next – each only where it ends no word midway and spares a key at least;
- looks at every cursor and never errs: what is saved is an upper bound. A second figure is for one who accepts no single words;
- is shown nothing below the threshold, and sees a suggestion as one until it is replaced: typed-through text is no new one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

import msgspec

from benchmarks.figures import range_of
from benchmarks.held_out import Stretch
from engine.api import Canvas, ChatRequest, Draft, Engine, EngineConfig, InfillRequest, RewriteRequest, StopFlag, unheard
from mercury_lsp import utf16
from mercury_lsp.ask import InlineCompletionAsk
from mercury_lsp.lines import Known
from mercury_lsp.params import Change, Identifier, Position
from mercury_lsp.session import Session, Snapshot
from mercury_lsp.settings import Settings
from mercury_lsp.suggest import Suggester, Suggestion
from mercury_lsp.worker import Worker

NO_DEADLINE_MS = 60_000  # as long as a setting may be: results must not depend on how busy the machine is
_KEY = re.compile(r"\n[ \t]*|.")
_WORD = re.compile(r"[ \t]*[^\w\s]*\w+")
_FOLDER = PurePosixPath("/replay")
Recall = Callable[[Snapshot], Known | None]


def nothing(_: Snapshot) -> Known | None:
    """Of a project that nobody has read."""
    return None


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """What was shown before a key, "" for nothing. `suggestion` numbers what was shown: it is the same while it is typed through."""

    at: int  # characters typed
    shown: str
    confidence: float  # when it first appeared
    suggestion: int


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch typed with what is likely enough being shown."""

    threshold: float
    cursors: tuple[Cursor, ...]
    asks: int  # of the engine


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch that was typed to its end, once for each threshold."""

    repository: str
    language: str
    text: str
    passes: tuple[Pass, ...]

    def at(self, threshold: float) -> Pass:
        return next(each for each in self.passes if each.threshold == threshold)


Verdict = Literal["right", "part", "wrong"]
_ACCEPTABLE: tuple[Verdict, ...] = ("right", "part")


class Right(NamedTuple):
    """The part of a suggestion that equals what follows; `right` for all of it or for the rest of the line."""

    text: str
    verdict: Verdict


class Typing(msgspec.Struct, frozen=True, kw_only=True):
    """What a user saved at a threshold, and what became of the suggestions they saw."""

    threshold: float
    keys: int  # without suggestions
    pressed: int  # with them, accepting included
    stretches: int
    saved: float  # share of the keys
    saved_range: tuple[float, float]  # 95 %, over resampled stretches
    saved_without_words: float  # by a user who accepts whole suggestions and first lines only
    accepted: int
    shown: int
    right: int
    part: int  # only the first word
    wrong: int
    asks: int  # of the engine, over all cursors


def keys(text: str) -> list[str]:
    """What one key each puts in."""
    return _KEY.findall(text)


def _key(text: str, at: int) -> str:
    found = _KEY.match(text, at)
    assert found is not None
    return found[0]


def right_part(shown: str, follows: str) -> Right:
    """What of a suggestion equals what `follows`, by the user's rule; "" for none of it."""
    if _stands(shown, follows):
        return Right(shown, "right")
    line = shown.partition("\n")[0]
    if line.strip() and line == follows.partition("\n")[0]:
        return Right(line, "right")
    word = _WORD.match(line)
    if word and _stands(word[0], follows):
        return Right(word[0], "part")
    return Right("", "wrong")


def _stands(part: str, follows: str) -> bool:
    """Whether `follows` begins with `part`, which leaves no word unfinished."""
    return bool(part) and follows.startswith(part) and re.match(r"\w\w", part[-1] + follows[len(part) : len(part) + 1]) is None


# ------------------------------------------------------------------------------------------------ with thresholds


def typing(replays: Sequence[Replay], threshold: float) -> Typing:
    """The user's account over all replays."""
    plain = sum(len(keys(each.text)) for each in replays)
    typed = [_typed(each, threshold, _ACCEPTABLE) for each in replays]
    pressed, without_words = (
        sum(each.pressed for each in some) for some in (typed, [_typed(each, threshold, ("right",)) for each in replays])
    )
    verdicts = [verdict for each in typed for verdict in each.verdicts.values()]
    return Typing(
        threshold=threshold,
        keys=plain,
        pressed=pressed,
        stretches=len(replays),
        saved=(plain - pressed) / plain if plain else 0.0,
        saved_range=range_of(saved(replays, threshold)),
        saved_without_words=(plain - without_words) / plain if plain else 0.0,
        accepted=sum(each.accepted for each in typed),
        shown=len(verdicts),
        right=verdicts.count("right"),
        part=verdicts.count("part"),
        wrong=verdicts.count("wrong"),
        asks=sum(each.at(threshold).asks for each in replays),
    )


def saved(replays: Sequence[Replay], threshold: float) -> list[tuple[float, float]]:
    """(keys saved, keys) of each replay."""
    plain = [len(keys(each.text)) for each in replays]
    return [(count - _typed(each, threshold, _ACCEPTABLE).pressed, count) for count, each in zip(plain, replays, strict=True)]


class _Typed(NamedTuple):
    pressed: int
    accepted: int
    verdicts: dict[int, Verdict]  # by suggestion, where it was seen first


def _typed(replay: Replay, threshold: float, acceptable: Sequence[Verdict]) -> _Typed:
    """One user's way through a stretch, who accepts what is `acceptable`."""
    cursors = {cursor.at: cursor for cursor in replay.at(threshold).cursors}
    verdicts: dict[int, Verdict] = {}
    at = pressed = accepted = 0
    while at < len(replay.text):
        pressed += 1
        key = _key(replay.text, at)
        cursor = cursors.get(at)
        if cursor is not None and cursor.shown:
            part = right_part(cursor.shown, replay.text[at:])
            verdicts.setdefault(cursor.suggestion, part.verdict)
            if part.verdict in acceptable and len(part.text) > len(key):
                accepted, key = accepted + 1, part.text
        at += len(key)
    return _Typed(pressed, accepted, verdicts)


def judged(replays: Sequence[Replay]) -> list[tuple[float, bool]]:
    """(confidence, right) of every suggestion where it appeared, whatever threshold it was shown at, for the reliability table."""
    pairs = []
    for replay in replays:
        first: dict[tuple[int, str], float] = {}
        for each in replay.passes:
            seen: set[int] = set()
            for cursor in each.cursors:
                if cursor.shown and cursor.suggestion not in seen:
                    seen.add(cursor.suggestion)
                    first.setdefault((cursor.at, cursor.shown), cursor.confidence)
        pairs += [(confidence, right_part(shown, replay.text[at:]).verdict == "right") for (at, shown), confidence in first.items()]
    return pairs


# ------------------------------------------------------------------------------------------------ the pass


class Remembering:
    """An engine that is asked once for each hole."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.asks = 0
        self._engine = engine
        self._drafts: dict[InfillRequest, Draft] = {}

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.asks += 1
        hole = msgspec.structs.replace(request, deadline=None)
        if hole not in self._drafts:
            self._drafts[hole] = self._engine.infill(request, stop)
        return self._drafts[hole]

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        return self._engine.rewrite(request, stop, heard)

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        return self._engine.chat(request, stop, heard)


def replay(
    engine: Engine, stretch: Stretch, thresholds: Sequence[float], deadline_ms: int = NO_DEADLINE_MS, recall: Recall = nothing
) -> Replay:
    """Type a stretch into its file, of which all the rest stands there already; `recall` is what the project's index knows of a cursor.

    Raises what the engine raises.
    """
    remembering = Remembering(engine)
    return Replay(
        repository=stretch.file.repo,
        language=stretch.file.language,
        text=stretch.file.text[stretch.start : stretch.end],
        passes=tuple(asyncio.run(_pass(remembering, stretch, threshold, deadline_ms, recall)) for threshold in thresholds),
    )


async def _pass(engine: Remembering, stretch: Stretch, threshold: float, deadline_ms: int, recall: Recall) -> Pass:
    """On the way the server goes: its session, its thread for the engine, its reuse of what is typed through."""
    session, worker = Session(), Worker(lambda _: engine, asyncio.get_running_loop())
    suggester = Suggester(session, worker)
    suggester.settings, suggester.roots = Settings(deadline_ms=deadline_ms, min_confidence=threshold), [root(stretch)]
    suggester.recall = recall
    cursors: list[Cursor] = []
    asks = engine.asks
    try:
        await worker.load(EngineConfig())
        for at, snapshot in typed(session, stretch):
            ask = InlineCompletionAsk(Identifier(snapshot.uri), Position(snapshot.line, snapshot.character_of(snapshot.column)))
            found = await suggester.suggestion(ask, snapshot)
            cursors.append(_cursor(at, found, cursors[-1] if cursors else None))
    finally:
        worker.close()
    return Pass(threshold=threshold, cursors=tuple(cursors), asks=engine.asks - asks)


def _cursor(at: int, found: Suggestion | None, last: Cursor | None) -> Cursor:
    number, confidence = (last.suggestion, last.confidence) if last else (0, 0.0)
    if found is not None and found.confidence is not None:
        number, confidence = number + 1, found.confidence
    return Cursor(at=at, shown=found.item.completion if found else "", confidence=confidence, suggestion=number)


def root(stretch: Stretch) -> str:
    """The workspace's folder while it is typed."""
    return str(_FOLDER / stretch.file.repo)


def typed(session: Session, stretch: Stretch) -> Iterator[tuple[int, Snapshot]]:
    """Type a stretch into its file, which is opened first: before each key the characters that are there, and the document."""
    whole = stretch.file.text
    before, text, after = whole[: stretch.start], whole[stretch.start : stretch.end], whole[stretch.end :]
    uri = (PurePosixPath(root(stretch)) / stretch.file.path).as_uri()
    session.open(uri, "", 0, before + after)
    at = 0
    for version, key in enumerate(keys(text)):
        session.change(uri, version, [Change(before + text[:at] + after)])
        position = _end_of(before + text[:at])
        snapshot = session.snapshot(uri, position.line, position.character)
        assert snapshot is not None
        yield at, snapshot
        at += len(key)


def _end_of(text: str) -> Position:
    return Position(text.count("\n"), utf16.units(text[text.rfind("\n") + 1 :]))

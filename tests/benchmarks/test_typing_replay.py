"""A file typed with a scripted engine: what is shown, what a user takes of it, and what that spares."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.held_out import Stretch
from benchmarks.typing_replay import Replay, judged, keys, replay, right_part, typing
from engine.api import Draft, InfillRequest, Piece, StopFlag
from engine.scripted import ScriptedEngine
from engine.training.corpus import SourceFile

HEAD = "def add(a, b):\n"
TYPED = "total = a + b\n    return total"
FILE = SourceFile(repo="owner+repo", path="src/add.py", language="python", text=f"{HEAD}    {TYPED}\n\n\nprint(add(1, 2))\n")
STRETCH = Stretch(file=FILE, start=len(HEAD) + 4, end=len(HEAD) + 4 + len(TYPED))


class Prophet:
    """Writes on as the file goes, sure of it to a degree of its own; keeps what it was asked."""

    name = "prophet"

    def __init__(self, confidence: float = 0.6) -> None:
        self.confidence = confidence
        self.requests: list[InfillRequest] = []

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.requests.append(request)
        follows = FILE.text[len(request.prefix) : STRETCH.end]
        text = follows if request.multiline else follows.partition("\n")[0]
        draft = ScriptedEngine([text]).infill(request, stop)
        return msgspec.structs.replace(draft, confidence=self.confidence)


@pytest.mark.parametrize(
    ("shown", "follows", "part", "verdict"),
    [
        ("a + b", "a + b\n    return", "a + b", "right"),
        ("a + b\n    return a", "a + b\n    return b", "a + b", "right"),  # its first line is the rest of the line
        ("a + b\n    return a", "a + b - c", "a", "part"),
        ("self.name(", "self.value(", "self", "part"),
        ("(self, x)", "(self)", "(self", "part"),
        (" + b", " + c", "", "wrong"),
        ("get", "getter()", "", "wrong"),  # would leave a word unfinished
        ("))", "),", "", "wrong"),  # no word
        ("\n    x = 1", "\n    y = 1", "", "wrong"),
        ("", "a", "", "wrong"),
    ],
)
def test_what_is_right_of_a_suggestion(shown: str, follows: str, part: str, verdict: str) -> None:
    assert right_part(shown, follows) == (part, verdict)


def test_a_break_and_the_indentation_after_it_are_one_key() -> None:
    assert keys("a:\n    b\n\n  c") == ["a", ":", "\n    ", "b", "\n", "\n  ", "c"]


def test_the_engine_is_asked_as_the_server_asks_it() -> None:
    prophet = Prophet()
    replay(prophet, STRETCH, [0.5])
    first = prophet.requests[0]
    assert first.prefix == HEAD + "    "
    assert first.suffix == "\n\n\nprint(add(1, 2))\n"
    assert first.path == "src/add.py"
    assert first.multiline  # the line is blank


def test_one_right_suggestion_is_one_ask_and_one_key() -> None:
    done = replay(Prophet(), STRETCH, [0.5])
    assert (done.repository, done.language, done.text) == ("owner+repo", "python", TYPED)
    cursors = done.at(0.5).cursors
    assert len(cursors) == len(keys(TYPED))
    assert [(cursor.shown, cursor.suggestion) for cursor in cursors[:3]] == [(TYPED, 1), (TYPED[1:], 1), (TYPED[2:], 1)]
    account = typing([done], 0.5)
    assert (account.asks, account.shown, account.right, account.wrong) == (1, 1, 1, 0)
    assert (account.keys, account.pressed, account.accepted) == (len(keys(TYPED)), 1, 1)
    assert account.saved == account.saved_without_words == pytest.approx(1 - 1 / len(keys(TYPED)))


def test_below_the_threshold_nothing_is_shown() -> None:
    account = typing([replay(Prophet(0.6), STRETCH, [0.5, 0.7])], 0.7)
    assert (account.shown, account.accepted, account.saved) == (0, 0, 0)
    assert account.pressed == account.keys


def test_a_wrong_suggestion_spares_nothing_and_counts_once() -> None:
    done = replay(ScriptedEngine(["print(a)"]), STRETCH, [0.0])
    account = typing([done], 0.0)
    assert (account.shown, account.wrong, account.saved) == (1, 1, 0)
    assert judged([done]) == [(1.0, False)]


def test_a_word_is_accepted_and_the_rest_is_typed() -> None:
    account = typing([replay(ScriptedEngine(["total = b"]), STRETCH, [0.0])], 0.0)
    assert (account.shown, account.part, account.accepted) == (1, 1, 1)
    assert account.keys - account.pressed == len("total") - 1
    assert account.saved_without_words == 0


def test_what_is_shown_late_spares_what_is_left() -> None:
    done = replay(Prophet(), STRETCH, [0.0])
    (only,) = done.passes
    late = msgspec.structs.replace(only, cursors=tuple(each for each in only.cursors if each.at >= 8))
    assert typing([msgspec.structs.replace(done, passes=(late,))], 0.0).pressed == 8 + 1


class Doubtful(Prophet):
    """Surer of a line's first word than of the rest."""

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        draft = super().infill(request, stop)
        first = len(draft.text.partition(" ")[0])
        pieces = (Piece(first, 0.9, 0.9, 0.9), Piece(len(draft.text), 0.5, 0.45, 0.45))
        return msgspec.structs.replace(draft, confidence=0.45, pieces=pieces)


def test_each_threshold_has_its_own_suggestions_and_the_engine_one_ask_a_hole() -> None:
    engine = Doubtful()
    done = replay(engine, STRETCH, [0.4, 0.8, 0.95])
    assert [done.at(threshold).cursors[0].shown for threshold in (0.4, 0.8, 0.95)] == [TYPED, "total", ""]
    assert len(engine.requests) == len({(request.prefix, request.multiline) for request in engine.requests})
    assert [each.asks for each in done.passes] == [1, 1, 1]
    saved = [typing([done], threshold).saved for threshold in (0.4, 0.8, 0.95)]
    assert saved == sorted(saved, reverse=True)
    assert {(round(confidence, 2), right) for confidence, right in judged([done])} >= {(0.45, True), (0.9, True)}


def test_who_accepts_comes_to_what_was_recorded_of_typing_it_all() -> None:
    """A session that begins where the accepted text ends shows what the one pass recorded there."""
    drafts = {"    ": "total = a", "    total = a": " + b", "    total = a + b": "", "    return": " total"}

    class Lines(Prophet):
        def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
            return ScriptedEngine([drafts.get(request.prefix.rpartition("\n")[2], "")]).infill(request, stop)

    recorded = {cursor.at: cursor.shown for cursor in replay(Lines(), STRETCH, [0.5]).at(0.5).cursors}
    for accepted in ("", "total = a", "total = a + b", "total = a + b\n    return"):
        cursors = replay(Lines(), Stretch(file=FILE, start=STRETCH.start + len(accepted), end=STRETCH.end), [0.5]).at(0.5).cursors
        assert [cursor.shown for cursor in cursors] == [recorded[len(accepted) + cursor.at] for cursor in cursors]
    assert recorded[0] == "total = a"
    assert recorded[len("total = a")] == " + b"


def test_nothing_typed_is_nothing_saved() -> None:
    assert typing([], 0.5).saved == 0
    assert judged([Replay(repository="r", language="python", text="a", passes=())]) == []

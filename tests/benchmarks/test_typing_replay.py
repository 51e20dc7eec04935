"""A file typed with a scripted engine: what is shown, what a user takes of it, and what that spares."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.held_out import Stretch
from benchmarks.typing_replay import Replay, judged, keys, replay, right_part, typing
from engine.api import Draft, InfillRequest, StopFlag
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
    replay(prophet, STRETCH)
    first = prophet.requests[0]
    assert first.prefix == HEAD + "    "
    assert first.suffix == "\n\n\nprint(add(1, 2))\n"
    assert first.path == "src/add.py"
    assert first.multiline  # the line is blank


def test_one_right_suggestion_is_one_ask_and_one_key() -> None:
    done = replay(Prophet(), STRETCH)
    assert done.text == TYPED
    assert len(done.cursors) == len(keys(TYPED))
    assert [cursor.shown for cursor in done.cursors[:3]] == [TYPED, TYPED[1:], TYPED[2:]]
    account = typing([done], 0.5)
    assert (account.asks, account.shown, account.right, account.wrong) == (1, 1, 1, 0)
    assert (account.keys, account.pressed, account.accepted) == (len(keys(TYPED)), 1, 1)
    assert account.saved == account.saved_without_words == pytest.approx(1 - 1 / len(keys(TYPED)))


def test_below_the_threshold_nothing_is_shown() -> None:
    account = typing([replay(Prophet(0.6), STRETCH)], 0.7)
    assert (account.shown, account.accepted, account.saved) == (0, 0, 0)
    assert account.pressed == account.keys


def test_a_wrong_suggestion_spares_nothing_and_counts_once() -> None:
    done = replay(ScriptedEngine(["print(a)"]), STRETCH)
    account = typing([done], 0.0)
    assert (account.shown, account.wrong, account.saved) == (1, 1, 0)
    assert judged([done]) == [(1.0, False)]


def test_a_word_is_accepted_and_the_rest_is_typed() -> None:
    account = typing([replay(ScriptedEngine(["total = b"]), STRETCH)], 0.0)
    assert (account.shown, account.part, account.accepted) == (1, 1, 1)
    assert account.keys - account.pressed == len("total") - 1
    assert account.saved_without_words == 0


def test_what_is_shown_late_spares_what_is_left() -> None:
    done = replay(Prophet(), STRETCH)
    late = msgspec.structs.replace(done, cursors=tuple(each for each in done.cursors if each.at >= 8))
    assert typing([late], 0.0).pressed == 8 + 1


def test_who_accepts_comes_to_what_was_recorded_of_typing_it_all() -> None:
    """A session that begins where the accepted text ends shows what the one pass recorded there."""
    drafts = {"    ": "total = a", "    total = a": " + b", "    total = a + b": "", "    return": " total"}

    class Lines(Prophet):
        def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
            return ScriptedEngine([drafts.get(request.prefix.rpartition("\n")[2], "")]).infill(request, stop)

    recorded = {cursor.at: cursor.shown for cursor in replay(Lines(), STRETCH).cursors}
    for accepted in ("", "total = a", "total = a + b", "total = a + b\n    return"):
        onward = replay(Lines(), Stretch(file=FILE, start=STRETCH.start + len(accepted), end=STRETCH.end))
        assert [cursor.shown for cursor in onward.cursors] == [recorded[len(accepted) + cursor.at] for cursor in onward.cursors]
    assert recorded[0] == "total = a"
    assert recorded[len("total = a")] == " + b"


def test_nothing_typed_is_nothing_saved() -> None:
    assert typing([], 0.5).saved == 0
    assert judged([Replay(language="python", text="a", cursors=())]) == []

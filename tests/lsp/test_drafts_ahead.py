"""Drafts before anybody asks: for clients that let the keys rest, from an engine that costs nothing more, never in a suggestion's way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from lsp_client import URI, Client, in_process

from engine.api import Draft, InfillRequest, StopFlag
from engine.scripted import ScriptedEngine
from mercury_lsp.ahead import cursor_after
from mercury_lsp.params import Change, Position, Range

HIDDEN = "file:///project/.env"


class Recording(ScriptedEngine):
    """Drafts the same for every hole, and keeps what it was asked."""

    drafts_freely = True

    def __init__(self, text: str) -> None:
        super().__init__([text] * 99)
        self.prefixes: list[str] = []

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.prefixes.append(request.prefix)
        return super().infill(request, stop)


@contextmanager
def resting(engine: ScriptedEngine) -> Iterator[Client]:
    """A client that has asked for two suggestions, the second long after the change before."""
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = 1\n")
        ask(client, 0, 5)  # by then the server has all it needs
        insert(client, 1, 0, "a")
        time.sleep(0.4)
        ask(client, 1, 1)
        yield client


def insert(client: Client, line: int, character: int, text: str) -> None:
    place = {"line": line, "character": character}
    client.versions[URI] = version = client.versions.get(URI, 1) + 1
    change = {"range": {"start": place, "end": place}, "text": text}
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [change]})


def ask(client: Client, line: int, character: int, kind: int = 2) -> list[str]:
    document, position = {"uri": URI}, {"line": line, "character": character}
    answer = client.call(
        "textDocument/inlineCompletion", {"textDocument": document, "position": position, "context": {"triggerKind": kind}}
    )
    return [item["insertText"] for item in answer["items"]]


def until(engine: Recording, count: int) -> None:
    end = time.monotonic() + 20
    while len(engine.prefixes) < count and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.05)  # for the draft to arrive, and for a further one that ought not to
    assert len(engine.prefixes) == count, engine.prefixes


def test_the_draft_is_there_when_a_client_asks_that_let_the_keys_rest() -> None:
    engine = Recording("lpha = 2")
    with resting(engine) as client:
        insert(client, 1, 1, "\n")
        insert(client, 2, 0, "b")
        until(engine, 3)
        assert engine.prefixes[-1].endswith("a\nb")
        assert ask(client, 2, 1) == ["blpha = 2"]
        assert len(engine.prefixes) == 3


def test_a_client_that_asks_with_every_key_gets_none_ahead() -> None:
    """In one of a few tries: on a busy machine an ask that follows at once may seem to come late."""
    engine = Recording("lpha = 2")
    with resting(engine) as client:
        ahead = []
        for column in range(1, 11, 2):
            insert(client, 1, column, "z")
            ask(client, 1, column + 1)
            asked = len(engine.prefixes)
            insert(client, 1, column + 1, "q")
            time.sleep(0.3)
            ahead.append(len(engine.prefixes) - asked)
            ask(client, 1, column + 2)
        assert 0 in ahead


def test_a_script_is_not_used_up() -> None:
    with resting(ScriptedEngine(["zero", "one", "two", "three"])) as client:
        insert(client, 1, 1, "z")
        time.sleep(0.3)
        assert ask(client, 1, 2) == ["aztwo"]


def test_after_a_wrong_guess_the_engine_is_asked() -> None:
    engine = Recording("lpha = 2")
    with resting(engine) as client:
        insert(client, 1, 1, "z")
        until(engine, 3)
        ask(client, 0, 1)
        assert engine.prefixes[2:] == ["x = 1\naz", "x"]


def test_a_pair_that_the_editor_closed_in_what_is_shown_leaves_it() -> None:
    engine = Recording("[b]")
    with resting(engine) as client:
        insert(client, 1, 1, "[]")
        time.sleep(0.3)
        assert ask(client, 1, 2) == ["a[b]"]
        assert len(engine.prefixes) == 2


def test_what_is_known_is_not_drafted_again() -> None:
    engine = Recording("lpha = 2")
    with resting(engine) as client:
        insert(client, 1, 1, "l")
        time.sleep(0.3)
        assert ask(client, 1, 2) == ["alpha = 2"]
        assert len(engine.prefixes) == 2


def test_who_asks_with_a_key_gets_a_draft_of_its_own() -> None:
    engine = Recording("lpha = 2")
    with resting(engine) as client:
        insert(client, 1, 1, "z")
        until(engine, 3)
        assert ask(client, 1, 2, kind=1)
        assert len(engine.prefixes) > 3


def test_where_the_cursor_was_put_is_read_before_the_first_key() -> None:
    engine = Recording("lpha = 2")
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = 1\na\n")
        put(client, 1, 1)
        until(engine, 1)
        assert engine.prefixes == ["x = 1\na"]
        assert ask(client, 1, 1) == ["alpha = 2"]
        put(client, 1, 1)  # what is shown there is not drafted again
        time.sleep(0.2)
        assert len(engine.prefixes) == 1


def put(client: Client, line: int, character: int) -> None:
    client.notify("mercury/didMoveCursor", {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})


@pytest.mark.parametrize(
    "params", [None, {}, {"textDocument": {"uri": URI}}, {"textDocument": {"uri": "file:///no"}, "position": {"line": 0}}]
)
def test_a_cursor_that_cannot_be_read_harms_nothing(params: object) -> None:
    with in_process(lambda _: Recording("lpha = 2")) as client:
        client.initialize()
        client.open("x = 1\na\n")
        client.notify("mercury/didMoveCursor", params)
        put(client, 99, 99)
        assert ask(client, 1, 1) == ["alpha = 2"]


def test_a_hidden_file_is_not_read_ahead() -> None:
    engine = Recording("lpha = 2")
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.notify("textDocument/didOpen", {"textDocument": {"uri": HIDDEN, "languageId": "shellscript", "version": 1, "text": "KEY=a"}})
        document, position = {"uri": HIDDEN}, {"line": 0, "character": 5}
        client.notify("mercury/didMoveCursor", {"textDocument": document, "position": position})
        client.open("x = 1\n")
        ask(client, 0, 5)
        assert engine.prefixes == ["x = 1"]


@pytest.mark.parametrize(
    ("text", "line", "character"),
    [("a", 3, 5), ("", 3, 4), ("()", 3, 5), ("a()", 3, 7), ("a\n  b", 4, 3), ("a\r\nb", 4, 1), ("😀", 3, 6), ("x\n", 4, 0)],
)
def test_where_the_cursor_stands_after_a_change(text: str, line: int, character: int) -> None:
    spot = Position(3, 4)
    assert cursor_after(Change(text, Range(spot, Position(3, 9)))) == Position(line, character)


def test_a_whole_text_says_nothing_of_the_cursor() -> None:
    assert cursor_after(Change("x = 1\n")) is None

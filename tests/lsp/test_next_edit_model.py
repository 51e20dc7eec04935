"""The model's next edits: what of its rewriting is shown, and that it gives way to a suggestion at the cursor and to every key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from lsp_client import PATIENCE, URI, Client, in_process, within

from engine.api import Canvas, Draft, InfillRequest, RequestInvalid, RewriteRequest, StopFlag, unheard
from engine.scripted import ScriptedEngine

BEFORE = "def summary(values):\n    low = min(values)\n    high = 1\n    return low, high\n"
AFTER = BEFORE.replace("high = 1", "high = max(values)")
WANTED = AFTER.replace("low, high", "low, high, values")


class Rewriter(ScriptedEngine):
    """Rewrites a region as the test says, this sure."""

    def __init__(self, rewrite: Any, confidence: float = 0.9, ended: str = "end") -> None:
        super().__init__([])
        self.asked: list[RewriteRequest] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.stopped = threading.Event()
        self._rewrite, self._confidence, self._ended = rewrite, confidence, ended

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        return ScriptedEngine(["# hello"]).infill(request, stop)

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        self.asked.append(request)
        self.begun.set()
        while not self.go_on.wait(0.01):
            if stop.is_set():
                self.stopped.set()
                return self._draft_of(request.region, "stopped")
        return self._draft_of(self._rewrite(request.region), self._ended)

    def _draft_of(self, text: str, ended: Any) -> Draft:
        (draft,) = (ScriptedEngine([text]).rewrite(RewriteRequest(prefix="", region="", suffix=""), StopFlag()),)
        return Draft(**{name: getattr(draft, name) for name in draft.__struct_fields__} | {"confidence": self._confidence, "ended": ended})


def changed(client: Client) -> None:
    client.initialize()
    client.open(BEFORE)
    client.change({"text": AFTER})


def ask(client: Client) -> int:
    document = {"uri": URI, "version": client.versions[URI]}
    return client.request("textDocument/copilotInlineEdit", {"textDocument": document, "position": {"line": 2, "character": 4}})


def edits(client: Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.answer(ask(client))["result"]["edits"]
    return found


def test_what_the_model_writes_is_an_edit_of_the_lines_that_it_changed() -> None:
    engine = Rewriter(lambda region: region.replace("low, high", "low, high, values"))
    with in_process(lambda _: engine) as client:
        changed(client)
        (edit,) = edits(client)
        assert edit["text"] == "    return low, high, values\n"
        assert edit["range"] == {"start": {"line": 3, "character": 0}, "end": {"line": 4, "character": 0}}
        (request,) = engine.asked
        assert request.prefix + request.region + request.suffix == AFTER
        assert request.history[-1].diff.split("\n")[-2:] == ["-    high = 1", "+    high = max(values)"]
        assert request.path == "main.py" and request.cursor is not None


@pytest.mark.parametrize(
    ("rewrite", "how"),
    [
        (lambda region: region, {}),  # nothing to change
        (lambda region: region.replace("low, high", "low, values"), {"confidence": 0.4}),
        (lambda region: region.replace("low, high", "low, values"), {"ended": "deadline"}),
        (lambda region: region.replace("low, high", "low, hihg"), {}),  # a name that is nowhere
        (lambda region: region.replace("low, high", "low, (high"), {}),  # broken syntax
        (lambda region: region.replace("max(values)", "1"), {}),  # what the user took away
        (lambda region: "\n".join(f"low = {number}" for number in range(12)), {}),  # all of it
        (lambda region: "", {}),
    ],
    ids=["same", "unsure", "cut", "unknown", "broken", "undone", "all", "empty"],
)
def test_what_is_not_shown(rewrite: Any, how: dict[str, Any]) -> None:
    engine = Rewriter(rewrite, **how)
    with in_process(lambda _: engine) as client:
        changed(client)
        assert edits(client) == [] and len(engine.asked) == 1


def test_the_model_sees_what_was_looked_at_in_another_document() -> None:
    engine = Rewriter(lambda region: region)
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("def helper():\n    return 1\n", uri="file:///project/other.py")
        client.notify("textDocument/didFocus", {"textDocument": {"uri": "file:///project/other.py"}})
        client.open(BEFORE)
        client.change({"text": AFTER})
        assert edits(client) == []
        assert [(each.path, each.text) for each in engine.asked[0].related] == [("other.py", "def helper():\n    return 1")]


def test_the_model_is_asked_about_what_is_complained_of() -> None:
    engine = Rewriter(lambda region: region.replace("total(1)", "total(1, 2)"))
    text = "first = 1\nsecond = 2\n" + "\n" * 40 + "print(total(1))\n"
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("def total(a):\n    return a\n" + text)
        client.change({"text": "def total(a):\n    return a\n" + text.replace("first = 1", "first = 3")})
        place = {"start": {"line": 44, "character": 6}, "end": {"line": 44, "character": 14}}
        known = [{"range": place, "message": "missing argument 2\nin the call"}]
        document = {"uri": URI, "version": client.versions[URI]}
        params = {"textDocument": document, "position": {"line": 2, "character": 0}, "diagnostics": known}
        client.call("textDocument/copilotInlineEdit", params)
        assert engine.asked[-1].instruction == ""  # it is far from the change: nobody knows whether it is new
        text = "def total(a):\n    return a\n" + text.replace("first = 1", "first = 4")
        client.change({"text": text})
        params = {**params, "textDocument": {"uri": URI, "version": client.versions[URI]}}
        params["diagnostics"] = [*known, {"range": place, "message": "expected 2 arguments"}]
        (edit,) = client.call("textDocument/copilotInlineEdit", params)["edits"]
        request = engine.asked[-1]
        assert request.instruction == "fix: expected 2 arguments" and request.region[request.cursor :].startswith("total(1)")
        assert edit["range"]["start"]["line"] == 44 and edit["text"] == "print(total(1, 2))\n"


def test_a_model_that_cannot_rewrite_is_no_fault() -> None:
    def refuse(region: str) -> str:
        raise RequestInvalid("it was not trained to")

    with in_process(lambda _: Rewriter(refuse)) as client:
        changed(client)
        assert edits(client) == edits(client) == []
        assert not client.received("window/showMessage")


def test_the_model_is_not_asked_where_the_tree_tells_and_where_code_is_only_added() -> None:
    engine = Rewriter(lambda region: region)
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("a = 1\nprint(a)\n")
        client.change({"text": "a = 1\nprint(a)\nprint(2)\n"})
        assert edits(client) == []
        client.change({"text": "b = 1\nprint(a)\nprint(2)\n"})
        assert len(edits(client)) == 1
        assert engine.asked == []


def test_a_suggestion_at_the_cursor_goes_first() -> None:
    engine = Rewriter(lambda region: region.replace("low, high", "low, high, values"))
    engine.go_on.clear()
    with in_process(lambda _: engine) as client:
        changed(client)
        waiting = ask(client)
        assert engine.begun.wait(PATIENCE)
        (item,) = client.items(2, 22)
        assert item["insertText"].endswith("# hello")
        assert engine.stopped.is_set() and client.answer(waiting)["result"] == {"edits": []}


def test_a_key_ends_it() -> None:
    engine = Rewriter(lambda region: region.replace("low, high", "low, high, values"))
    engine.go_on.clear()
    with in_process(lambda _: engine) as client:
        changed(client)
        waiting = ask(client)
        assert engine.begun.wait(PATIENCE)
        client.change({"text": AFTER.replace("values)\n", "values) + 1\n")})
        assert client.answer(waiting)["result"] == {"edits": []}
        assert engine.stopped.wait(PATIENCE)
        engine.go_on.set()
        assert len(edits(client)) == 1


def test_a_newer_question_ends_the_older_and_a_cancel_ends_it_too() -> None:
    engine = Rewriter(lambda region: region.replace("low, high", "low, high, values"))
    engine.go_on.clear()
    with in_process(lambda _: engine) as client:
        changed(client)
        older = ask(client)
        assert engine.begun.wait(PATIENCE)
        newer = ask(client)
        assert client.answer(older)["result"] == {"edits": []}
        assert within(lambda: len(engine.asked) == 2)
        client.notify("$/cancelRequest", {"id": newer})
        assert client.answer(newer)["error"]["code"] == -32800
        engine.go_on.set()
        assert len(edits(client)) == 1

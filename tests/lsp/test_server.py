"""The server over its streams: text in, text out."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from lsp_client import PATIENCE, URI, Client, accept, cut, in_process, process, scripted, utf16_length, within

from engine.api import Draft, InfillRequest, StopFlag
from engine.scripted import ScriptedEngine
from mercury_lsp.server import COMMANDS

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("presentation.json").read_text(encoding="utf-8"))
NOT_OURS = ["textDocument/didFocus", "textDocument/didShowCompletion", "textDocument/didPartiallyAcceptCompletion", "$/whatever"]


def at(text: str, line: int, start: int, end: int) -> dict[str, object]:
    return {"range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}, "text": text}


def check(marked: str, draft: str, after: str, *, language: str = "python", **how: object) -> None:
    """A document with its cursor, and a draft → the document after accepting."""
    with scripted(draft) as client:
        client.initialize()
        text, line, character = cut(marked)
        client.open(text, language=language)
        (item,) = client.items(line, character, **how)  # type: ignore[arg-type]
        assert item["range"]["start"] == {"line": line, "character": 0}
        assert accept(text, item) == after


# ------------------------------------------------------------------------------------------------ the item


def test_item() -> None:
    with scripted("rn a + b") as client:
        client.initialize()
        client.open("def f(a, b):\n    retu\n")
        assert client.items(1, 8) == [
            {
                "insertText": "    return a + b",
                "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 8}},
                "command": {"title": "Accept suggestion", "command": "mercury.didAcceptCompletionItem", "arguments": ["1"]},
            }
        ]


def outcome(client: Client, case: dict[str, Any]) -> str | None:
    """What a case's document is once what is shown there is accepted; None where nothing is."""
    text, line, character = cut(case["before"])
    client.open(text, language=case["language"])
    popup = {}
    if "selected" in case:
        start = character - len(case["selected"]["replaces"])
        popup = {"selectedCompletionInfo": {**at("", line, start, character), "text": case["selected"]["text"]}}
    items = client.items(line, character, **popup)
    if not items:
        return None
    current = text.replace("\r\n", "\n").split("\n")[line]
    assert items[0]["range"] == at("", line, 0, utf16_length(current))["range"]
    return accept(text, items[0])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_presentation_cases_over_the_wire(case: dict[str, Any]) -> None:
    with scripted(case["draft"]) as client:
        client.initialize()
        assert outcome(client, case) in case["after"], case["why"]


def test_presentation_cases_one_after_the_other_in_one_process(tmp_path: Path) -> None:
    """In a workspace, and all of them in the same document: nothing of what was seen before may come in between."""
    (tmp_path / "script.json").write_text(json.dumps([case["draft"] for case in CASES]))
    with process("--model", f"scripted:{tmp_path / 'script.json'}") as client:
        client.initialize(rootUri=tmp_path.as_uri())
        wrong = [case["name"] for case in CASES if outcome(client, case) not in case["after"]]
        assert wrong == []
        client.open("x = ")
        assert client.items(0, 4) == []  # the script is at its end


def test_a_byte_order_mark_stays_where_it_is() -> None:
    with scripted("rt os") as client:
        client.initialize()
        client.open("\ufeffimpo\nx = 1\n")
        (item,) = client.items(0, 5)
        assert item["range"] == at("", 0, 0, 5)["range"] and item["insertText"] == "\ufeffimport os"


def test_nothing_comes_before_a_byte_order_mark() -> None:
    with scripted("import os") as client:
        client.initialize()
        client.open("\ufeff\nx = 1\n")
        assert client.items(0, 0) == []
        assert client.items(0, 1)[0]["insertText"] == "\ufeffimport os"


def test_the_clients_own_indentation() -> None:
    with scripted("\n    return 1") as client:
        client.initialize()
        client.open("def f():")
        place = {"textDocument": {"uri": URI, "version": 1}, "position": {"line": 0, "character": 8}}
        more = {"context": {"triggerKind": 1}, "formattingOptions": {"tabSize": 4, "insertSpaces": False}}
        answer = client.call("textDocument/inlineCompletion", {**place, **more})
        assert answer["items"][0]["insertText"] == "def f():\n\treturn 1"


# ------------------------------------------------------------------------------------------------ the text in between


def test_edits_arrive() -> None:
    with scripted("ay(1)") as client:
        client.initialize()
        client.open("s = '😀'\r\nx\r\n")
        client.change(at("名前", 0, 8, 8), at("arr", 1, 0, 1))
        (item,) = client.items(1, 3)
        assert accept("s = '😀'名前\r\narr\r\n", item) == "s = '😀'名前\r\narray(1)\r\n"
        client.change({"text": "print"})
        assert client.items(0, 5) == []  # the script is at its end; what matters is that the position is there


def test_nothing_for_a_document_that_is_not_open_or_a_place_that_is_not_there() -> None:
    with scripted("a", "b") as client:
        client.initialize()
        assert client.items(0, 0) == []
        client.open("x = ")
        assert client.items(7, 0) == []
        client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert client.items(0, 4) == []


def test_typing_along_is_answered_from_the_last_draft() -> None:
    with scripted("rn total") as client:
        client.initialize()
        client.open("retu\n")
        for typed in ("retu", "retur", "return", "return t", "retur"):
            client.change({"text": typed + "\n"})
            (item,) = client.items(0, len(typed), kind=2)
            assert item["insertText"] == "return total"
        client.change({"text": "retry\n"})
        assert client.items(0, 5, kind=2) == []
        client.change({"text": "retu\n"})
        assert client.items(0, 4, kind=2) == []


# ------------------------------------------------------------------------------------------------ commands and strangers


def test_commands_are_recorded_however_they_come() -> None:
    with scripted() as client:
        offered = client.initialize()["capabilities"]["executeCommandProvider"]["commands"]
        assert set(COMMANDS) <= set(offered)
        for command in COMMANDS:
            for arguments in ({}, {"arguments": []}, {"arguments": ["1", {"more": 2}, 3]}, {"arguments": None}):
                answer = client.call("workspace/executeCommand", {"command": command, **arguments})
                assert (answer is None) != command.endswith("finishDeviceFlow")  # which says who is signed in
                client.notify("workspace/executeCommand", {"command": command, **arguments})
        client.notify("workspace/executeCommand", {"command": "no.such"})
        client.notify("workspace/executeCommand")
        assert client.error("workspace/executeCommand", {"command": "no.such"}) == -32602
        assert client.received("window/showMessage") == []


def test_copilots_notifications_are_borne_in_silence() -> None:
    with scripted() as client:
        client.initialize({"editorInfo": {"name": "x", "version": "1"}, "editorPluginInfo": {"name": "y", "version": "2"}})
        for method in NOT_OURS:
            for params in ({}, None, {"textDocument": {"uri": URI}}, [1]):
                client.notify(method, params)
            client.send({"jsonrpc": "2.0", "method": method})
        assert client.items(0, 0) == []
        said = {message["method"] for message in client.messages if "method" in message}
        assert said <= {"didChangeStatus", "statusNotification"}  # which Copilot's clients wait for


# ------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize("configured", [True, False])
def test_settings_from_either_source(configured: bool) -> None:
    with scripted("a + b", "c + d") as client:
        client.capabilities["workspace"] = {"configuration": configured}
        client.configuration = {"languages": {"python": False}}
        client.initialize(None if configured else client.configuration)
        client.open("x = ")
        assert client.items(0, 4) == []
        client.configuration = {"languages": {"python": True}}
        client.notify("workspace/didChangeConfiguration", {"settings": None if configured else {"mercury": client.configuration}})
        assert within(lambda: client.items(0, 4))  # where the client is asked first, that takes a moment


def test_a_bad_setting_is_named_once_and_the_others_hold() -> None:
    with scripted("a + b") as client:
        options = {"deadlineMs": "soon", "languages": {"go": False}}
        client.initialize(options)
        message = client.notified("window/showMessage")
        assert message["type"] == 2 and "mercury.deadlineMs" in message["message"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"deadlineMs": "soon"}}})
        client.open("x = ", language="go")
        assert client.items(0, 4) == []
        client.open("x = ")
        assert len(client.items(0, 4)) == 1
        assert len(client.received("window/showMessage")) == 1


def test_an_unknown_key_is_logged_only() -> None:
    with scripted() as client:
        client.initialize({"colour": "red"})
        assert "colour" in client.notified("window/logMessage")["message"]
        assert client.received("window/showMessage") == []


def test_the_command_line_weighs_more() -> None:
    with scripted("a + b", overrides={"languages": {"python": False}}) as client:
        client.initialize({"languages": {"python": True}})
        client.open("x = ")
        assert client.items(0, 4) == []


# ------------------------------------------------------------------------------------------------ ignored files


def test_ignored_files_never_reach_the_engine(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("secret.py\n")
    with scripted("a + b") as client:
        client.initialize(rootUri=tmp_path.as_uri())
        for scheme in ("file://", "FILE://", "untitled:", "vscode-notebook-cell:", "vscode-remote://ssh%2Bhost"):
            for name in ("secret.py", ".env", ".env#W0"):
                client.open("x = ", uri=f"{scheme}{tmp_path}/{name}")
                assert client.items(0, 4, uri=f"{scheme}{tmp_path}/{name}") == []
        client.open("x = ", uri=(tmp_path / "open.py").as_uri())
        assert len(client.items(0, 4, uri=(tmp_path / "open.py").as_uri())) == 1  # the draft is still unspent


def test_a_document_without_a_file_is_served() -> None:
    with scripted("a + b") as client:
        client.initialize()
        client.open("x = ", uri="untitled:Untitled-1")
        assert len(client.items(0, 4, uri="untitled:Untitled-1")) == 1


def test_the_cursor_in_every_place_of_a_text() -> None:
    text = "def f(x):\n\ts = '😀名'  # é\n\n\treturn (s)\n"
    with scripted(*(["x)"] * 400)) as client:
        client.initialize()
        client.open(text)
        for line, content in enumerate(text.split("\n")):
            for character in range(len(content) + 3):
                for item in client.items(line, character):
                    accept(text, item)  # asserts that the range is in the line


@pytest.mark.parametrize(
    ("before", "after", "language"),
    [
        ('x = "' + "A" * 200_000 + '"; ', "\n", "javascript"),
        ("A" * 200_000, "\n", ""),
        ("A" * 200_000 + "(", ")\n", "python"),
        ("x = [" + "1," * 100_000, "]\n", "python"),
        ("a{b:url(data:" + "A/+" * 60_000 + ") ", "}\n", "css"),
        (" " * 200_000 + "x = ", "\n", "python"),
        ("x = ", " " * 200_000, "python"),
        ("x = ", "\n" + "\n" * 100_000, "python"),
        ("(" * 50_000, "\n", "go"),
        ("[" * 20_000, "]" * 20_000, "python"),
        ("x", "/*" + " * word\n" * 20_000, "c"),
    ],
    ids=["string", "word", "call", "list", "url", "indented", "trailing", "blank", "brackets", "nested", "unclosed-comment"],
)
def test_an_endless_line_holds_nobody_up(before: str, after: str, language: str) -> None:
    """Nor whatever else is asked about it. Some seconds on two busy cores; what looked at each letter again and again took minutes."""
    line = before.count("\n")
    with scripted(*["2 + 3"] * 4) as client:
        client.capabilities = {"textDocument": {"completion": {}}}
        client.initialize({"deadlineMs": 60_000, "completionItems": True})
        began = time.monotonic()
        client.open(before + after, language=language)
        for typed in (1, 2, 3):
            client.change(at("1", line, len(before) + typed - 1, len(before) + typed - 1))
            place = {"textDocument": {"uri": URI, "version": 1 + typed}, "position": {"line": line, "character": len(before) + typed}}
            client.items(line, len(before) + typed, kind=1 + typed % 2)
            client.call("textDocument/completion", {**place, "context": {"triggerKind": 1}})
            client.call("textDocument/copilotInlineEdit", place)
            spot = {"start": place["position"], "end": place["position"]}
            client.call("textDocument/codeAction", {**place, "range": spot, "context": {"diagnostics": []}})
        assert time.monotonic() - began < 30


# ------------------------------------------------------------------------------------------------ one document, however it is spelled

SPELLED = ("file:///project/s%20t.py", "file:///project/s t.py")


class Slow(ScriptedEngine):
    """Ends only when it is told to."""

    def __init__(self) -> None:
        super().__init__([])
        self.begun, self.stopped = threading.Event(), threading.Event()

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.begun.set()
        while not stop.is_set():
            time.sleep(0.001)
        self.stopped.set()
        return super().infill(request, stop)


@pytest.mark.parametrize("method", ["textDocument/didChange", "textDocument/didClose"])
@pytest.mark.parametrize("version", [1, None])
def test_a_change_ends_what_is_asked(method: str, version: int | None) -> None:
    engine = Slow()
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = ", uri=SPELLED[0])
        asked = client.ask(0, 4, uri=SPELLED[0])
        assert engine.begun.wait(PATIENCE)
        client.notify(method, {"textDocument": {"uri": SPELLED[1], "version": version}, "contentChanges": [{"text": "x = 1"}]})
        assert client.answer(asked)["result"] == {"items": []}
        assert engine.stopped.wait(PATIENCE)


@pytest.mark.parametrize("closed", [True, False])
def test_a_document_that_is_opened_anew_begins_anew(closed: bool) -> None:
    with scripted("a", "b") as client:
        client.initialize()
        for suggested in "ab":
            client.open("x = ", uri=SPELLED[0])
            (item,) = client.items(0, 4, uri=SPELLED[0])
            assert item["insertText"] == f"x = {suggested}"
            if closed:
                client.notify("textDocument/didClose", {"textDocument": {"uri": SPELLED[1]}})

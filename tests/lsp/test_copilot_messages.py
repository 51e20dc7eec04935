"""What Copilot's clients send besides inline completions and next edits, taken from their sources, and what they do with the answers."""

from __future__ import annotations

from typing import Any

import pytest
from lsp_client import URI, Client, in_process, scripted

from engine.api import EngineConfig, ModelMissing
from engine.scripted import ScriptedEngine

TEXT = "s = '😀'\nretu\n"
LUA_DOC = {
    "uri": URI,
    "version": 7,  # the buffer's tick, not what didChange counts
    "relativePath": "main.py",
    "insertSpaces": True,
    "tabSize": 4,
    "indentSize": 4,
    "position": {"line": 1, "character": 4},
}
EDITOR = {"editorInfo": {"name": "Neovim", "version": "0.12.0"}, "editorPluginInfo": {"name": "copilot.lua", "version": "1.515.0"}}


def begin(client: Client, text: str = TEXT) -> None:
    client.initialize(EDITOR)
    client.open(text)


def lua_params(**more: Any) -> dict[str, Any]:
    """As copilot.lua's `get_doc_params`, with its trick against empty tables."""
    document = {"uri": URI, "version": 7, "relativePath": "main.py"}
    return {"doc": LUA_DOC, "textDocument": document, "position": LUA_DOC["position"], "_": True, **more}


# ------------------------------------------------------------------------------------------------ who is there


@pytest.mark.parametrize("params", [{"_": True}, {}, None, {"options": {"localChecksOnly": True}}])
def test_everybody_is_signed_in(params: object) -> None:
    with scripted() as client:
        client.initialize()
        status = client.call("checkStatus", params)
        assert status["status"] == "OK" and status["user"]
        for method in ("signIn", "signInInitiate"):
            assert client.call(method, params) == {"status": "AlreadySignedIn", "user": status["user"]}
        assert client.call("signOut", params) == {"status": "NotSignedIn"}
        assert client.call("checkStatus", params) == status


def test_who_goes_on_with_a_sign_in_is_told_that_it_is_done() -> None:
    with scripted() as client:
        client.initialize()
        assert client.call("signInConfirm", {"userCode": "ABCD-1234", "_": True})["status"] == "OK"
        finished = client.call("workspace/executeCommand", {"command": "github.copilot.finishDeviceFlow", "arguments": []})
        assert finished == client.call("checkStatus", {})


def test_version_and_models() -> None:
    with scripted(overrides={"model": "some-model"}) as client:
        client.initialize()
        version = client.call("getVersion", {"_": True})
        assert version["version"][0].isdigit() and version["runtimeVersion"].startswith("python/")
        (model,) = client.call("copilot/models", {"_": True})
        assert model["id"] == model["modelName"] == "some-model" and "completion" in model["scopes"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("setEditorInfo", EDITOR),
        ("notifyShown", {"uuid": "1", "_": True}),
        ("notifyAccepted", {"uuid": "1", "acceptedLength": 3, "_": True}),
        ("notifyRejected", {"uuids": ["1", "2"], "_": True}),
        ("notifyNextEditRejected", {"uuid": "never-offered", "reason": "escape"}),
    ],
)
def test_what_clients_tell_is_answered(method: str, params: object) -> None:
    with scripted() as client:
        client.initialize()
        assert client.call(method, params) == "OK"


def test_a_file_may_be_read() -> None:
    with scripted() as client:
        client.initialize()
        assert client.call("checkFileStatus", {"uri": URI}) == {"status": "included"}


def test_notifications_are_taken_whatever_is_in_them() -> None:
    item = {"insertText": "x", "command": {"title": "", "command": "mercury.didAcceptCompletionItem", "arguments": ["1"]}}
    with scripted("rn 1") as client:
        begin(client)
        client.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
        client.notify("textDocument/didFocus", {})
        client.notify("textDocument/didFocus", None)
        client.notify("textDocument/didShowCompletion", {"item": item})
        client.notify("textDocument/didPartiallyAcceptCompletion", {"item": item, "acceptedLength": 2})
        client.notify("textDocument/didShowInlineEdit", {"item": {"command": item["command"]}})
        client.notify("notifyChangeConfiguration", {"settings": {"enableAutoCompletions": True}})
        client.notify("workspace/didChangeConfiguration", {"settings": {"http": {"proxy": None}, "telemetry": {"telemetryLevel": "all"}}})
        assert len(client.items(1, 4)) == 1
        assert not client.received("window/showMessage")


# ------------------------------------------------------------------------------------------------ how the server is


def test_the_status_says_when_the_model_is_there() -> None:
    with scripted() as client:
        client.initialize(EDITOR)
        client.wait_for(lambda message: message.get("method") == "statusNotification" and not message["params"]["busy"])
        assert client.received("didChangeStatus") == [
            {"busy": True, "kind": "Normal", "message": ""},
            {"busy": False, "kind": "Normal", "message": ""},
        ]
        assert [each["status"] for each in client.received("statusNotification")] == ["InProgress", "Normal"]


def test_the_status_says_what_is_wrong() -> None:
    def load(_: EngineConfig) -> ScriptedEngine:
        raise ModelMissing("it is not there")

    with in_process(load) as client:
        client.initialize(EDITOR)
        client.wait_for(lambda message: message.get("method") == "didChangeStatus" and message["params"]["kind"] == "Error")
        assert client.received("didChangeStatus")[-1] == {"busy": False, "kind": "Error", "message": "it is not there"}
        assert "not signed" not in client.received("didChangeStatus")[-1]["message"]  # or clients would have the user sign in


def test_other_clients_hear_no_status() -> None:
    with scripted("rn 1") as client:
        client.initialize()
        client.open(TEXT)
        client.items(1, 4)
        assert client.received("didChangeStatus") == client.received("statusNotification") == []


# ------------------------------------------------------------------------------------------------ completions in older words


def test_blink_copilot_asks_by_itself_and_then_as_with_a_key() -> None:
    with scripted("rn total", "rn total", "rn total") as client:
        begin(client)
        params = {
            "textDocument": {"uri": URI},
            "position": {"line": 1, "character": 4},
            "formattingOptions": {"insertSpaces": True, "tabSize": 4},
        }
        for kind in (2, 1, 1):
            answer = client.call("textDocument/inlineCompletion", {**params, "context": {"triggerKind": kind}})
            assert list(answer) == ["items"]
            for item in answer["items"]:  # it takes the range from its start to the length of the first line of the text
                assert item["range"]["start"]["character"] == 0 and item["insertText"].startswith("retu")
                assert item["command"]["arguments"]


def test_copilot_el_sends_a_request_to_see_whether_all_is_well() -> None:
    with scripted() as client:
        begin(client)
        place = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "context": {"triggerKind": 1}}
        assert client.call("textDocument/inlineCompletion", place) == {"items": []}


@pytest.mark.parametrize("method", ["getCompletions", "getCompletionsCycling"])
def test_copilot_lua_completes(method: str) -> None:
    with scripted("rn total") as client:
        begin(client)
        (completion,) = client.call(method, lua_params())["completions"]
        assert completion == {
            "uuid": completion["uuid"],
            "text": "return total",
            "displayText": "rn total",
            "position": {"line": 1, "character": 4},
            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 4}},
            "docVersion": 7,
        }
        assert client.call("notifyShown", {"uuid": completion["uuid"], "_": True}) == "OK"


def test_sublime_names_a_path_and_copilot_vim_a_position_aside() -> None:
    with scripted("rn 1", "rn 1") as client:
        begin(client)
        document = {"path": "/project/main.py", "version": 1, "position": {"line": 1, "character": 4}, "source": TEXT}
        assert client.call("getCompletions", {"doc": document})["completions"][0]["text"] == "return 1"
        aside = {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 4}}
        assert client.call("getCompletionsCycling", aside)["completions"][0]["displayText"] == "rn 1"


def test_what_comes_after_an_emoji_is_shown_from_the_cursor() -> None:
    with scripted(" + t") as client:
        begin(client)
        place = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 8}}
        (completion,) = client.call("getCompletionsCycling", place)["completions"]
        assert (completion["text"], completion["displayText"]) == ("s = '😀' + t", " + t")


@pytest.mark.parametrize(
    "params", [None, {}, {"doc": {}}, {"doc": {"uri": URI}}, {"doc": {"uri": URI, "position": {"line": "x"}}}, lua_params()]
)
def test_no_completions_are_an_empty_list(params: object) -> None:
    with scripted() as client:
        begin(client)
        assert client.call("getCompletions", params) == {"completions": []}


def test_copilot_luas_panel() -> None:
    with scripted("rn 1\nreturn 2") as client:
        begin(client)
        panel = "copilot:///panel/main.py"
        assert client.call("getPanelCompletions", lua_params(panelId=panel)) == {"solutionCountTarget": 3}
        assert client.notified("PanelSolutionsDone") == {"panelId": panel, "status": "OK"}
        (solution,) = client.received("PanelSolution")
        assert solution["panelId"] == panel and solution["solutionId"] and 0 <= solution["score"] <= 1
        assert solution["completionText"].startswith("return 1") and solution["displayText"].startswith("rn 1")
        assert solution["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 4}}
        order = [message.get("method", "answer") for message in client.messages]
        assert order.index("PanelSolution") < order.index("PanelSolutionsDone")


def test_a_panel_without_a_solution_ends_all_the_same() -> None:
    with scripted() as client:
        begin(client)
        client.call("getPanelCompletions", lua_params(panelId="p"))
        assert client.notified("PanelSolutionsDone") == {"panelId": "p", "status": "OK"}
        assert not client.received("PanelSolution")


PLACE = {"textDocument": {"uri": URI, "version": 1}, "position": {"line": 1, "character": 4}}


def test_the_newer_panel() -> None:
    with scripted("rn 1") as client:
        begin(client)
        (item,) = client.call("textDocument/copilotPanelCompletion", PLACE)["items"]
        command = item["command"]
        assert item["insertText"] == "return 1" and command["command"] == "github.copilot.didAcceptPanelCompletionItem"
        assert client.call("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]}) is None


def test_the_newer_panel_sends_ahead_what_it_has() -> None:
    with scripted("rn 1") as client:
        begin(client)
        assert client.call("textDocument/copilotPanelCompletion", {**PLACE, "partialResultToken": "t"}) == {"items": []}
        progress = client.notified("$/progress")
        assert progress["token"] == "t" and progress["value"]["items"][0]["insertText"] == "return 1"

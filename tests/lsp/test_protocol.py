"""Every request gets exactly one answer, whatever it looks like, and nothing ever pops up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lsp_client import NEOVIM_ENCODINGS, URI, Client, accept, scripted

METHOD = "textDocument/inlineCompletion"
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 4}}


@pytest.fixture
def client() -> Iterator[Client]:
    with scripted("a + b", "c + d", "e + f", "g + h") as client:
        client.initialize()
        client.open("x = ")
        yield client
        assert client.received("window/showMessage") == []


def test_handshake() -> None:
    with scripted() as client:
        result = client.initialize()
    assert result["serverInfo"]["name"] == "mercury-lsp" and result["serverInfo"]["version"]
    capabilities = result["capabilities"]
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["inlineCompletionProvider"] == {}
    assert capabilities["textDocumentSync"] == {"openClose": True, "change": 2, "save": {"includeText": False}}
    commands = capabilities["executeCommandProvider"]["commands"]
    assert "mercury.didAcceptCompletionItem" in commands and sum(name.startswith("github.copilot.") for name in commands) == 6


@pytest.mark.parametrize("encodings", [NEOVIM_ENCODINGS, ["utf-8"], ["utf-32"], [], None, "utf-8"])
def test_utf_16_whatever_is_offered(encodings: object) -> None:
    with scripted("t") as client:
        client.capabilities = {"general": {"positionEncodings": encodings}}
        assert client.initialize()["capabilities"]["positionEncoding"] == "utf-16"
        client.open("s = '😀' + ")
        (item,) = client.items(0, 11)
        assert accept("s = '😀' + ", item) == "s = '😀' + t"


@pytest.mark.parametrize("capabilities", [{}, None, {"textDocument": {"hover": {"contentFormat": 3}}}, {"workspace": []}])
def test_odd_capabilities_do_not_keep_anybody_out(capabilities: object) -> None:
    with scripted() as client:
        assert client.initialize(capabilities=capabilities)["capabilities"]["inlineCompletionProvider"] == {}
        assert client.items(0, 0) == []


@pytest.mark.parametrize("params", [{}, None, [], "x"])
def test_initialize_needs_no_params(params: object) -> None:
    with scripted() as client:
        assert client.call("initialize", params)["serverInfo"]["name"] == "mercury-lsp"


@pytest.mark.parametrize("process_id", [2**31, 2**40, 2**70])
@pytest.mark.parametrize("roots", [{"rootUri": "file://[x"}, {"workspaceFolders": [None, 5, {"uri": 7}, {"uri": "file://[bad"}, {}]}])
def test_odd_params_of_initialize_are_passed_over(process_id: int, roots: dict[str, Any]) -> None:
    with scripted("a + b") as client:
        client.initialize(processId=process_id, **roots)
        client.open("x = ")
        assert len(client.items(0, 4)) == 1


CONTEXTS = [
    None,
    {},
    {"triggerKind": 0},
    {"triggerKind": 3},
    {"triggerKind": "1"},
    {"triggerKind": None},
    {"triggerKind": 2, "selectedCompletionInfo": None},
]


@pytest.mark.parametrize("context", CONTEXTS)
def test_what_can_be_served_is_served(client: Client, context: object) -> None:
    assert len(client.call(METHOD, {**PLACE, "context": context})["items"]) == 1


@pytest.mark.parametrize("formatting", [None, {}, {"tabSize": "4"}, {"tabSize": None, "insertSpaces": None}, {"tabSize": 10**30}])
def test_odd_formatting_options_are_served(client: Client, formatting: object) -> None:
    assert len(client.call(METHOD, {**PLACE, "formattingOptions": formatting})["items"]) == 1


def test_a_missing_context_is_served(client: Client) -> None:
    assert len(client.call(METHOD, {**PLACE, "workDoneToken": 1, "_": True})["items"]) == 1


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        7,
        {"textDocument": {"uri": URI}},
        {"position": {"line": 0, "character": 0}},
        {**PLACE, "context": []},
        {**PLACE, "context": {"triggerKind": "one"}},
        {**PLACE, "position": {"line": "first", "character": 0}},
        {**PLACE, "position": {"line": -1, "character": -1}, "context": {"triggerKind": 1}},
        {**PLACE, "position": {"line": 0, "character": 10**30}, "context": {"triggerKind": 1, "selectedCompletionInfo": {"text": 1}}},
    ],
)
def test_a_malformed_request_is_answered_with_nothing(client: Client, params: object) -> None:
    assert client.call(METHOD, params) == {"items": []}
    assert len(client.items(0, 4)) == 1  # and the next one is served


def test_without_params_at_all(client: Client) -> None:
    client.send({"jsonrpc": "2.0", "id": "a", "method": METHOD})
    assert client.answer("a")["result"] == {"items": []}
    client.send({"jsonrpc": "2.0", "id": "b", "method": "no/such"})
    assert client.answer("b")["error"]["code"] == -32601
    client.send({"jsonrpc": "2.0", "id": "c", "method": "shutdown"})
    assert client.answer("c")["result"] is None


@pytest.mark.parametrize("method", ["no/such", "conversation/create", "textDocument/hover", "textDocument/rename", "$/no"])
def test_an_unknown_request_is_refused(client: Client, method: str) -> None:
    assert client.error(method, {"type_name": 1, "class": 2}) == -32601


@pytest.mark.parametrize("number", [0, -1, "", "x", 10**20, 1.5, None])
def test_any_id_is_given_back(client: Client, number: object) -> None:
    client.send({"jsonrpc": "2.0", "id": number, "method": METHOD, "params": {**PLACE, "context": {"triggerKind": 1}}})
    assert len(client.answer(number)["result"]["items"]) == 1


def test_a_request_that_should_be_a_notification(client: Client) -> None:
    change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "y = "}]}
    assert client.call("textDocument/didChange", change) is None
    assert client.items(0, 4)[0]["insertText"].startswith("y = ")


@pytest.mark.parametrize(
    "method", [*(f"textDocument/did{what}" for what in ("Open", "Change", "Close")), "workspace/didChangeConfiguration"]
)
@pytest.mark.parametrize("params", [None, {}, {"textDocument": {}}, {"textDocument": {"uri": 1}}])
def test_malformed_notifications_cost_nothing(client: Client, method: str, params: object) -> None:
    client.notify(method, params)
    assert len(client.items(0, 4)) == 1


ONE_LINE = [
    ("textDocument/didOpen", {"textDocument": {"uri": URI}}, "Object missing required field `text` - at `$.textDocument`"),
    ("textDocument/didOpen", {"textDocument": {"uri": "file://[x", "text": ""}}, "file://[x: Invalid IPv6 URL"),
    ("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": 5}, "Expected `array`, got `int` - at `$.contentChanges`"),
    ("textDocument/didClose", {"textDocument": None}, "Object missing required field `textDocument`"),
    ("workspace/executeCommand", {"command": 5}, "Expected `str`, got `int` - at `$.command`"),
]


@pytest.mark.parametrize(("method", "params", "said"), ONE_LINE)
def test_a_malformed_notification_is_one_line_in_the_log(client: Client, method: str, params: object, said: str) -> None:
    client.notify(method, params)
    assert client.notified("window/logMessage") == {"type": 2, "message": f"{method}: {said}"}


@pytest.mark.parametrize(("method", "params", "said"), ONE_LINE)
def test_malformed_params_are_named(client: Client, method: str, params: object, said: str) -> None:
    error = client.answer(client.request(method, params))["error"]
    assert (error["code"], error["message"], error.get("data")) == (-32602, said, None)


def test_a_change_that_cannot_be_read_closes_the_document(client: Client) -> None:
    client.change({"text": "y = "}, {"text": 5})
    assert client.items(0, 4) == []


def test_what_is_no_uri_gets_no_suggestion(client: Client) -> None:
    client.open("x = ", uri="file://[bad/x.py")
    assert client.items(0, 4, uri="file://[bad/x.py") == []


def test_a_cancel_of_what_the_server_asks() -> None:
    with scripted("a + b") as client:
        client.capabilities["workspace"] = {"configuration": True}
        client.before_answering.clear()
        client.initialize()
        asked = client.wait_for(lambda message: message.get("method") == "workspace/configuration")
        client.notify("$/cancelRequest", {"id": asked["id"]})
        client.call("workspace/executeCommand", {"command": "mercury.didAcceptCompletionItem"})  # so the cancel has arrived
        client.before_answering.set()
        client.open("x = ")
        assert len(client.items(0, 4)) == 1


def test_an_answer_with_the_id_of_the_clients_own_request(client: Client) -> None:
    number = client.ask(0, 4)
    client.send({"jsonrpc": "2.0", "id": number, "result": {"items": ["no"]}})
    assert client.answer(number)["result"]["items"][0]["insertText"] == "x = a + b"
    assert client.received("window/logMessage") == []


@pytest.mark.parametrize("params", [None, {}, {"id": 999}, {"id": "x"}, {"id": None}])
def test_a_cancel_of_nothing(client: Client, params: object) -> None:
    client.notify("$/cancelRequest", params)
    assert len(client.items(0, 4)) == 1


def test_answers_nobody_asked_for(client: Client) -> None:
    client.send({"jsonrpc": "2.0", "id": 4711, "result": {"a": 1}})
    client.send({"jsonrpc": "2.0", "id": 4712, "error": {"code": -1, "message": "no"}})
    client.send({"jsonrpc": "2.0", "id": None, "error": {"code": "x"}})
    client.send({"jsonrpc": "2.0", "id": 4713})
    assert len(client.items(0, 4)) == 1


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"", b"[" * 100_000 + b"]" * 100_000])
def test_what_is_not_json_is_refused(client: Client, body: bytes) -> None:
    client.send_bytes(body)
    assert client.answer(None)["error"]["code"] == -32700
    assert len(client.items(0, 4)) == 1


NO_MESSAGES = [
    *([], 3, "x", None, {}, {"id": 1}),
    {"jsonrpc": "1.0", "id": 5000, "method": METHOD},
    {"jsonrpc": "2.0", "id": 6, "method": 7},
    {"jsonrpc": "2.0", "id": [1], "method": METHOD},
    {"jsonrpc": "2.0", "id": {}, "result": None},
]


@pytest.mark.parametrize("message", NO_MESSAGES)
def test_what_is_no_message_is_refused(client: Client, message: object) -> None:
    before = len(client.messages)
    client.send(message)
    client.wait_for(lambda _: len(client.messages) > before)
    assert client.messages[-1]["error"]["code"] == -32600
    assert len(client.items(0, 4)) == 1


def test_a_message_in_a_message_is_text(client: Client) -> None:
    inner = {"jsonrpc": "2.0", "id": 9, "method": "shutdown"}
    client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"languages": {"*": True}}, "other": inner}})
    assert len(client.items(0, 4)) == 1


def test_headers_as_clients_write_them(client: Client) -> None:
    body = b'{"jsonrpc": "2.0", "id": "h", "method": "no/such"}'
    client._writer.write(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:%d\r\n\r\n%b" % (len(body), body))
    client._writer.flush()
    assert client.answer("h")["error"]["code"] == -32601


def test_before_initialize_and_after_shutdown() -> None:
    with scripted("a + b") as client:
        assert client.error(METHOD, PLACE) == -32002
        client.open("x = ")  # dropped
        client.initialize()
        assert client.error("initialize", {"capabilities": {}}) == -32600
        assert client.items(0, 4) == []
        client.call("shutdown")
        assert client.error(METHOD, PLACE) == -32600


def test_shutdown_is_a_request(client: Client) -> None:
    client.notify("shutdown")
    assert client.notified("window/logMessage")["message"] == "shutdown: a request, and it came without an id"
    assert len(client.items(0, 4)) == 1


def test_why_there_is_no_configuration_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercury_lsp.client._CONFIGURATION_SECONDS", 0.01)
    with scripted() as client:
        client.capabilities["workspace"] = {"configuration": True}
        client.before_answering.clear()
        client.initialize()
        assert client.notified("window/logMessage")["message"] == "no configuration from the client: no answer within 0 s"
        client.before_answering.set()

"""How refactorings are offered, resolved, run, shown and cancelled; and that every wrong request gets an answer and changes nothing."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from lsp_client import URI, in_process, within
from refactor_client import FULL, Told, apply_edits, check, editor, refused

from engine.api import CheckpointInvalid, InfillRequest, RequestInvalid, StopFlag

SOURCE = "def f(a):\n    print('😀', «a.b[3]»)\n"
AFTER = "def f(a):\n    value = a.b[3]\n    print('😀', value)\n"


def without(*path: str) -> dict[str, Any]:
    """The capabilities of an editor that can all but one thing."""
    made = {key: dict(value) if isinstance(value, dict) else value for key, value in FULL.items()}
    at: Any = made
    for key in path[:-1]:
        at[key] = dict(at[key])
        at = at[key]
    del at[path[-1]]
    return made


# ------------------------------------------------------------------------------------------------ what is offered


def test_the_capabilities() -> None:
    with in_process(lambda _: Told()) as client:
        capabilities = client.initialize()["capabilities"]
    assert capabilities["codeActionProvider"] == {
        "codeActionKinds": ["refactor.rewrite", "refactor.extract", "refactor.inline", "quickfix", "source"],
        "resolveProvider": True,
    }
    commands = set(capabilities["executeCommandProvider"]["commands"])
    names = (
        "extractFunction extractVariable inlineVariable completeBody commentToCode writeDocstring addTypes rewrite simplify redenoise fix"
    )
    names += " generateTest ask applyAnswer"
    assert {f"mercury.{name}" for name in names.split()} <= commands


def test_what_a_selection_offers() -> None:
    with editor(SOURCE) as opened:
        titles = {action["title"]: action for action in opened.actions()}
        assert {"Extract to a function", "Extract to a variable", "Simplify the selection"} <= set(titles)
        assert {f"Write the selection anew ({number})" for number in (1, 2, 3)} <= set(titles)
        explain = titles.pop("Explain the selection")
        assert explain["command"]["command"] == "mercury.ask" and "tags" not in explain
        assert all("edit" not in action and "command" not in action for action in titles.values())
        assert titles["Extract to a variable"]["kind"] == "refactor.extract.variable"
        assert "tags" not in titles["Extract to a variable"] and titles["Simplify the selection"]["tags"] == [1]


def test_what_a_cursor_offers() -> None:
    with editor("def f«»(a):\n    pass\n") as opened:
        titles = [action["title"] for action in opened.actions()]
        assert titles == [
            "Inline `f`", "Complete the body of `f`", "Write the documentation of `f`", "Add types to `f`",
            "Generate a test of `f` beside the file",
        ]  # fmt: skip
    with editor("x = 1\n# Print«» it.\n") as opened:
        assert [action["title"] for action in opened.actions()] == ["Convert the comment to code"]


@pytest.mark.parametrize(
    "only, kinds",
    [
        (["refactor.extract"], {"refactor.extract.function", "refactor.extract.variable"}),
        (["refactor.extract.variable"], {"refactor.extract.variable"}),
        (["quickfix"], set()),
        ([], set()),
        (["source.organizeImports"], set()),
    ],
)
def test_only_what_is_asked_for(only: list[str], kinds: set[str]) -> None:
    with editor(SOURCE) as opened:
        assert {action["kind"] for action in opened.actions(only=only)} == kinds


def test_a_diagnostic_is_a_quick_fix() -> None:
    told = Told(rewrite=["def f(a):\n    return a"])
    with editor("def f(a):\n    return a«»b\n", engine=told) as opened:
        place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 13}}
        diagnostics = [{"range": place, "message": "undefined name 'ab'\nmore", "severity": 1}]
        opened.choose("Fix: undefined name 'ab'", diagnostics=diagnostics, only=["quickfix"])
        assert opened.text == "def f(a):\n    return a\n"
    assert told.rewrites[0].instruction == "fix: undefined name 'ab'"


def test_an_action_is_resolved_when_it_is_chosen() -> None:
    with editor(SOURCE) as opened:
        action = opened.choose("Extract to a variable")
        assert opened.text == AFTER
        assert action["edit"]["documentChanges"][0]["textDocument"] == {"uri": opened.uri, "version": 1}


def test_editors_that_know_less() -> None:
    with editor(SOURCE, capabilities=without("textDocument", "codeAction", "codeActionLiteralSupport")) as opened:
        command = next(each for each in opened.actions() if each["title"] == "Extract to a variable")
        assert command["command"] == "mercury.extractVariable"
        opened.client.call("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
        opened.apply(opened.client.received("workspace/applyEdit")[0]["edit"])
        assert opened.text == AFTER
    with editor(SOURCE, capabilities=without("textDocument", "codeAction", "resolveSupport")) as opened:
        action = next(each for each in opened.actions() if each["title"] == "Extract to a variable")
        assert action["command"]["command"] == "mercury.extractVariable" and "data" not in action
    with editor(SOURCE, capabilities=without("textDocument", "codeAction", "tagSupport")) as opened:
        assert all("tags" not in action for action in opened.actions())
    with editor(SOURCE, capabilities=without("workspace", "workspaceEdit")) as opened:
        opened.client.call(
            "workspace/executeCommand", {"command": "mercury.extractVariable", "arguments": [{"uri": opened.uri, "range": opened.range}]}
        )
        (sent,) = opened.client.received("workspace/applyEdit")
        assert apply_edits(opened.text, sent["edit"]["changes"][opened.uri]) == AFTER


def test_an_editor_that_makes_no_files() -> None:
    capabilities = without("workspace", "workspaceEdit", "resourceOperations")
    with editor("def add«»(a):\n    return a\n", engine=Told(infill=["assert add(1) == 1"]), capabilities=capabilities) as opened:
        assert "no command make a file" in opened.run("mercury.generateTest")["message"]


MOVED = {
    "extractFunction": {
        "javascript": (
            "function f(a) {\n  «log(a);\n  log(-a);»\n}\n",
            "function f(a) {\n  name(a);\n}\n\nfunction name(a) {\n  log(a);\n  log(-a);\n}\n",
        ),
        "go": (
            "package m\n\nfunc f(a int) {\n\t«g(a)»\n}\n",
            "package m\n\nfunc f(a int) {\n\tname(a)\n}\n\nfunc name(a int) {\n\tg(a)\n}\n",
        ),
        "rust": ("fn f(a: u8) {\n    «g(a);»\n}\n", "fn f(a: u8) {\n    name(a);\n}\n\nfn name(a: u8) {\n    g(a);\n}\n"),
    },
    "extractVariable": {
        "typescript": ("log(«1 + 2»);\n", "const name = 1 + 2;\nlog(name);\n"),
        "go": ("package m\n\nfunc f() {\n\tg(«1 + 2»)\n}\n", "package m\n\nfunc f() {\n\tconst name = 1 + 2\n\tg(name)\n}\n"),
        "java": (
            "class A {\n    void f() {\n        g(«1 + 2»);\n    }\n}\n",
            "class A {\n    void f() {\n        int name = 1 + 2;\n        g(name);\n    }\n}\n",
        ),
    },
    "inlineVariable": {
        "python": ("def f(a):\n    b = a + 1\n    return b«»\n", "def f(a):\n    return a + 1\n"),
        "javascript": ("function f(a) {\n  const «b» = a;\n  return b;\n}\n", "function f(a) {\n  return a;\n}\n"),
        "java": (
            "class A {\n    int f() {\n        int b = 1;\n        return «»b;\n    }\n}\n",
            "class A {\n    int f() {\n        return 1;\n    }\n}\n",
        ),
    },
}


@pytest.mark.parametrize("command, language", [(command, language) for command, cases in MOVED.items() for language in cases])
def test_code_is_moved_in_the_editor(command: str, language: str) -> None:
    more = {} if command == "inlineVariable" else {"name": "name"}
    check(f"mercury.{command}", *MOVED[command][language], language, **more)


# ------------------------------------------------------------------------------------------------ documents as they are


@pytest.mark.parametrize("break_", ["\r\n", "\r"])
def test_other_line_breaks(break_: str) -> None:
    with editor(SOURCE.replace("\n", break_)) as opened:
        opened.client.call(
            "workspace/executeCommand", {"command": "mercury.extractVariable", "arguments": [{"uri": opened.uri, "range": opened.range}]}
        )
        (sent,) = opened.client.received("workspace/applyEdit")
        edits = sent["edit"]["documentChanges"][0]["edits"]
        assert "\r" not in str(edits) and apply_edits(opened.text.replace(break_, "\n"), edits) == AFTER


def test_a_byte_order_mark() -> None:
    with editor("\ufeffprint(«1 + 1»)\n") as opened:
        opened.run("mercury.extractVariable")
        assert opened.text == "\ufeffvalue = 1 + 1\nprint(value)\n"


def test_the_model_proposes_a_name_where_it_has_one() -> None:
    source = "def f(a):\n    print('😀', «a.b[3]»)\n"
    for answer, name in (
        ("third_item = a", "third_item"),
        ("thirdItem", "third_item"),
        ("print", "value"),
        ("for", "value"),
        ("", "value"),
    ):
        told = Told(infill=[answer])
        with editor(source, engine=told) as opened:
            opened.run("mercury.extractVariable")
            assert opened.text == AFTER.replace("value", name), answer
        assert told.infills[0].prefix.endswith("    ") and told.infills[0].suffix.startswith(" = a.b[3]\n")
    with editor(source) as opened:
        opened.run("mercury.extractFunction", name="third")
        assert opened.text.startswith("def third(a):\n    return a.b[3]\n")


# ------------------------------------------------------------------------------------------------ wrong input


@pytest.mark.parametrize(
    "command", ["mercury.extractFunction", "mercury.extractVariable", "mercury.simplify", "mercury.rewrite", "mercury.redenoise"]
)
@pytest.mark.parametrize("language, source", [("python", "x =«» 1\n"), ("go", "package m\n«\n»\nvar x = 1\n"), ("rust", "fn f() {«  »}\n")])
def test_no_selection(command: str, language: str, source: str) -> None:
    refused(command, source, "nothing is selected", language, instruction="shorter")


@pytest.mark.parametrize("command", ["mercury.extractFunction", "mercury.simplify", "mercury.rewrite"])
@pytest.mark.parametrize(
    "language, source",
    [
        ("python", "def f(a):\n    «b = a\n    return b\n\n\ndef g(a):\n    c = a»\n    return c\n"),
        ("javascript", "function f(a) {\n  «return a;\n}\n\nfunction g(a) {\n  const b = a;»\n  return b;\n}\n"),
        ("go", "package m\n\nfunc f() {\n\t«a()\n}\n\nfunc g() {\n\tb()»\n}\n"),
    ],
)
def test_a_selection_across_functions(command: str, language: str, source: str) -> None:
    refused(command, source, "select", language, instruction="shorter")


@pytest.mark.parametrize(
    "command",
    ["extractFunction", "extractVariable", "inlineVariable", "completeBody", "commentToCode", "writeDocstring", "simplify",
    "rewrite", "redenoise",
     "generateTest", "addTypes"],
)  # fmt: skip
@pytest.mark.parametrize(
    "language, source",
    [
        ("python", "def f(a):\n    return («a»\n"),
        ("typescript", "function f(a) {\n  return «a»\n"),
        ("java", "class A { int f(int a) { return «a» }\n"),
    ],
)
def test_a_file_that_does_not_parse(command: str, language: str, source: str) -> None:
    refused(f"mercury.{command}", source, "syntax error in line", language, instruction="shorter")


def test_no_grammar_or_no_names() -> None:
    refused("mercury.extractFunction", "«x = 1»\n", "no grammar", "plaintext")
    refused("mercury.extractFunction", "int f() { «g();» }\n", "not in c", "c")


@pytest.mark.parametrize(
    "arguments, why",
    [
        ([], "takes an object"),
        (["x"], "takes an object"),
        ([{}], "uri"),
        ([{"uri": 3}], "uri"),
        ([{"uri": URI}], "nothing is selected"),
        ([{"uri": URI, "range": {"start": {"line": 0}}}], "character"),
        ([{"uri": "file:///nowhere.py", "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}}], "not open"),
        ([{"uri": URI, "range": {"start": {"line": 99, "character": 9}, "end": {"line": 100, "character": 1}}}], "nothing is selected"),
        ([{"uri": URI, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}, "effort": "huge"}], "effort"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[Any], why: str) -> None:
    with editor("x = 1«»\n") as opened:
        result = opened.client.call("workspace/executeCommand", {"command": "mercury.extractVariable", "arguments": arguments})
        assert result["applied"] is False and why in result["message"]
        assert why in opened.messages()[0]


def test_unknown_commands_and_broken_requests_are_answered() -> None:
    with editor(SOURCE) as opened:
        client = opened.client
        assert client.error("workspace/executeCommand", {"command": "mercury.noSuch", "arguments": []}) == -32602
        for method in ("textDocument/codeAction", "workspace/textDocumentContent"):
            for params in (None, {}, [], {"textDocument": {"uri": URI}}):
                assert client.error(method, params) == -32602
        for params in (None, [], {"title": "x"}, {"title": "x", "data": {"command": "mercury.noSuch"}}):
            assert client.call("codeAction/resolve", params) == params
        broken = {"title": "x", "data": {"command": "mercury.rewrite", "arguments": None}}
        assert client.call("codeAction/resolve", broken) == broken and len(opened.messages()) == 1
        assert opened.text == SOURCE.replace("«", "").replace("»", "")


def test_a_command_may_come_as_a_notification() -> None:
    with editor(SOURCE) as opened:
        opened.client.notify(
            "workspace/executeCommand", {"command": "mercury.extractVariable", "arguments": [{"uri": opened.uri, "range": opened.range}]}
        )
        assert within(lambda: opened.client.received("workspace/applyEdit"))
        opened.apply(opened.client.received("workspace/applyEdit")[0]["edit"])
        assert opened.text == AFTER


def test_a_document_that_changed() -> None:
    with editor(SOURCE) as opened:
        action = next(each for each in opened.actions() if each["title"] == "Extract to a variable")
        opened.client.change({"text": "x = 1\n"})
        assert "edit" not in opened.client.call("codeAction/resolve", action)
        assert "changed since" in opened.messages()[0]


def test_a_document_that_changes_while_the_model_writes() -> None:
    go_on = threading.Event()

    def slow(request: InfillRequest) -> str:
        assert go_on.wait(20)
        return "return a"

    with editor("def f(a):\n    «pass»\n", engine=Told(infill=[slow])) as opened:
        number = opened.client.request(
            "workspace/executeCommand", {"command": "mercury.completeBody", "arguments": [{"uri": opened.uri, "range": opened.range}]}
        )
        opened.client.change({"text": "def f(a):\n    pass\n\n"})
        assert opened.actions() != []  # so the change has arrived
        go_on.set()
        assert "changed meanwhile" in opened.client.answer(number)["result"]["message"]
        assert opened.client.received("workspace/applyEdit") == []


def test_an_editor_that_does_not_apply() -> None:
    with editor(SOURCE) as opened:
        answer = opened.client._answer

        def no(message: Any) -> None:
            if message["method"] == "workspace/applyEdit":
                opened.client.send({"jsonrpc": "2.0", "id": message["id"], "result": {"applied": False, "failureReason": "read only"}})
            else:
                answer(message)

        opened.client._answer = no  # type: ignore[method-assign]
        argument = {"uri": opened.uri, "range": opened.range}
        result = opened.client.call("workspace/executeCommand", {"command": "mercury.extractVariable", "arguments": [argument]})
        assert result["applied"] is False and "read only" in result["message"] and "read only" in opened.messages()[0]


def test_files_that_nobody_may_read(tmp_path: Path) -> None:
    (tmp_path / ".mercuryignore").write_text("secret.py\n")
    with editor(SOURCE, uri=(tmp_path / "secret.py").as_uri()) as opened:
        assert opened.actions() == []
        assert "not to be read" in opened.run("mercury.extractVariable")["message"]


def test_no_model() -> None:
    def load(_: object) -> Any:
        raise CheckpointInvalid("the file is damaged")

    with in_process(load) as client:
        client.capabilities = dict(FULL)
        client.initialize()
        client.open("def f(a):\n    pass\n")
        place = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 8}}
        result = client.call("workspace/executeCommand", {"command": "mercury.completeBody", "arguments": [{"uri": URI, "range": place}]})
        assert result["applied"] is False and "no model is loaded" in result["message"]
        client.open(AFTER)  # what needs no model is done without one
        place = {"start": {"line": 1, "character": 12}, "end": {"line": 1, "character": 18}}
        argument = {"uri": URI, "range": place}
        assert client.call("workspace/executeCommand", {"command": "mercury.extractFunction", "arguments": [argument]})["applied"] is True


def test_what_the_engine_refuses_is_said() -> None:
    told = Told(rewrite=[RequestInvalid("the region has 900 tokens, the loaded model rewrites up to 192 at once: choose fewer lines")])
    refused("mercury.simplify", "«x = 1»\n", "choose fewer lines", engine=told)


# ------------------------------------------------------------------------------------------------ progress and cancelling


def slowly(began: threading.Event, stopped: threading.Event) -> Any:
    """An engine that writes until it is told to stop."""

    class Slow(Told):
        def infill(self, request: InfillRequest, stop: StopFlag) -> Any:
            began.set()
            if within(stop.is_set, 20):
                stopped.set()
            return super().infill(request, stop)

    return Slow(infill=["return a"])


def test_the_clients_own_progress() -> None:
    with editor("def f(a):\n    «pass»\n", engine=Told(infill=["pass", "return a"])) as opened:
        argument = {"uri": opened.uri, "range": opened.range}
        params = {"command": "mercury.completeBody", "arguments": [argument], "workDoneToken": "mine"}
        assert opened.client.call("workspace/executeCommand", params)["applied"] is True
        values = [sent["value"] for sent in opened.client.received("$/progress") if sent["token"] == "mine"]
        assert values[0] == {"kind": "begin", "title": "Complete the body", "cancellable": True}
        assert [value["message"] for value in values[1:-1]] == ["pass 1 of 3", "pass 2 of 3"]
        assert values[-1] == {"kind": "end"}


@pytest.mark.parametrize("how", ["the client's bar", "our bar", "the request"])
def test_cancelling(how: str) -> None:
    began, stopped = threading.Event(), threading.Event()
    with editor("def f(a):\n    «pass»\n", engine=slowly(began, stopped)) as opened:
        client, argument = opened.client, {"uri": opened.uri, "range": opened.range}
        params: dict[str, Any] = {"command": "mercury.completeBody", "arguments": [argument]}
        if how == "the client's bar":
            params["workDoneToken"] = "mine"
        number = client.request("workspace/executeCommand", params)
        assert began.wait(20)
        if how == "the request":
            client.notify("$/cancelRequest", {"id": number})
            assert client.answer(number)["error"]["code"] == -32800
        else:
            bar = client.wait_for(
                lambda sent: sent.get("method") == "$/progress" and sent["params"]["value"].get("title") == "Complete the body"
            )
            client.notify("window/workDoneProgress/cancel", {"token": bar["params"]["token"]})
            assert client.answer(number)["result"] == {"applied": False, "message": "Complete the body: cancelled"}
        assert stopped.wait(20)
        assert client.received("workspace/applyEdit") == []

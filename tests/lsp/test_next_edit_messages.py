"""Next edits over the wire, as Copilot's clients ask for them: what they send is taken from their sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsp_client import URI, Client, cut, scripted

from mercury_lsp.nextedit import service

BEFORE = "def area(width, height):\n    return width * height\n"
AFTER = BEFORE.replace("(width", "(breadth")
RETURN = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 16}}
ACCEPT = "github.copilot.didAcceptNextEditSuggestionItem"
REJECT = "github.copilot.didRejectNextEditSuggestionItem"


def renamed(client: Client) -> None:
    """A parameter was renamed where it is declared; a client that sends whole texts says so."""
    client.initialize()
    client.open(BEFORE)
    client.change({"text": AFTER})


def ask(client: Client, *, uri: str = URI, version: int | None = None, method: str = "textDocument/copilotInlineEdit", **more: Any) -> Any:
    document = {"uri": uri, "version": client.versions[uri] if version is None else version}
    return client.call(method, {"textDocument": document, "position": {"line": 0, "character": 12}, **more})["edits"]


def apply(text: str, edit: dict[str, Any]) -> str:
    """As clients do: positions are in UTF-16 units."""
    lines = text.split("\n")

    def at(position: dict[str, int]) -> int:
        units = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]]
        return sum(len(line) + 1 for line in lines[: position["line"]]) + len(units.decode("utf-16-le"))

    start, end = at(edit["range"]["start"]), at(edit["range"]["end"])
    return text[:start] + edit["text"] + text[end:]


# ------------------------------------------------------------------------------------------------ what clients send


def test_sidekick_asks_with_a_context() -> None:
    with scripted() as client:
        renamed(client)
        client.notify("textDocument/didFocus", {"textDocument": {"uri": URI}})
        (edit,) = ask(client, context={"triggerKind": 2})
        assert edit == {
            "text": "breadth",
            "textDocument": {"uri": URI, "version": 2},
            "range": RETURN,
            "command": {"title": "Accept next edit", "command": ACCEPT, "arguments": [edit["command"]["arguments"][0]]},
        }
        client.change({"text": apply(AFTER, edit)})
        assert (
            client.call("workspace/executeCommand", {"command": edit["command"]["command"], "arguments": edit["command"]["arguments"]})
            is None
        )
        assert ask(client, context={"triggerKind": 2}) == []


def test_copilot_el_accepts_with_a_notification() -> None:
    with scripted() as client:
        renamed(client)
        (edit,) = ask(client)
        command = {name: edit["command"][name] for name in ("command", "arguments")}
        client.notify("textDocument/didShowInlineEdit", {"item": {"command": edit["command"]}})
        client.notify("workspace/executeCommand", command)
        client.change({"text": apply(AFTER, edit)})
        assert ask(client) == []
        assert not client.received("window/showMessage")


def test_copilot_lsp_needs_edits_even_where_there_are_none() -> None:
    with scripted() as client:
        client.initialize()
        client.open(BEFORE)
        place = {"textDocument": {"uri": URI, "version": 1}, "position": {"line": 0, "character": 0}}
        assert client.call("textDocument/copilotInlineEdit", place) == {"edits": []}
        assert client.call(
            "textDocument/copilotInlineEdit", {**place, "textDocument": {"uri": "file:///never/opened.py", "version": 1}}
        ) == {"edits": []}
        assert client.call("textDocument/copilotInlineEdit", {}) == {"edits": []}
        assert client.call("textDocument/copilotInlineEdit") == {"edits": []}


def test_version_and_uri_go_back_as_they_came() -> None:
    odd = "file:///project/some%20file%2Epy"
    with scripted() as client:
        client.initialize()
        client.open(BEFORE, uri=odd)
        client.versions[odd] = 40
        client.change({"text": AFTER}, uri=odd)
        (edit,) = ask(client, uri=odd)
        assert edit["textDocument"] == {"uri": odd, "version": 41}
        assert client.call(
            "textDocument/copilotInlineEdit",
            {"textDocument": {"uri": "file:///project/some file.py", "version": 41}, "position": {"line": 0, "character": 0}},
        )["edits"][0]["textDocument"] == {"uri": "file:///project/some file.py", "version": 41}


@pytest.mark.parametrize("version", [1, 3])
def test_a_question_about_another_version_has_no_answer(version: int) -> None:
    with scripted() as client:
        renamed(client)
        assert ask(client, version=version) == []


def test_positions_are_utf_16_and_a_byte_order_mark_counts() -> None:
    marked = "\ufeffdef f(😀‸x): return '😀😀' + x\n".replace("😀‸", "")
    with scripted() as client:
        client.initialize()
        client.open(marked)
        changed = marked.replace("f(x)", "f(value)")
        client.change({"text": changed})
        (edit,) = ask(client)
        assert apply(changed, edit) == changed.replace("+ x", "+ value")


def test_a_diagnostic_names_what_is_missing() -> None:
    with scripted() as client:
        client.initialize()
        client.open("x = 1\n\n\n\nprint(Path)\n")
        client.change({"text": "x = 2\n\n\n\nprint(Path)\n"})
        assert ask(client) == []
        place = {"start": {"line": 4, "character": 6}, "end": {"line": 4, "character": 10}}
        (edit,) = ask(client, diagnostics=[{"range": place, "message": '"Path" is not defined', "severity": 1}, {"bad": 1}])
        assert edit["text"] == "from pathlib import Path\n\n"


# language, text, change, the line and the place of the diagnostic, what it says, what becomes what
COMPLAINTS: dict[str, tuple[str, str, tuple[str, str], str, str, tuple[str, str]]] = {
    "a name that was renamed, of two": (
        "python",
        "class A:\n    def size(self):\n        return 1\n\n\nclass B:\n    def size(self):\n        return 2\n\n\nA().size()\n",
        ("class A:\n    def size", "class A:\n    def width"), "A().«size»()", '"A" has no attribute "size"', ("A().size", "A().width"),
    ),
    "did you mean": (
        "typescript", "const length = 2;\n\n\n\nlog(lenght);\n\nconst count = 1;\n", ("count = 1", "count = 3"), "log(«lenght»);",
        "Cannot find name 'lenght'. Did you mean 'length'?", ("lenght", "length"),
    ),
    "a member": (
        "rust", "fn f(a: A) {\n    a.lenght();\n    let b = 1;\n}\n", ("b = 1", "b = 2"), "    a.«lenght»();",
        "no method named `lenght` found for struct `A`; there is a method with a similar name: did you mean `len_of`", ("lenght", "len_of"),
    ),
    "an import that nothing uses": (
        "python", "import os\nimport sys\n\nprint(sys.path)\n\nx = 1\n", ("x = 1", "x = 2"), "import «os»", "`os` imported but unused",
        ("import os\n", ""),
    ),
    "a semicolon": (
        "java", "class A {\n    int a = 1\n    int b = 2;\n    int c = 3;\n}\n", ("c = 3", "c = 4"), "    int a = «1»", "';' expected",
        ("a = 1", "a = 1;"),
    ),
    "a bracket": ("javascript", "f(g(1);\n\nh(2);\n", ("h(2)", "h(3)"), "f(g(1)«;»", "')' expected.", ("g(1)", "g(1))")),
}  # fmt: skip


@pytest.mark.parametrize("language, text, change, where, message, mend", COMPLAINTS.values(), ids=COMPLAINTS)
def test_a_new_diagnostic_is_mended(
    language: str, text: str, change: tuple[str, str], where: str, message: str, mend: tuple[str, str]
) -> None:
    now = text.replace(*change)
    start, end = where.index("«"), where.index("»") - 1
    row = now.split("\n").index(where.replace("«", "").replace("»", ""))
    place = {"start": {"line": row, "character": start}, "end": {"line": row, "character": end}}
    last = {"line": now.count("\n"), "character": 0}
    with scripted() as client:
        client.initialize()
        client.open(text, language=language)
        client.change({"text": now})
        assert all(each["kind"] != "diagnostic" for each in ask(client, method="mercury/nextEdit", position=last))
        (edit,) = ask(client, method="mercury/nextEdit", position=last, diagnostics=[{"range": place, "message": message}])
        assert apply(now, edit) == now.replace(*mend) and edit["kind"] == "diagnostic"


def test_a_diagnostic_that_was_there_before_is_not_of_the_change() -> None:
    text = "x = 1\n\n\nlog(lenght)\n"
    place = {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 10}}
    known = [{"range": place, "message": 'Undefined name "lenght". Did you mean "length"?'}]
    with scripted() as client:
        client.initialize()
        client.open(text)
        client.change({"text": text.replace("x = 1", "x = 2")})
        assert len(ask(client, diagnostics=known)) == 1
        client.change({"text": text.replace("x = 1", "x = 2\n\ny = 3")})
        moved = [{**known[0], "range": {name: {**each, "line": 5} for name, each in place.items()}}]
        assert ask(client, diagnostics=moved) == []


def test_windows_line_ends() -> None:
    with scripted() as client:
        client.initialize()
        client.open(BEFORE.replace("\n", "\r\n"))
        client.change({"text": AFTER.replace("\n", "\r\n")})
        (edit,) = ask(client)
        assert (edit["range"], edit["text"]) == (RETURN, "breadth")


def test_a_name_is_not_followed_while_it_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Letter after letter, as clients ask that do not wait: only who stops typing, or goes elsewhere, is told what follows."""
    monkeypatch.setattr(service, "_PAUSE", 2.0)
    with scripted() as client:
        client.initialize()
        client.open(BEFORE)
        waiting = []
        for typed in ("b", "br", "bre", "breadth"):
            client.change({"text": BEFORE.replace("(width", f"({typed}")})
            place = {"textDocument": {"uri": URI, "version": client.versions[URI]}, "position": {"line": 0, "character": 9 + len(typed)}}
            waiting.append(client.request("textDocument/copilotInlineEdit", place))
        *early, last = [client.answer(each)["result"]["edits"] for each in waiting]
        assert early == [[], [], []]
        assert [each["text"] for each in last] == ["breadth"]


def test_a_name_is_whole_once_the_cursor_has_left_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_PAUSE", 3600.0)
    with scripted() as client:
        renamed(client)
        for character in (15, 17):  # on its last letter, as in Vim's normal mode, and behind the comma
            place = {"textDocument": {"uri": URI, "version": 2}, "position": {"line": 0, "character": character}}
            assert len(client.call("textDocument/copilotInlineEdit", place)["edits"]) == 1


# ------------------------------------------------------------------------------------------------ our own clients


def test_our_own_clients_get_a_label_and_a_confidence() -> None:
    with scripted() as client:
        renamed(client)
        (edit,) = ask(client, method="mercury/nextEdit")
        assert edit["label"] == "Rename width to breadth"
        assert edit["kind"] == "rename" and 0.5 < edit["confidence"] <= 1 and edit["jump"] is None
        assert (edit["range"], edit["textDocument"]) == (RETURN, {"uri": URI, "version": 2})


def test_a_jump_into_another_document() -> None:
    other = "file:///project/use.py"
    with scripted() as client:
        client.initialize()
        client.open("def load():\n    return 1\n")
        client.open("from main import load\n\nprint(load())\n", uri=other)
        client.change({"text": "def read():\n    return 1\n"})
        assert ask(client) == []  # Copilot's clients take an edit for one of the document they asked about
        (edit,) = ask(client, method="mercury/nextEdit")
        assert edit["textDocument"] == {"uri": other, "version": 1}
        assert (
            edit["jump"] == {"uri": other, "position": edit["range"]["start"]} == {"uri": other, "position": {"line": 0, "character": 17}}
        )
        assert [each["text"] for each in ask(client, uri=other)] == ["read"]  # when the user went there


# ------------------------------------------------------------------------------------------------ quiet


def refuse_by_command(client: Client, edit: dict[str, Any]) -> None:
    client.call("workspace/executeCommand", {"command": REJECT, "arguments": edit["command"]["arguments"]})


def refuse_by_message(client: Client, edit: dict[str, Any]) -> None:
    client.call("notifyNextEditRejected", {"uuid": edit["command"]["arguments"][0], "reason": "escape"})


def refuse_as_ours(client: Client, edit: dict[str, Any]) -> None:
    client.notify("mercury/nextEditRejected", {"id": edit["command"]["arguments"][0]})


@pytest.mark.parametrize("refuse", [refuse_by_command, refuse_by_message, refuse_as_ours])
def test_a_refused_edit_stays_away_until_its_surroundings_change(refuse: Any) -> None:
    with scripted() as client:
        renamed(client)
        (edit,) = ask(client)
        refuse(client, edit)
        assert ask(client) == []
        client.change({"text": AFTER + "\n\n\n\n\nx = 1\n"})
        assert ask(client) == []
        client.change({"text": AFTER.replace("height\n", "height + 0\n") + "\n\n\n\n\nx = 1\n"})
        assert len(ask(client)) == 1


def test_an_edit_that_was_passed_over_again_and_again_stays_away() -> None:
    with scripted() as client:
        renamed(client)
        text, offered = AFTER + "\n\n\n\n", 0
        for number in range(6):
            text += f"\n\n\nvalue{number} = {number}"
            client.change({"text": text})
            offered += len(ask(client))
        assert offered == 3


def test_nothing_of_an_ignored_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("secret.py\n")
    uri = (tmp_path / "secret.py").as_uri()
    with scripted() as client:
        client.initialize()
        client.open(BEFORE, uri=uri)
        client.change({"text": AFTER}, uri=uri)
        assert ask(client, uri=uri) == []


def test_nothing_where_the_language_is_switched_off() -> None:
    with scripted() as client:
        client.initialize({"languages": {"python": False}})
        client.open(BEFORE)
        client.change({"text": AFTER})
        assert ask(client) == []


def test_at_most_one_edit_at_a_time() -> None:
    text, line, character = cut("def f(a‸):\n    x = a\n\n    y = 2\n\n    return a + x\n")
    with scripted() as client:
        client.initialize()
        client.open(text)
        text = text.replace("f(a)", "f(amount)")
        client.change({"text": text})
        for expected in ("x = amount", "return amount"):
            (edit,) = ask(client)
            text = apply(text, edit)
            assert expected in text
            client.change({"text": text})
        assert ask(client) == []

"""Somebody types a suggestion through, in editors that put in brackets and indentation of their own: it stays, and nobody is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lsp_client import Client, accept, cut, in_process, scripted

from engine.api import Draft, InfillRequest, Piece, StopFlag
from engine.scripted import ScriptedEngine

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("presentation.json").read_text(encoding="utf-8"))
TYPED = [
    *((case["name"], case["language"], case["before"], case["draft"]) for case in CASES if "selected" not in case),
    ("a name that opens a bracket", "python", "def f(self):\n    return self.‸\n", "items["),
    ("a member to come", "javascript", "let sum = 0;\nfor (const i of x) {\n  sum += ‸\n}\n", "item."),
    ("a tag in a tag", "html", "<ul>\n  <li‸\n</ul>\n", '><a href="about'),
    ("two lines", "python", 'def f(a):\n    if a:\n        print("x", a)‸\n\nf(1)\n', "\n        return a\n    return"),
    ("spaces for tabs", "go", "func main() {\n\tif x {‸\n\t}\n}\n", '\n        fmt.Println("a")\n        fmt.Println("b")'),
    ("spaces at the margin", "go", "func main() {\n\tx := 1\n‸\n}\n", "    y := 2\n    z := 3"),
    ("four for two", "python", "def f(a):\n  x = 1\n  if a:‸\n", "\n        return a\n    return b"),
    ("from the margin", "python", "class A:\n    def f(self):‸\n", "\n    return 1"),
    ("indented twice", "python", "def f():\n    ‸\n", "    return 1\n    x"),
    ("two spaces", "python", "def f(x):\n    return ‸\n", " x + 1"),
    ("what follows", "python", "def f(x):\n    ‸\n    return x\n", "x = x + 1\n    y = 2\n    return x"),
    ("two closers", "python", "print(foo(‸))\n", "bar(1), 2))"),
    ("lines with CR", "python", "def f():\r\n    if a:‸\r\n", "\n        return 1\n    else:\n        return 2"),
    ("emoji", "python", "x = ‸\n", '"😀 ok" + y'),
    ("a list of words", "markdown", "- a\n- ‸\n", "writes a file\n- prints\n\n## Next"),
    ("blank lines", "python", "def f():\n    a = 1‸\n", "\n\n    b = 2\n\n    return b"),
    ("a tab", "python", "def f():\n    a = 1\n    if a:‸\n", "\n\t\treturn a"),
    ("several pairs", "json", '{\n  "a": ‸\n}\n', '[1, 2],\n  "b": 3'),
    ("an object", "javascript", "foo({‸})\n", "a: 1, b: [2]"),
    ("a function", "javascript", "xs.map(‸)\n", "x => { return x * 2; })"),
    ("a block", "javascript", "f();\n‸\n", "if (a) {\n  b();\n}\nc();\n"),
    ("an open block", "javascript", "f();\n‸\n", "if (a) {"),
    ("a call, and more", "c", "int main(void) {\n    ‸\n}\n", 'printf("%d\\n", f(1));\n    return 0;\n}'),
]
PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'"}


class Editor:
    """A document with a cursor. `closes`: brackets and quotes come in pairs; `indents`: a new line is as deep as the one above."""

    def __init__(self, client: Client, marked: str, language: str, *, closes: bool = False, indents: bool = False) -> None:
        self.before, _, self.after = marked.partition("‸")
        self.closes, self.indents = closes, indents
        self.ends = 0  # closers after the cursor that were put there
        self._client = client
        self._break = "\r\n" if "\r\n" in marked else "\n"
        client.open(self.before + self.after, language=language)

    def item(self, kind: int = 2) -> str | None:
        """The document as it would be with the suggestion, None where there is none."""
        _, line, character = cut(self.before + "‸")
        items = self._client.items(line, character, kind=kind)
        return accept(self.before + self.after, items[0]) if items else None

    def type(self, text: str) -> None:
        for char in text:
            if self.ends and self.after[0] == char:
                self.ends, self.before, self.after = self.ends - 1, self.before + char, self.after[1:]
                continue
            self.before += self._break if char == "\n" else char
            if self.closes and char in PAIRS:
                self.ends, self.after = self.ends + 1, PAIRS[char] + self.after
            if self.indents and char == "\n":
                above = self.before.split(self._break)[-2]
                self.before += above[: len(above) - len(above.lstrip())]
        self._changed()

    def delete(self, count: int = 1) -> None:
        self.before = self.before[:-count]
        self._changed()

    def become(self, marked: str) -> None:
        self.before, _, self.after = marked.partition("‸")
        self._changed()

    def _changed(self) -> None:
        self._client.change({"text": self.before + self.after})


def editing(client: Client, marked: str, language: str = "python", **habits: bool) -> Editor:
    client.initialize({"minConfidence": 0.5})
    return Editor(client, marked, language, **habits)


@pytest.mark.parametrize("closes", [False, True], ids=["plain", "pairs"])
@pytest.mark.parametrize(("language", "marked", "draft"), [case[1:] for case in TYPED], ids=[case[0] for case in TYPED])
def test_it_stays_until_it_is_used_up(language: str, marked: str, draft: str, closes: bool) -> None:
    with scripted(draft, *["ZZZ"] * 100) as client:
        editor = editing(client, marked, language, closes=closes)
        wanted = editor.item() or ""
        end = len(wanted) - len(editor.after)
        while len(editor.before) < end:
            editor.type(wanted[len(editor.before) :].removeprefix("\r")[0])
            shown = editor.item()
            if len(editor.before) == end or wanted == editor.before + editor.after:
                continue
            if wanted.endswith(editor.after):
                assert shown == wanted
            else:  # a closer was put there amid the rest: as much of it as stands before that
                assert editor.ends and wanted.startswith(editor.before if shown is None else shown.removesuffix(editor.after))


def test_an_editor_that_indents_new_lines() -> None:
    with scripted("\n\n    b = 2\n    if b:\n        c()\n    return b", "ZZZ") as client:
        editor = editing(client, "def f():\n    a = 1‸\n", indents=True)
        wanted = editor.item()
        editor.type("\n")
        assert editor.item() == "def f():\n    a = 1\n    \n    b = 2\n    if b:\n        c()\n    return b\n"  # its spaces stay
        editor.type("\nb = 2\nif b:\n    ")
        assert editor.before == "def f():\n    a = 1\n    \n    b = 2\n    if b:\n        "
        editor.type("c()\n")
        assert editor.item() is None  # it goes on further left, and cannot take spaces away
        editor.delete(4)
        assert editor.item() is not None and wanted is not None and editor.item() == wanted.replace("\n\n", "\n    \n")
        editor.type("x")
        assert editor.item() == editor.before + "ZZZ\n"


def test_a_new_line_between_braces() -> None:
    with scripted("if (a) {\n    b();\n  }\n  return a;", "ZZZ") as client:
        editor = editing(client, "function f() {\n  ‸\n}\n", "javascript", closes=True)
        wanted = editor.item()
        assert wanted == "function f() {\n  if (a) {\n    b();\n  }\n  return a;\n}\n"
        editor.type("if (a) {")
        assert editor.item() == "function f() {\n  if (a) {\n    b();\n  }\n}\n"
        editor.become("function f() {\n  if (a) {\n    ‸\n  }\n}\n")
        assert editor.item() == "function f() {\n  if (a) {\n    b();\n  }\n}\n"
        editor.become("function f() {\n  if (a) {\n    b();\n  }‸\n}\n")
        assert editor.item() == wanted


def test_deleting_restores_it_but_not_beyond_its_start() -> None:
    with scripted("rn total + 1", "ZZZ") as client:
        editor = editing(client, "    retu‸\n")
        wanted = editor.item()
        editor.type("rn tot")
        assert editor.item() == wanted
        editor.delete(5)
        assert editor.item() == wanted
        editor.delete(2)
        assert editor.item() == "    retZZZ\n"


@pytest.mark.parametrize("now", ["retry‸\n", "return‸ x\n", "return‸\nx\n", "x\nreturn‸\n", "return‸"])
def test_another_text_drops_it_at_once(now: str) -> None:
    with scripted("rn total", "ZZZ", "YYY") as client:
        editor = editing(client, "retu‸\n")
        assert editor.item() == "return total\n"
        editor.become(now)
        editor.item()
        editor.become("retu‸\n")
        assert editor.item() == "retuYYY\n"


def test_what_was_deleted_after_the_cursor_does_not_come_back() -> None:
    with scripted("bar + ", "ZZZ") as client:
        editor = editing(client, "x = ‸foo(a)\n")
        assert editor.item() == "x = bar + foo(a)\n"
        editor.become("x = bar‸(a)\n")
        assert editor.item() != "x = bar + foo(a)\n"


def test_a_draft_that_cannot_be_shown_is_not_asked_for_again() -> None:
    with scripted("y = (2", "ZZZ") as client:
        editor = editing(client, "x = 1\n‸\n")
        assert editor.item() is None
        for char in "y = (":
            editor.type(char)
            shown = editor.item()
            assert shown in (None, "x = 1\ny = (2\n")  # amid a statement there is nothing to spoil
        editor.become("x = 1\ny = (‸)\n")
        assert editor.item() == "x = 1\ny = (2)\n"
        editor.become("x = 1\ny = (z‸)\n")
        assert editor.item() == "x = 1\ny = (zZZZ)\n"


class Unsure(ScriptedEngine):
    """Does not believe in what it says."""

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        return msgspec.structs.replace(super().infill(request, stop), confidence=0.1)


def test_an_unlikely_draft_is_not_asked_for_again() -> None:
    engine = Unsure(["alpha", "beta"])
    with in_process(lambda _: engine) as client:
        editor = editing(client, "x = ‸\n")
        for char in "alph":
            assert editor.item() is None
            editor.type(char)
        client.configuration = {"minConfidence": 0}
        client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": client.configuration}})
        assert editor.item() == "x = alpha\n"  # it is still the first one


def test_who_asks_with_a_key_sees_an_unlikely_draft_too() -> None:
    with in_process(lambda _: Unsure(["alpha", "beta"])) as client:
        client.initialize()
        client.open("x = \n")
        assert client.items(0, 4, kind=2) == []
        (item,) = client.items(0, 4, kind=1)
        assert item["insertText"] in ("x = alpha", "x = beta")


class Weighing(ScriptedEngine):
    """Says how likely each of its tokens is: `foo~0.9 ¦ (a, b)~0.5` has two."""

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        draft = super().infill(request, stop)
        length, sure, pieces = 0, 1.0, []
        tokens = re.findall(r"(.+?)~([.0-9]+)(?: ¦ |$)", draft.text)
        for token, chance in tokens:
            length, sure = length + len(token), sure * float(chance)
            pieces.append(Piece(length, float(chance), sure, sure))
        text = "".join(token for token, _ in tokens)
        return msgspec.structs.replace(draft, text=text, confidence=sure if text else 0.0, pieces=tuple(pieces))


def weighing(*drafts: str) -> Client:
    return in_process(lambda _: Weighing([*drafts, *["ZZZ~1"] * 20]))


def test_what_is_likely_is_shown_and_the_rest_when_that_is_there() -> None:
    with weighing("foo~0.9 ¦ (a, b)~0.3 ¦ .bar~1") as client:
        editor = editing(client, "x = ‸\n")
        assert editor.item() == "x = foo\n"
        editor.type("fo")
        assert editor.item() == "x = foo\n"
        editor.type("o")
        assert editor.item() is None  # nor is the engine asked: it would say the same
        editor.type("(")
        assert editor.item() == "x = foo(a, b).bar\n"  # one of its five characters makes the token likelier
        editor.delete(2)
        assert editor.item() == "x = foo(a, b).bar\n"  # what was shown comes back
        editor.type("o(a, b).bar")
        assert editor.item() == "x = foo(a, b).barZZZ\n"


def test_another_text_after_the_likely_part_drops_the_rest_at_once() -> None:
    with weighing("foo~0.9 ¦ (a)~0.3") as client:
        editor = editing(client, "x = ‸\n")
        assert editor.item() == "x = foo\n"
        editor.type("foo[")
        assert editor.item() == "x = foo[ZZZ\n"


def test_who_asks_with_a_key_sees_all_of_it() -> None:
    with weighing("foo~0.9 ¦ (a)~0.3", "foo~0.9 ¦ (a)~0.3") as client:
        editor = editing(client, "x = ‸\n")
        assert editor.item() == "x = foo\n"
        assert editor.item(kind=1) == "x = foo(a)\n"
        assert editor.item() == "x = foo(a)\n"


def test_a_part_that_cannot_stand_there_gives_way_to_a_shorter_one() -> None:
    with weighing("foo~0.9 ¦ ; x)~0.9 ¦  y~0.1") as client:
        assert editing(client, "int f() { return a(‸); }\n", "c").item() == "int f() { return a(foo); }\n"


def test_a_popup_hides_it_only_while_it_says_something_else() -> None:
    with scripted("path.join(a)", "ZZZ") as client:
        client.initialize()
        client.open("os.\n")
        place = {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 3}}
        assert client.items(0, 3, kind=2, selectedCompletionInfo={"range": place, "text": "pardir"}) == []
        (item,) = client.items(0, 3, kind=2, selectedCompletionInfo={"range": place, "text": "path"})
        assert item["insertText"] == "os.path.join(a)"
        assert client.items(0, 3, kind=2) != []


def test_an_explicit_request_is_not_content_with_nothing() -> None:
    with scripted("y = (2", "y = 2") as client:
        editor = editing(client, "x = 1\n‸\n")
        assert editor.item() is None
        assert editor.item(kind=1) == "x = 1\ny = 2\n"


def test_two_documents_have_a_suggestion_each() -> None:
    with scripted("rn a", "rn b", "ZZZ") as client:
        client.initialize()
        for name in "ab":
            client.open("retu\n", uri=f"file:///{name}.py")
            client.items(0, 4, uri=f"file:///{name}.py", kind=2)
        for name in "ab":
            client.change({"text": "retur\n"}, uri=f"file:///{name}.py")
            (item,) = client.items(0, 5, uri=f"file:///{name}.py", kind=2)
            assert item["insertText"] == f"return {name}"

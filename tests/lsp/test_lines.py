"""What a project has written before is offered when its lines are begun again."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lsp_client import cut, in_process, process

from engine.scripted import ScriptedEngine
from mercury_lsp import present
from mercury_lsp.lines import Known, Lines
from mercury_lsp.recall import recalled
from mercury_lsp.session import Session

TESTS = """
def test_one():
    result = run(case)
    self.assertEqual(result, 3)

def test_two():
    result = run(case)
    self.assertEqual(result, 3)
    other = run(case, twice=True)
    self.assertEqual(read(path), "")
"""


@pytest.fixture
def lines() -> Lines:
    found = Lines()
    found.put("tests.py", "python", TESTS)
    return found


def known(lines: Lines, marked: str, language: str = "python") -> Known | None:
    text, line, column = cut(marked)
    session = Session()
    session.open("file:///project/new.py", language, 1, text)
    snapshot = session.snapshot("file:///project/new.py", line, column)
    assert snapshot is not None
    return recalled(snapshot, lines)


def text_of(found: Known | None) -> str | None:
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("marked", "missing"),
    [
        ("    result = run(case)\n    self.ass‸\n", "ertEqual(result, 3)"),  # what stood after the same line
        ("    other = run(case, twice=True)\n\n\tself.ass‸\n", 'ertEqual(read(path), "")'),  # indentation and blank lines aside
        ("self.assertEqual(rea‸", 'd(path), "")'),
        ("self.assertEqual(result, 3)‸\n", None),  # all of it is there
        ("self.assertEqual(resul‸)\n", "t, 3"),  # the closer that an editor put in stays
        ("self.assertEqual(result, ‸)\n", None),  # as soon typed as accepted
        ("self.assertEqual(result, ‸]\n", None),
        ("self.assertRaises‸\n", None),
        ("sel‸\n", None),  # too little to tell
        ("‸\n", None),
    ],
)
def test_how_the_line_goes_on(lines: Lines, marked: str, missing: str | None) -> None:
    assert text_of(known(lines, marked)) == missing


def test_the_line_at_hand_counts_only_where_it_stands_elsewhere(lines: Lines) -> None:
    lines.put("main.py", "python", "one = 1\nself.assertNotIn(a, b)\n")
    session = Session()
    session.open("file:///project/main.py", "python", 1, "one = 1\nself.assertN\n")
    snapshot = session.snapshot("file:///project/main.py", 1, 12)
    assert snapshot is not None
    assert text_of(recalled(snapshot, lines)) == "otIn(a, b)"
    assert recalled(snapshot, lines, "one = 1\nself.assertNotIn(a, b)\n") is None
    lines.put("other.py", "python", "self.assertNotIn(a, b)\n")
    assert text_of(recalled(snapshot, lines, "one = 1\nself.assertNotIn(a, b)\n")) == "otIn(a, b)"


def test_another_languages_lines_are_not_known(lines: Lines) -> None:
    assert known(lines, "self.ass‸\n", "javascript") is None


def test_the_oftener_the_surer(lines: Lines) -> None:
    before = known(lines, "self.assertEqual(rea‸\n")
    for number in range(5):
        lines.put(f"{number}.py", "python", '    self.assertEqual(read(path), "")\n')
    after = known(lines, "self.assertEqual(rea‸\n")
    assert before is not None and after is not None and 0 < before.confidence < after.confidence < 1


def test_a_file_that_changes_or_goes_takes_its_lines_along(lines: Lines) -> None:
    lines.put("tests.py", "python", "self.assertEqual(1, 1)\n")
    assert text_of(known(lines, "self.ass‸\n")) == "ertEqual(1, 1)"
    lines.drop("tests.py")
    lines.drop("never.py")
    assert known(lines, "self.ass‸\n") is None


def test_there_is_an_end_to_how_much_is_kept() -> None:
    lines = Lines(most=10)
    lines.put("a.py", "python", "".join(f"first_{number} = 1\n" for number in range(8)))
    lines.put("b.py", "python", "".join(f"second_{number} = 1\n" for number in range(8)))
    assert known(lines, "first_7‸") and not known(lines, "second_7‸")
    lines.drop("a.py")
    lines.put("b.py", "python", "".join(f"second_{number} = 1\n" for number in range(8)))
    assert known(lines, "second_7‸")


# ------------------------------------------------------------------------------------------------ in the server


@pytest.mark.parametrize(
    ("line", "marked", "language"),
    [
        ("headers.set('Connection', 'close');", "headers.set('Conn‸');", "javascript"),  # the quote right of it ends another string
        ("methods = ['get', 'head', 'delete']", "methods = ['g‸']", "python"),
        ("self[name] = other[name] + third[name]", "self[name] = other[na‸]", "python"),
        ('Name\t\tstring\t`json:"name"`', "type A struct {\n\tName\t‸\n}", "go"),  # columns are set with tabs
        ("palette :unicorn      => '#faf6e4'", "palette :unicorn   ‸", "ruby"),
        ("root({ enable = true })", "root({ ena‸})", "lua"),
    ],
)
def test_a_known_line_comes_out_as_it_is(line: str, marked: str, language: str) -> None:
    found = Lines()
    for number in range(3):
        found.put(f"{number}", language, line + "\n")
    text, row, column = cut(marked + "\n")
    missing = text_of(known(found, marked + "\n", language))
    assert missing is not None
    item = present.item(text, row, column, missing, language=language, exact=True)
    assert item is not None and item.insert_text.strip() == line


def test_what_was_deleted_is_not_offered_again(tmp_path: Path) -> None:
    """The editor rests while half a line is there, so that the index reads that; then the user takes it back."""
    uri = (tmp_path / "new.py").as_uri()
    with in_process(lambda _: ScriptedEngine([])) as client:
        client.initialize(rootUri=tmp_path.as_uri())
        client.open("first = 1\nself.assertEqual(a, b)\n", uri=uri)
        time.sleep(0.5)
        client.change({"text": "first = 1\nself.ass\n"}, uri=uri)
        assert client.items(1, 8, uri=uri, kind=2) == []


def test_nothing_but_the_script_answers_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("value = configuration.lookup('alpha', default=None)\n" * 3)
    script = tmp_path / "script.json"
    script.write_text('["abc"]')
    with process("--model", f"scripted:{script}") as client:
        client.initialize(rootUri=tmp_path.as_uri())
        client.open("value = conf", uri=(uri := (tmp_path / "new.py").as_uri()))
        time.sleep(1)  # by then the index has read it
        assert [item["insertText"] for item in client.items(0, 12, uri=uri, kind=2)] == ["value = confabc"]
        client.change({"text": "value = configura"}, uri=uri)
        assert client.items(0, 17, uri=uri, kind=2) == []


def test_the_server_offers_a_line_of_another_file_without_the_engine(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("value = configuration.lookup('alpha', default=None)\n" * 3)
    (tmp_path / "hidden.py").write_text("secret = configuration.lookup('token', default=None)\n" * 3)
    (tmp_path / ".mercuryignore").write_text("hidden.py\n")
    uri = (tmp_path / "new.py").as_uri()
    with in_process(lambda _: ScriptedEngine([])) as client:
        client.initialize(rootUri=tmp_path.as_uri())
        client.open("value = conf", uri=uri)
        offered: list[str] = []
        end = time.monotonic() + 20
        while not offered and time.monotonic() < end:  # until the index has read it
            time.sleep(0.1)
            offered = [item["insertText"] for item in client.items(0, 12, uri=uri, kind=2)]
        assert offered == ["value = configuration.lookup('alpha', default=None)"]
        client.change({"text": "secret = conf"}, uri=uri)
        assert client.items(0, 13, uri=uri, kind=2) == []

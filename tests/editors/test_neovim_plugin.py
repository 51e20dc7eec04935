"""The Neovim plugin in two releases of the editor: 0.12, which shows suggestions itself, and 0.11, where the plugin draws them."""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from neovim import ROOT, wait
from plugin import Plugin, plugin

RELEASES = pytest.mark.parametrize("release", ["0.11", "0.12"])
STAND_IN = (sys.executable, str(Path(__file__).parent / "stand_in.py"))


@contextmanager
def opened(
    tmp_path: Path,
    release: str,
    content: str,
    drafts: Sequence[str] = (),
    edits: Sequence[Any] = (),
    others: Sequence[str] = (),
    freely: bool = False,
    gone: str = "",
    unsaid: bool = False,
    **options: Any,
) -> Iterator[Plugin]:
    script = tmp_path / "script.json"
    given = {"drafts": drafts, "others": others, "edits": edits, "freely": freely, "gone": gone, "unsaid": unsaid}
    script.write_text(json.dumps(given))
    (tmp_path / "main.py").write_text(content)
    with plugin(tmp_path, release, [*STAND_IN, str(script)], **options) as editor:
        editor.edit(tmp_path / "main.py")
        yield editor
        assert "ERROR" not in editor.editor.log()


@RELEASES
def test_tab_accepts_what_is_shown(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "if a:\n", ["b = a\n    return b"] * 9) as editor:
        editor.press("o    ")
        assert editor.sees("b = a", "    return b")
        editor.press("<Tab>")
        assert editor.becomes("if a:", "    b = a", "    return b")
        assert editor.cursor() == (3, 12)


@RELEASES
def test_what_stands_around_a_cursor_at_rest_is_read_before_the_first_key(tmp_path: Path, release: str) -> None:
    """Told by the only draft: who may draft ahead has used it up by then, who may not has it for the keys."""
    for freely in (False, True):
        with opened(tmp_path, release, "x = 1\nprint(x)\n", ["one"], freely=freely) as editor:
            editor.press("j")
            time.sleep(1)
            editor.press("A + ")
            assert editor.sees("one") if not freely else not wait(editor.ghost, 2)


@RELEASES
def test_tab_is_a_tab_where_nothing_is_shown(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "x\n") as editor:
        editor.press("o<Tab>y")
        assert editor.becomes("x", "\ty")


@RELEASES
def test_tab_does_what_it_was_mapped_to_before(tmp_path: Path, release: str) -> None:
    mapped = "vim.keymap.set('i', '<Tab>', function() return 'mapped' end, { expr = true })"
    with opened(tmp_path, release, "x\n", first=mapped) as editor:
        editor.press("A<Tab>")
        assert editor.becomes("xmapped")


@RELEASES
def test_by_word_and_by_line(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["turn größe + 1\nprint(größe)"] * 9) as editor:
        editor.press("ire")
        assert editor.sees("turn größe + 1", "print(größe)")
        editor.press("<M-Right>")
        assert editor.becomes("return")
        assert editor.sees(" größe + 1", "print(größe)")
        editor.press("<M-Right>")
        assert editor.becomes("return größe")
        assert editor.sees(" + 1", "print(größe)")
        editor.press("<M-Down>")
        assert editor.becomes("return größe + 1")
        assert editor.sees("", "print(größe)")
        editor.press("<M-Down>")
        assert editor.becomes("return größe + 1", "print(größe)")


@RELEASES
def test_the_rest_of_the_line_stays(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "print()\n", ["name, end=''"] * 9) as editor:
        drawn_over = ")" if release == "0.12" else ""  # by the editor itself, over the line's rest
        editor.press("f)i")
        assert editor.sees("name, end=''" + drawn_over)
        editor.press("<M-Right>")
        assert editor.becomes("print(name)")
        assert editor.sees(", end=''" + drawn_over)
        editor.press("<Tab>")
        assert editor.becomes("print(name, end='')")


@RELEASES
def test_typing_on_keeps_it_and_dismissing_takes_it_away(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["rn total"]) as editor:
        editor.press("iretu")
        assert editor.sees("rn total")
        editor.press("rn")
        assert editor.sees(" total")
        editor.press("<C-]>")
        assert editor.sees()
        assert editor.lines() == ["return"]
        editor.press("<Tab>x")  # the tab key is a tab again
        assert editor.becomes("return\tx")


@RELEASES
def test_accepting_fast_leaves_nothing_behind(tmp_path: Path, release: str) -> None:
    """The editor does not wait for an answer about the key: what is shown still begins where it was asked for."""
    with opened(tmp_path, release, "f()\n", ["total + 1"] * 9) as editor:
        editor.press("f)i")
        assert editor.sees("total + 1" + (")" if release == "0.12" else ""))
        editor.press("tot<Tab>")
        assert editor.becomes("f(total + 1)")


@RELEASES
def test_another_suggestion(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["rn total"] * 9, others=["rn count", "rn size"]) as editor:
        editor.press("iretu")
        assert editor.sees("rn total")
        for key, shown in (("<M-]>", "rn count"), ("<M-]>", "rn size"), ("<M-]>", "rn total"), ("<M-[>", "rn size")):
            editor.press(key)
            assert editor.sees(shown)
        editor.press("<Tab>")
        assert editor.becomes("return size")


@RELEASES
def test_the_menu_and_snippets_keep_their_tab(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "total = 1\ntotals = 2\n", ["al * 2"] * 9) as editor:
        editor.api.command("set completeopt=menu,menuone,noinsert")
        editor.press("ototal<C-n>")
        editor.rest(0.5)
        assert editor.api.funcs.pumvisible() == 1
        assert not editor.api.exec_lua("return require('mercury.ghost').visible()")
        editor.press("<C-e><Esc>S")
        assert editor.becomes("total = 1", "", "totals = 2")  # else the snippet may come before the keys
        editor.api.exec_lua("vim.snippet.expand('f(${1:a}, ${2:b})')")
        editor.press("x<Tab>")
        assert wait(lambda: editor.api.funcs.mode() == "s", 10)  # the next place is selected with keys, too
        editor.press("y")
        assert editor.becomes("total = 1", "f(x, y)", "totals = 2"), editor.lines()


@RELEASES
def test_switched_off_it_asks_for_nothing(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["rn total"] * 9) as editor:
        editor.api.command("Mercury toggle")
        assert editor.api.exec_lua("return require('mercury').status().state") == "off"
        editor.press("iretu")
        editor.rest(0.6)
        assert editor.ghost() == []
        editor.press("<Esc>")
        editor.api.command("Mercury toggle")
        editor.press("A")
        assert editor.sees("rn total")


EDIT = {"line": 2, "old": "count", "new": "total", "label": "rename", "when": "total = 1"}
BEFORE = "count = 1\nb = 2\nprint(count)\n"


@RELEASES
def test_a_next_edit_near_by(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as editor:
        editor.press("cwtotal<Esc>")
        assert editor_sees_edit(editor, [(1, [], "count"), (1, ["total"], "")])
        editor.press("<Tab>")
        assert editor.becomes("total = 1", "print(total)")
        assert editor_sees_edit(editor, [])


@RELEASES
def test_a_next_edit_far_away_is_jumped_to_first(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, BEFORE, edits=[EDIT]) as editor:
        editor.press("cwtotal<Esc>")
        assert editor_sees_edit(editor, [(0, [" <Tab> line 3: rename "], ""), (2, [], "count"), (2, ["total"], "")])
        editor.press("<Tab>")
        assert editor_sees_edit(editor, [(2, [], "count"), (2, ["total"], "")])
        assert editor.cursor() == (3, 6)
        assert editor.lines() == ["total = 1", "b = 2", "print(count)"]
        editor.press("<Tab>")
        assert editor.becomes("total = 1", "b = 2", "print(total)")


@RELEASES
def test_a_next_edit_of_lines(tmp_path: Path, release: str) -> None:
    edit = {"line": 1, "old": "a = 1", "new": "a = 2\nc = 4", "when": "# é"}
    with opened(tmp_path, release, "# \na = 1\nb = 2\n", edits=[edit]) as editor:
        editor.press("Aé<Esc>")
        assert editor_sees_edit(editor, [(1, [], "a = 1"), (1, ["a = 2", "c = 4"], "")])
        editor.press("<Tab>")
        assert editor.becomes("# é", "a = 2", "c = 4", "b = 2")


@RELEASES
def test_escape_dismisses_a_next_edit(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as editor:
        editor.press("cwtotal<Esc>")
        assert editor_sees_edit(editor, [(1, [], "count"), (1, ["total"], "")])
        editor.press("<Esc>")
        assert editor_sees_edit(editor, [])
        editor.rest(0.6)  # it does not come back by itself
        assert editor.edit_marks() == []
        assert editor.lines() == ["total = 1", "print(count)"]


@RELEASES
def test_a_next_edit_in_another_file(tmp_path: Path, release: str) -> None:
    (tmp_path / "other.py").write_text("import main\nmain.count\n")
    edit = {**EDIT, "line": 1, "file": "other.py"}
    with opened(tmp_path, release, "count = 1\n", edits=[edit]) as editor:
        editor.api.command(f"cd {tmp_path} | set hidden")
        editor.press("cwtotal<Esc>")
        assert editor_sees_edit(editor, [(0, [" <Tab> other.py:2: rename "], "")])
        editor.press("<Tab>")
        assert editor_sees_edit(editor, [(1, [], "count"), (1, ["total"], "")])
        assert editor.cursor() == (2, 5)
        editor.press("<Tab>")
        assert editor.becomes("import main", "main.total")


@RELEASES
def test_the_servers_own_next_edit(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "def count(a):\n    return a\n\n\nprint(count(1))\n") as editor:
        editor.press("wcwtotal<Esc>")
        assert wait(lambda: [mark for mark in editor.edit_marks() if mark[1] == ["total"] or mark[2] == "count"], 10)
        editor.press("<Tab>")
        editor.rest(0.3)
        editor.press("<Tab>")
        assert editor.becomes("def total(a):", "    return a", "", "", "print(total(1))")


@RELEASES
def test_a_refactoring_of_the_selection(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "def area(a, b):\n    result = a * b + 1\n    return result\n") as editor:
        editor.press("jw")
        editor.api.command("Mercury inlineVariable")
        assert editor.becomes("def area(a, b):", "    return a * b + 1")
        editor.press("u/a \\* b<CR>vf1:Mercury extractVariable<CR>")
        assert wait(lambda: any("= a * b + 1" in line for line in editor.lines()) and len(editor.lines()) == 4, 10), editor.lines()


@RELEASES
def test_an_answer_and_a_further_question(tmp_path: Path, release: str) -> None:
    drafts = ["It adds.\n\n```python\nc = a + b\n```", "Because."]
    with opened(tmp_path, release, "c = a - b\n", drafts) as editor:
        editor.api.command("1Mercury ask what does this do?")
        assert editor.becomes("It adds.", "", "```python", "c = a + b", "```")
        editor.api.command("Mercury applyAnswer 1")
        editor.press("<C-w>p")
        assert editor.becomes("c = a + b")
        editor.press("<C-w>p")
        editor.api.command("Mercury ask why?")
        assert editor.becomes("Because.")


def editor_sees_edit(editor: Plugin, marks: list[tuple[int, list[str], str]]) -> bool:
    end = time.monotonic() + 10
    while sorted(map(repr, editor.edit_marks())) != sorted(map(repr, marks)):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@RELEASES
def test_300_characters_at_20_keys_a_second(tmp_path: Path, release: str) -> None:
    """Whatever is shown meanwhile: the buffer is what was typed, with what was accepted where it was accepted."""
    chance = random.Random(7)
    with opened(tmp_path, release, "", ["sum(values)", "x", "é + 1", "first\nsecond", "name)", "  y"] * 200) as editor:
        editor.api.command("set noautoindent")
        editor.press("i")
        expected, accepted = "", 0
        for count in range(300):
            key = chance.choice("abc (=.,é\n")
            editor.press("<CR>" if key == "\n" else key)
            expected += key
            time.sleep(0.05)
            if count % 20 == 19 and wait(editor.ghost, 1):
                editor.press("<Tab>")
                editor.rest(0.1)
                after = "\n".join(editor.lines())
                assert after.startswith(expected)
                expected, accepted = after, accepted + (len(after) > len(expected))
        assert editor.becomes(*expected.split("\n"))
        assert accepted >= 5


def test_health_names_what_is_missing(tmp_path: Path) -> None:
    with plugin(tmp_path, "0.12", ["no-such-server"]) as editor:
        editor.api.command("checkhealth mercury")
        assert any("no-such-server is not on PATH" in line for line in editor.lines())
        assert editor.api.exec_lua("return require('mercury').status().state") == "missing"


@RELEASES
def test_what_the_server_cannot_load_stands_in_the_status(tmp_path: Path, release: str) -> None:
    (tmp_path / "main.py").write_text("")
    with plugin(tmp_path, release, [sys.executable, "-m", "mercury_lsp", "--model", "scripted:nowhere.json"]) as editor:
        editor.edit(tmp_path / "main.py")
        status = "return require('mercury').status()"
        assert wait(lambda: editor.api.exec_lua(status)["state"] == "error", 20), editor.api.exec_lua(status)
        assert "cannot read the script" in editor.api.exec_lua(status)["text"]


GONE = "engine.url http://box: nobody answers."


@RELEASES
def test_an_engine_that_is_gone_stands_in_the_status_until_it_is_back(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["rn total"] * 9, gone=GONE) as editor:
        line, status = "return require('mercury').statusline()", "return require('mercury').status()"
        editor.press("iretu")
        assert editor.sees("rn total")  # another answers in its place
        assert wait(lambda: editor.api.exec_lua(line) == "mercury~", 10), editor.api.exec_lua(line)
        assert editor.api.exec_lua(status) == {"state": "warning", "text": GONE}
        assert GONE in editor.api.exec_lua("return vim.fn.execute('messages')")
        editor.press("back")
        assert wait(lambda: editor.api.exec_lua(status)["state"] == "ready", 10), editor.api.exec_lua(status)


@RELEASES
def test_health_asks_how_the_server_is(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "", ["rn total"] * 9, gone=GONE, unsaid=True) as editor:
        editor.press("iretu")
        assert editor.sees("rn total")
        editor.press("<Esc>")
        assert wait(lambda: editor.api.exec_lua("return require('mercury').status().state") == "ready", 10)
        editor.api.command("checkhealth mercury")
        assert any("WARNING" in line and GONE in line for line in editor.lines()), editor.lines()


def test_the_help_has_what_the_plugin_has(tmp_path: Path) -> None:
    with opened(tmp_path, "0.12", "") as editor:
        editor.api.command(f"helptags {ROOT / 'editors' / 'neovim' / 'doc'}")
        editor.api.command("help mercury-options")
        text = "\n".join(editor.lines())
        for command in editor.api.exec_lua("return vim.tbl_keys(require('mercury.commands').commands)"):
            assert command == "status" or re.search(rf":\S*Mercury .*\b{command}\b", text), command
        for key in editor.api.exec_lua("return vim.tbl_keys(require('mercury.config').defaults.keys)"):
            assert len(re.findall(rf"\b{key}\b", text)) >= 2, key


def test_a_bad_option_is_named_and_the_defaults_hold(tmp_path: Path) -> None:
    with opened(tmp_path, "0.12", "") as editor:
        lua = "return require('mercury.config').read(...)"
        assert editor.api.exec_lua(lua, {"sugestions": {}}) == ["sugestions: no such option"]
        bad = editor.api.exec_lua(lua, {"next_edit": {"debounce": "soon"}, "keys": {"accept": True}})
        assert sorted(bad) == ["keys.accept: expected string, got boolean", "next_edit.debounce: expected number, got string"]
        assert editor.api.exec_lua(lua, {"keys": {"accept": False}, "filetypes": ["python"], "settings": {"multiline": False}}) == []

"""The extension in a real VS Code: see a suggestion, take it, and what the status says."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from neovim import ROOT
from playwright.sync_api import Browser
from vscode import Code, CodeServer, code_server, headless, until

STAND_IN = Path(__file__).parent / "stand_in.py"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with headless() as started:
        yield started


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[CodeServer]:
    with code_server(tmp_path_factory.mktemp("code"), chromium) as started:
        yield started


@contextmanager
def opened(
    editor: CodeServer,
    home: Path,
    content: str,
    drafts: Sequence[str] = (),
    edits: Sequence[Any] = (),
    others: Sequence[str] = (),
    excluded: str = "",
    ready: str = "Ready",
    **script: Any,
) -> Iterator[Code]:
    """A window with `main.py` open, and a server that suggests `drafts`."""
    folder = home / "example"
    folder.mkdir(exist_ok=True)
    written = home / "script.json"
    written.write_text(json.dumps({"drafts": drafts, "others": others, "edits": edits, **script}))
    program = home / "server"
    program.write_text(f"#!/bin/sh\necho $$ > {home / 'server.pid'}\nPYTHONPATH={ROOT} exec {sys.executable} {STAND_IN} {written}\n")
    program.chmod(0o755)
    (folder / "main.py").write_text(content)
    with editor.window(folder, {"mercury.server.path": str(program), "mercury.deadlineMs": 20_000}) as code:
        code.open("main.py")
        assert code.status_says(ready), code.status()
        if excluded:  # not before: the editor would not open it
            settings = folder / ".vscode" / "settings.json"
            settings.write_text(json.dumps({**json.loads(settings.read_text()), "files.exclude": {excluded: True}}))
        yield code


def test_tab_accepts_what_is_shown(editor: CodeServer, tmp_path: Path) -> None:
    given = 'def mean(values):\n    """Return the mean of the values, 0 for none."""\n'
    with opened(editor, tmp_path, given, ["not values:\n        return 0\n    return sum(values) / len(values)"] * 9) as code:
        code.press("Control+End")
        code.type("    if ")
        assert code.sees("not values:", "        return 0", "    return sum(values) / len(values)"), code.ghost()
        code.screenshot("suggestion")
        code.press("Tab")
        after = given + "    if not values:\n        return 0\n    return sum(values) / len(values)"
        assert code.becomes("main.py", after), code.text("main.py")


def test_by_word_and_by_line(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["turn größe + 1\nprint(größe)"] * 9) as code:
        code.type("re")
        assert code.sees("turn größe + 1", "print(größe)"), code.ghost()
        code.press("Control+ArrowRight")
        assert code.becomes("main.py", "return")
        code.press("Control+ArrowDown")
        assert code.becomes("main.py", "return größe + 1\n"), code.text("main.py")
        assert code.sees("print(größe)")


def test_what_stands_around_a_cursor_at_rest_is_read_before_the_first_key(editor: CodeServer, tmp_path: Path) -> None:
    """Told by the only draft: who may draft ahead has used it up by then, who may not has it for the keys."""
    for freely in (False, True):
        home = tmp_path / str(freely)
        home.mkdir()
        with opened(editor, home, "x = 1\nprint(x)\n", ["ne"], freely=freely) as code:
            code.press("ArrowDown", "End")
            code.page.wait_for_timeout(1500)
            code.type("+")
            assert code.sees("ne") if not freely else not until(code.ghost, 3)


def test_another_suggestion(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 9, others=["rn count", "rn size"]) as code:
        code.type("retu")
        assert code.sees("rn total"), code.ghost()
        code.press("Alt+]")
        assert code.sees("rn count"), code.ghost()
        code.press("Tab")
        assert code.becomes("main.py", "return count")


def test_typing_on_keeps_it_and_escape_takes_it_away(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 2) as code:
        code.type("retu")
        assert code.sees("rn total"), code.ghost()
        code.type("rn")
        assert code.sees(" total"), code.ghost()
        code.press("Escape")
        assert code.sees()
        code.press("Tab")
        code.type("x")
        assert code.becomes("main.py", "return  x"), code.text("main.py")


def test_the_menu_keeps_its_tab(editor: CodeServer, tmp_path: Path) -> None:
    edit = {"line": 2, "old": "print", "new": "show", "when": "tot"}
    with opened(editor, tmp_path, "totality = 1\n\nprint()\n", edits=[edit]) as code:
        code.press("ArrowDown")
        code.type("tot")
        assert until(lambda: code.struck() == "print"), code.struck()
        code.press("Control+Space")
        code.page.locator(".suggest-widget.visible .monaco-list-row").first.wait_for()
        code.press("Tab")
        assert code.becomes("main.py", "totality = 1\ntotality\nprint()\n"), code.text("main.py")


def test_a_snippet_keeps_its_tab(editor: CodeServer, tmp_path: Path) -> None:
    edit = {"line": 1, "old": "print", "new": "show", "when": "f(x"}
    with opened(editor, tmp_path, "\nprint()\n", edits=[edit]) as code:
        (code.folder / ".vscode" / "f.code-snippets").write_text('{"f": {"prefix": "fff", "body": "f(${1:a}, ${2:b})"}}')
        until(lambda: insert_snippet(code, "fff"), 20)
        code.type("x")
        assert until(lambda: code.struck() == "print")
        code.press("Tab")
        code.type("y")
        assert code.becomes("main.py", "f(x, y)\nprint()\n"), code.text("main.py")


def insert_snippet(code: Code, prefix: str) -> bool:
    """The editor takes a moment to see the file of snippets."""
    code.type(prefix)
    code.press("Control+Space")
    shown = until(lambda: code.page.locator(".suggest-widget.visible .monaco-list-row", has_text=prefix).count() > 0, 2)
    if shown:
        code.press("Enter")
        return True
    code.press("Escape", *["Backspace"] * len(prefix))
    return False


EDIT = {"old": "count", "new": "total", "label": "rename", "when": "total = 1"}


def test_a_next_edit_near_by(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as code:
        code.press("Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.struck() == "count"), code.struck()
        assert code.added() == ["total"]
        code.screenshot("next-edit")
        code.press("Tab")
        assert code.becomes("main.py", "total = 1\nprint(total)\n"), code.text("main.py")
        assert until(lambda: code.struck() == "" and code.added() == [])


def test_a_next_edit_far_away_is_jumped_to_first(editor: CodeServer, tmp_path: Path) -> None:
    between = "b = 2\n" * 60
    with opened(editor, tmp_path, f"count = 1\n{between}print(count)\n", edits=[{**EDIT, "line": 61}]) as code:
        code.press("Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.added() == ["Tab → line 62: rename"]), code.added()
        code.screenshot("next-edit-jump")
        code.press("Tab")
        assert until(lambda: code.struck() == "count" and code.added() == ["total"]), code.added()
        assert until(lambda: "Ln 62, Col 7" in code.page.locator(".statusbar").inner_text())
        assert code.text("main.py").startswith("total = 1\nb = 2\n") and code.text("main.py").endswith("print(count)\n")
        code.press("Tab")
        assert code.becomes("main.py", f"total = 1\n{between}print(total)\n")


def test_a_next_edit_of_lines_is_a_picture_beside_them(editor: CodeServer, tmp_path: Path) -> None:
    edit = {"line": 1, "old": "a = 1", "new": "a = 2\nc = '<4>'", "when": "# é"}
    with opened(editor, tmp_path, "# \na = 1\nb = 2\n", edits=[edit]) as code:
        code.press("End")
        code.type("é")
        assert until(lambda: code.struck() == "a = 1"), code.struck()
        assert code.added()[0].startswith('url("data:image/svg+xml;base64,')
        code.screenshot("next-edit-lines")
        code.press("Tab")
        assert code.becomes("main.py", "# é\na = 2\nc = '<4>'\nb = 2\n"), code.text("main.py")


def test_escape_dismisses_a_next_edit(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as code:
        code.press("Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.struck() == "count")
        code.press("Escape")
        assert until(lambda: code.struck() == "")
        code.page.wait_for_timeout(800)  # it does not come back by itself
        assert code.struck() == ""
        assert code.text("main.py") == "total = 1\nprint(count)\n"


def test_switched_off_and_on(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["n total"] * 9) as code:
        code.command("Mercury: Switch On or Off for This Language")
        assert code.status_says("Switched off for python"), code.status()
        code.type("retu")
        code.page.wait_for_timeout(1000)
        assert code.ghost() == []
        code.command("Mercury: Switch On or Off for This Language")
        assert code.status_says("Ready")
        code.type("r")
        assert code.sees("n total"), code.ghost()
        code.command("Mercury: Switch On or Off in This Workspace")
        assert code.status_says("Switched off in this workspace")
        assert json.loads((code.folder / ".vscode" / "settings.json").read_text())["mercury.suggestions.enabled"] is False


def test_an_excluded_file_is_not_sent(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 9, excluded="**/main.*") as code:
        assert code.status_says("the file is excluded"), code.status()
        code.type("retu")
        code.page.wait_for_timeout(1000)
        assert code.ghost() == []


def test_an_excluded_file_is_in_no_prompt_of_others(editor: CodeServer, tmp_path: Path) -> None:
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "shop.py").write_text("def total(items): ...\n")
    with opened(editor, tmp_path, "", ["x"] * 99) as code:

        def related() -> str:
            code.press("Escape", "Enter")
            code.type("total(")
            code.page.wait_for_timeout(300)
            given = tmp_path / "related.json"
            return given.read_text("utf-8") if given.exists() else ""

        assert until(lambda: "def total(items)" in related())
        settings = code.folder / ".vscode" / "settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "files.exclude": {"**/shop.{py,js}": True}}))
        assert until(lambda: "def total(items)" not in related())


def test_without_a_server_the_status_says_how_to_mend_it(editor: CodeServer, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    with editor.window(tmp_path, {"mercury.server.path": str(tmp_path / "nowhere")}) as code:
        code.open("main.py")
        assert code.status_says("The server was not found"), code.status()
        code.page.locator(".notification-toast", has_text="mercury-lsp was not found").wait_for()
        code.page.locator(".statusbar-item", has_text="Mercury").click()
        code.page.locator(".quick-input-list .monaco-list-row", has_text="Install the server").wait_for()
        code.screenshot("server-missing")


def test_what_the_server_cannot_load_stands_in_the_status(editor: CodeServer, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    program = tmp_path / "server"
    program.write_text(f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m mercury_lsp --model scripted:nowhere.json\n")
    program.chmod(0o755)
    with editor.window(tmp_path, {"mercury.server.path": str(program)}) as code:
        code.open("main.py")
        assert code.status_says("cannot read the script"), code.status()


def test_the_model_is_fetched_by_the_button_of_the_message(editor: CodeServer, tmp_path: Path) -> None:
    """As on a first day: the server has no model, fetching one fails, its terminal says why, and the next time it is there."""
    (tmp_path / "main.py").write_text("")
    (tmp_path / "script.json").write_text("[]")
    program = tmp_path / "server"
    fetching = f"""if [ "$1" = pull ]; then echo no way to an index; sleep 1; exec mv {tmp_path}/ready {tmp_path}/model; fi"""
    serving = f"if [ -e {tmp_path}/model ]; then set -- --model scripted:{tmp_path}/script.json; fi"
    run = f"MERCURY_CACHE={tmp_path}/cache PYTHONPATH={ROOT} exec {sys.executable} -m mercury_lsp"
    program.write_text(f'#!/bin/sh\n{fetching}\n{serving}\n{run} "$@"\n')
    program.chmod(0o755)
    with editor.window(tmp_path, {"mercury.server.path": str(program), "terminal.integrated.gpuAcceleration": "off"}) as code:
        code.page.locator(".notification-toast .monaco-button", has_text="Fetch the Model").click()
        code.page.locator(".notification-toast", has_text="could not be fetched").wait_for()
        assert "no way to an index" in code.page.locator(".terminal .xterm-rows").inner_text().replace("\u00a0", " ")
        assert "Ready" not in code.status()
        (tmp_path / "ready").touch()
        code.command("Mercury: Fetch the Model")
        assert code.status_says("Ready"), code.status()


def test_the_output_has_the_servers_log(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "") as code:
        code.command("Mercury: Show Output")
        output = code.page.locator(".output-view .view-lines").first
        output.wait_for()

        def says(text: str) -> bool:
            return until(lambda: text in output.inner_text().replace("\u00a0", " ").replace("\n", ""), 30)  # long lines are broken

        assert says(f"starting {tmp_path / 'server'}"), output.inner_text()
        settings = code.folder / ".vscode" / "settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "mercury.nonsense": 1}))
        assert says("unknown settings: nonsense"), output.inner_text()


GONE = "engine.url http://box: nobody answers."


def test_an_engine_that_is_gone_stands_in_the_status_until_it_is_back(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 9, gone=GONE) as code:
        code.type("retu")
        assert code.sees("rn total"), code.ghost()  # another answers in its place
        assert code.status_says("http://box"), code.status()
        assert code.page.locator(".notification-toast").count() == 0
        code.type("back")
        assert code.status_says("Ready"), code.status()


def test_the_menu_asks_how_the_server_is(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 9, gone=GONE, unsaid=True) as code:
        code.type("retu")
        assert code.sees("rn total"), code.ghost()
        assert "Ready" in code.status()
        code.page.locator(".statusbar-item", has_text="Mercury").click()
        code.page.locator(".quick-input-title", has_text="http://box").wait_for()


def test_off_until_the_workspace_is_trusted(chromium: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "main.py").write_text("")
    marker = folder / "was-run"
    program = folder / "server"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    trust = {"security.workspace.trust.enabled": True, "security.workspace.trust.startupPrompt": "never"}
    with code_server(tmp_path / "code", chromium, trust) as editor, editor.window(folder, {"mercury.server.path": str(program)}) as code:
        assert code.status_says("Off until this workspace is trusted"), code.status()
        assert not marker.exists()
        code.page.locator(".statusbar-item", has_text="Mercury").click()
        code.page.locator(".quick-input-list .monaco-list-row", has_text="Trust this workspace").click()
        code.page.locator(".workspace-trust-editor .monaco-button", has_text="Trust").first.click()
        assert until(marker.exists)


def test_a_refactoring_from_the_palette(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "def area(a, b):\n    result = a * b + 1\n    return result\n") as code:
        code.press("ArrowDown", "Home")
        code.command("Mercury: Inline the Variable")
        assert code.becomes("main.py", "def area(a, b):\n    return a * b + 1\n"), code.text("main.py")


def test_a_refactoring_from_the_light_bulb(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "def area(a, b):\n    result = a * b + 1\n    return result\n") as code:
        code.press("ArrowDown", "Home")
        code.press("Control+Shift+R")
        action = code.page.locator(".action-widget .monaco-list-row", has_text="Inline `result`")
        action.wait_for()
        code.screenshot("refactor")
        action.click()
        assert code.becomes("main.py", "def area(a, b):\n    return a * b + 1\n"), code.text("main.py")


def test_the_servers_own_next_edit(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "def count(a):\n    return a\n\n\nprint(count(1))\n") as code:
        code.press("Control+ArrowRight", "ArrowRight", "Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.struck() == "count" and "total" in code.added()), (code.struck(), code.added())
        code.press("Tab")
        assert until(lambda: "Ln 5" in code.page.locator(".statusbar").inner_text())
        code.press("Tab")
        assert code.becomes("main.py", "def total(a):\n    return a\n\n\nprint(total(1))\n"), code.text("main.py")


def test_a_next_edit_in_another_file(editor: CodeServer, tmp_path: Path) -> None:
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "other.py").write_text("import main\nmain.count\n")
    edit = {**EDIT, "line": 1, "file": "other.py"}
    with opened(editor, tmp_path, "count = 1\n", edits=[edit]) as code:
        code.press("Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.added() == ["Tab → other.py:2: rename"]), code.added()
        code.press("Tab")
        code.page.locator(".tab.active", has_text="other.py").wait_for()
        assert until(lambda: code.struck() == "count" and code.added() == ["total"]), code.added()
        code.press("Tab")
        assert code.becomes("other.py", "import main\nmain.total\n"), code.text("other.py")


def test_an_answer_about_the_selection(editor: CodeServer, tmp_path: Path) -> None:
    drafts = ["It adds.\n\n```python\nc = a + b\n```", "Because."]
    with opened(editor, tmp_path, "c = a - b\n", drafts) as code:
        code.press("Shift+End")
        code.command("Mercury: Ask About the Selection...")
        code.page.locator(".quick-input-widget:visible input.input").fill("what does this do?")
        code.press("Enter")
        code.page.locator(".editor-group-container .view-line", has_text="It adds.").wait_for()
        code.page.locator(".notification-toast .monaco-button", has_text="Apply Its Code").click()
        assert code.becomes("main.py", "c = a + b\n"), code.text("main.py")


def test_a_further_question(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "c = a - b\n", ["It subtracts.", "Because of the sign."]) as code:
        code.press("Shift+End")
        code.command("Mercury: Ask About the Selection...")
        answer(code, "what does this do?")
        code.page.locator(".view-line", has_text="It subtracts.").wait_for()
        code.page.locator(".notification-toast .monaco-button", has_text="Ask Further").click()
        answer(code, "why?")
        code.page.locator(".view-line", has_text="Because of the sign.").wait_for()
        assert code.page.locator(".view-line", has_text="It subtracts.").count() == 1  # in one document
        code.screenshot("answer")


def answer(code: Code, text: str) -> None:
    code.page.locator(".quick-input-widget:visible input.input").fill(text)
    code.press("Enter")


# The server takes a simplification only where it is seen to do the same.
LONG = "".join(f"if a == {number}:\n    b{number} = True\nelse:\n    b{number} = False\n" for number in range(6))
SHORTER = "\n".join(f"b{number} = a == {number}" for number in range(6))


def test_the_canvas_is_shown_while_a_rewriting_is_written(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "a = 1\nb = 2\nc = 3\n", ["d = 4\ne = 5\nf = '<6>'"], pause=1.5) as code:
        code.press("Control+A")
        code.command("Mercury: Rewrite the Selection with an Instruction...")
        answer(code, "other letters")
        assert until(lambda: any("d = 4" in text and "e = 5" not in text for text in code.pictures())), code.pictures()
        assert until(lambda: any("d = 4" in text and "e = 5" in text for text in code.pictures())), code.pictures()
        code.screenshot("canvas")
        assert code.text("main.py") == "a = 1\nb = 2\nc = 3\n"
        assert code.becomes("main.py", "d = 4\ne = 5\nf = '<6>'\n"), code.text("main.py")
        assert until(lambda: code.pictures() == [])


def test_a_large_change_is_previewed(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, LONG, [SHORTER]) as code:
        code.press("Control+A")
        code.command("Mercury: Simplify the Selection")
        box = code.page.locator(".bulk-edit-panel .edit-checkbox").first
        box.wait_for()
        code.page.wait_for_timeout(500)
        assert code.text("main.py") == LONG
        box.check()
        code.screenshot("preview")
        code.page.locator(".monaco-button:visible", has_text="Apply").first.click()
        assert code.becomes("main.py", SHORTER + "\n"), code.text("main.py")


def test_escape_and_tab_are_left_to_vim(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as code:
        code.command("Stand-In: Vim in Insert Mode")
        code.focus()
        code.press("Control+Home", "Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.struck() == "count")
        code.press("Escape")
        code.page.wait_for_timeout(500)
        assert code.struck() == "count"  # the key was Vim's, who leaves insert mode
        code.command("Stand-In: Vim in Normal Mode")
        code.focus()

        def dismissed() -> bool:
            code.press("Escape")  # again where the mode was not told yet
            code.page.wait_for_timeout(200)
            return code.struck() == ""

        assert until(dismissed)


def test_keys_are_left_to_inline_chat(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "count = 1\nprint(count)\n", edits=[{**EDIT, "line": 1}]) as code:
        code.press("Control+Shift+ArrowRight")
        code.type("total")
        assert until(lambda: code.struck() == "count")
        code.command("Stand-In: Inline Chat Opened")
        code.focus()
        code.press("Escape", "Tab")
        code.page.wait_for_timeout(500)
        assert "print(count)" in code.text("main.py") and code.struck() == ""  # Tab was a tab, and the edit of the text before is gone


def test_loading_with_percent(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ready="40 %", load=4) as code:
        assert "Loading" in code.status(), code.status()
        code.screenshot("loading")
        assert code.status_says("Ready"), code.status()


def test_busy_while_a_command_runs(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "a = 1\n", ["b = 2\nc = 3\nd = 4"], pause=1) as code:
        code.press("Shift+End")
        code.command("Mercury: Simplify the Selection")
        assert code.status_says("Busy"), code.status()
        assert code.status_says("Ready"), code.status()


def test_cells_of_a_notebook(editor: CodeServer, tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "execution_count": None, "source": []} for name in "ab"]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "example").mkdir()
    (tmp_path / "example" / "n.ipynb").write_text(json.dumps(notebook))
    with opened(editor, tmp_path, "", ["rn total"] * 9) as code:
        code.run_in_box("Control+P", "n.ipynb")
        code.page.locator(".notebook-editor .cell").first.wait_for()
        code.press("Enter")  # into the cell
        code.page.locator(".notebook-editor .monaco-editor.focused").wait_for()
        code.type("retu")
        assert code.sees("rn total"), code.ghost()
        code.screenshot("notebook")
        code.press("Tab", "Control+S")
        assert until(lambda: "return total" in json.dumps(json.loads(code.text("n.ipynb"))))


def test_the_walkthrough_on_the_first_start(chromium: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with code_server(tmp_path / "code", chromium, walkthroughs=True) as editor, editor.window(folder, {}) as code:
        code.page.locator(".gettingStartedContainer", has_text="Suggestions from a model that runs on this machine").wait_for()
        assert code.page.locator(".gettingStartedContainer .step-title", has_text="The server").count()
        code.screenshot("walkthrough")


def test_a_server_that_dies_is_started_again(editor: CodeServer, tmp_path: Path) -> None:
    with opened(editor, tmp_path, "", ["rn total"] * 9) as code:
        os.kill(int((tmp_path / "server.pid").read_text()), signal.SIGKILL)
        code.page.wait_for_timeout(500)
        assert code.status_says("Ready"), code.status()
        code.type("retu")
        assert code.sees("rn total"), code.ghost()

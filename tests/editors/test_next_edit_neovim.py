"""Next edits in a real Neovim, through a plugin that does what plugins for Copilot do: rename by hand, see what follows, take it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from neovim import Neovim, neovim, wait

PLUGIN = Path(__file__).with_name("next_edit.lua")
SERVER = [sys.executable, "-m", "mercury_lsp"]
BEFORE = "def area(width, height):\n    size = width * height\n    return size, width\n"


def start(editor: Neovim, folder: Path, name: str, content: str) -> None:
    (folder / "script.json").write_text("[]")
    (folder / name).write_bytes(content.encode())
    editor.enable([*SERVER, "--model", f"scripted:{folder / 'script.json'}"], {})
    editor.api.exec_lua("NextEdit = dofile(...); NextEdit.setup()", str(PLUGIN))
    editor.edit(folder / name)


def look(editor: Neovim, what: str) -> Any:
    return editor.api.exec_lua(f"return NextEdit.{what}")


def do(editor: Neovim, keys: str) -> None:
    """Type, and wait for the answer to what the plugin asks then."""
    before = look(editor, "asked")
    editor.api.input(keys)
    assert wait(lambda: look(editor, "asked") > before), editor.log()


def apply(editor: Neovim) -> None:
    ran = len(look(editor, "ran"))
    editor.api.exec_lua("NextEdit.apply()")
    assert wait(lambda: len(look(editor, "ran")) > ran), editor.log()
    assert look(editor, "ran")[-1] == {"command": "github.copilot.didAcceptNextEditSuggestionItem"}


def test_rename_see_and_take_what_follows(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "shapes.py", BEFORE)
        do(editor, "gg0fwcwbreadth<Esc>")  # the word under the cursor
        assert wait(lambda: look(editor, "shown")), editor.log()
        assert look(editor, "shown")["text"].count("breadth") == 2
        apply(editor)
        assert editor.lines() == ["def area(breadth, height):", "    size = breadth * height", "    return size, breadth"]
        do(editor, ":doautocmd TextChanged<CR>")
        assert look(editor, "shown") is None and look(editor, "failed") is None
        assert "ERROR" not in editor.log()


@pytest.mark.parametrize(
    ("content", "keys", "after"),
    [
        ("s = '😀'\nfor é in s:\n    print('😀', é)\n", "jfécwpart<Esc>", ["s = '😀'", "for part in s:", "    print('😀', part)"]),
        ("a = 1\r\n\r\n\r\nb = a\r\n", "ggcwcount<Esc>", ["count = 1", "", "", "b = count"]),
        ("\ufeffa = 1\n\n\nb = a\n", "ggcwcount<Esc>", ["count = 1", "", "", "b = count"]),
    ],
    ids=["emoji", "dos", "bom"],
)
def test_texts_of_every_kind(tmp_path: Path, content: str, keys: str, after: list[str]) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "main.py", content)
        do(editor, keys)
        assert wait(lambda: look(editor, "shown")), editor.log()
        apply(editor)
        assert editor.lines() == after
        assert editor.api.current.buffer.options["fileformat"] == ("dos" if "\r" in content else "unix")


def test_an_answer_about_another_version_is_none(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "shapes.py", BEFORE)
        do(editor, "gg0fwcwbreadth<Esc>")
        assert wait(lambda: look(editor, "shown")), editor.log()
        # Asked, and changed again before the answer can come: the server or the plugin must drop it.
        before = look(editor, "asked")
        editor.api.exec_lua("vim.o.eventignore = 'all'; NextEdit.ask(); vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# new' })")
        assert wait(lambda: look(editor, "asked") > before)
        assert look(editor, "shown") is None


def test_nothing_after_new_code(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "shapes.py", BEFORE)
        do(editor, "Goprint(area(1, 2))<Esc>")
        assert look(editor, "shown") is None and look(editor, "failed") is None

"""Ghost text in a real Neovim, through its own inline completion: type, see it, accept it, compare the buffer."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from neovim import Neovim, neovim, wait

SERVER = (sys.executable, "-m", "mercury_lsp")


# A server that suggests the path its engine was shown: relative to a workspace folder that it knows, else the file's name alone.
ECHO = """
import asyncio, os
from engine.scripted import ScriptedEngine
from mercury_lsp import server, stdio

class Echo(ScriptedEngine):
    def infill(self, request, stop):
        return ScriptedEngine([request.path]).infill(request, stop)

os._exit(asyncio.run(server.build(lambda _: Echo([])).serve(*stdio.claim_stdio())))
"""


def start(editor: Neovim, tmp_path: Path, name: str, content: str, drafts: Sequence[str]) -> None:
    (tmp_path / "script.json").write_text(json.dumps(drafts))
    (tmp_path / name).write_bytes(content.encode())
    editor.enable([*SERVER, "--model", f"scripted:{tmp_path / 'script.json'}"], {"deadlineMs": 20_000})
    editor.edit(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "draft", "keys", "ghost", "after"),
    [
        ("def add(a, b):\n", "rn a + b", "o    retu", ["rn a + b"], ["def add(a, b):", "    return a + b"]),
        ("if a:\n", "b = a\n    return b", "o    ", ["b = a", "    return b"], ["if a:", "    b = a", "    return b"]),
        ("s = '😀' + \n", "name", "A", ["name"], ["s = '😀' + name"]),
        ("名前 = '😀'\n", '"é")', "oprint(", ['"é")'], ["名前 = '😀'", 'print("é")']),
        ("# 😀\n", '"hello")', "oprint()<Left>", ['"hello")'], ["# 😀", 'print("hello")']),
        ("if a:\r\n    b\r\n", "c = 1\n    d()", "Go", ["c = 1", "    d()"], ["if a:", "    b", "    c = 1", "    d()"]),
        ("\ufeffimpo\n", "rt os", "A", ["rt os"], ["import os"]),
    ],
    ids=["word", "lines", "emoji", "wide", "closed-bracket", "dos", "bom"],
)
def test_type_see_accept(tmp_path: Path, content: str, draft: str, keys: str, ghost: list[str], after: list[str]) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "main.py", content, [draft] * 9)  # keys may arrive in two bursts; the later counts
        editor.type(keys)
        assert editor.wait_for_ghost() == ghost
        editor.accept()
        assert editor.lines() == after
        assert editor.api.current.buffer.options["fileformat"] == ("dos" if "\r" in content else "unix")
        assert "ERROR" not in editor.log()


def test_typing_on_keeps_it_and_typing_otherwise_takes_it_away(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        start(editor, tmp_path, "main.py", "", ["rn total"])
        editor.type("iretu")
        assert editor.wait_for_ghost() == ["rn total"]
        editor.type("rn t")
        assert editor.wait_for_ghost() == ["otal"]
        editor.accept()
        assert editor.lines() == ["return total"]


def test_one_server_for_all_repositories(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        editor.enable([sys.executable, "-c", ECHO], {"deadlineMs": 20_000})
        attached = "return #vim.lsp.get_clients({ bufnr = 0 })"
        assert wait(lambda: editor.api.exec_lua(attached) == 1)  # to the buffer that is there at the start
        for name in "abc":
            (tmp_path / name / ".git").mkdir(parents=True)
            (tmp_path / name / name).mkdir()
            (tmp_path / name / name / "notes.txt").write_text("\n")
            editor.edit(tmp_path / name / name / "notes.txt")
            editor.type("isee ")
            assert editor.wait_for_ghost() == [f"{name}/notes.txt"]
            editor.api.command("stopinsert")
        assert editor.api.exec_lua("return #vim.lsp.get_clients()") == 1
        assert "ERROR" not in editor.log()


# A second function that repeats the first: what any fair model goes on with.
FIRST_AND_SECOND = '''def first(values):
    """Return the first value."""
    return values[0]


def second(values):
    """Return the second value."""
'''


def test_the_default_model(tmp_path: Path) -> None:
    with neovim(tmp_path) as editor:
        (tmp_path / "values.py").write_text(FIRST_AND_SECOND)
        editor.enable(SERVER, {"deadlineMs": 20_000, "minConfidence": 0})
        editor.edit(tmp_path / "values.py")
        editor.type("Goreturn ")
        ghost = editor.wait_for_ghost()
        editor.accept()
        assert editor.lines()[7:] == ["    return " + ghost[0], *ghost[1:]]
        assert "values" in ghost[0]

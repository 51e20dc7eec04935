"""A Neovim with the project's plugin in it: what a user of `require('mercury').setup()` does and sees."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neovim import ROOT, Neovim, neovim, wait

_DRAWN = """
local found = {}
for _, name in ipairs({ 'nvim.lsp.inline_completion', 'mercury.inline', 'mercury.next_edit' }) do
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace(name), 0, -1, { details = true })) do
    local details, lines = mark[4], {}
    for _, line in ipairs({ details.virt_text or { { '' } }, unpack(details.virt_lines or {}) }) do
      table.insert(lines, table.concat(vim.tbl_map(function(chunk) return chunk[1] end, line)))
    end
    local struck = details.hl_group and details.end_col
      and table.concat(vim.api.nvim_buf_get_text(0, mark[2], mark[3], details.end_row, details.end_col, {}), '\\n') or ''
    if not details.virt_text and (name == 'mercury.next_edit' or not details.virt_lines) then
      table.remove(lines, 1)
    end
    table.insert(found, { name, mark[2], lines, struck })
  end
end
return found
"""


class Plugin:
    """One editor; the texts that it draws are lists of lines."""

    def __init__(self, editor: Neovim) -> None:
        self.editor = editor
        self.api = editor.api

    def setup(self, options: Mapping[str, Any]) -> None:
        self.api.command("filetype on")
        self.api.command(f"set runtimepath+={ROOT / 'editors' / 'neovim'}")
        self.api.exec_lua("require('mercury').setup(...)", options)

    def edit(self, path: Path) -> None:
        self.api.command(f"edit {path}")
        attached = "return #vim.lsp.get_clients({ bufnr = 0, name = 'copilot_mercury' })"
        assert wait(lambda: self.api.exec_lua(attached) == 1), self.editor.log()

    def press(self, keys: str) -> None:
        self.api.input(keys)

    def ghost(self) -> list[str]:
        """The suggestion's lines; [] while there is none."""
        drawn = [lines for name, _, lines, _ in self.api.exec_lua(_DRAWN) if name != "mercury.next_edit"]
        return drawn[0] if drawn else []

    def sees(self, *lines: str) -> bool:
        return wait(lambda: self.ghost() == list(lines), 10)

    def edit_marks(self) -> list[tuple[int, list[str], str]]:
        """What is drawn of the next edit: row, virtual lines, struck text."""
        return [(row, lines, struck) for name, row, lines, struck in self.api.exec_lua(_DRAWN) if name == "mercury.next_edit"]

    def lines(self) -> list[str]:
        return self.editor.lines()

    def becomes(self, *lines: str) -> bool:
        return wait(lambda: self.lines() == list(lines), 10)

    def cursor(self) -> tuple[int, int]:
        """Line from 1, byte column from 0."""
        line, column = self.api.current.window.cursor
        return line, column

    def rest(self, seconds: float) -> None:
        """Let things happen that must not happen."""
        time.sleep(seconds)


@contextmanager
def plugin(home: Path, release: str, command: Sequence[str], first: str = "", **options: Any) -> Iterator[Plugin]:
    """`first`: what the user's configuration does before it sets the plugin up, in Lua."""
    with neovim(home, release) as editor:
        started = Plugin(editor)
        started.api.exec_lua(first)
        started.setup({"cmd": list(command), "settings": {"deadlineMs": 20_000}, **options})
        yield started

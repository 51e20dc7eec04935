"""From a key to visible ghost text, measured inside each editor: p50 and p95, appended to benchmarks/results/editors.jsonl.

`scripted` is the editor and the protocol alone, since the engine answers at once; `default` is the model that users have. Run as a program.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from neovim import ROOT, wait
from plugin import plugin
from vscode import code_server, headless

from benchmarks import record
from engine.checkpoints import catalog

RESULTS = ROOT / "benchmarks" / "results" / "editors.jsonl"
EDITORS = ("neovim 0.12", "neovim 0.11", "vscode 1.139")
PAUSE = 0.8  # seconds after a key until no suggestion is expected any more
# What is typed: the second function repeats the first's pattern, so that a model has something to say.
GIVEN = '''def first(values):
    """Return the first value."""
    return values[0]


def second(values):
    """Return the second value."""
'''
TYPED = "    return values[1]"
LUA = """
local shown, names = {}, { 'nvim.lsp.inline_completion', 'mercury.inline' }
local key, times = nil, {}
local function ghost()
  for _, name in ipairs(names) do
    local found = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace(name), 0, -1, { details = true, limit = 1 })
    if found[1] and found[1][4].virt_text and found[1][4].virt_text[1][1] ~= '' then return found[1][4].virt_text[1][1] end
  end
end
-- 0.12 goes on drawing the last item, whatever is typed, until the next answer: there, only what was answered since counts.
local answered = vim.lsp.inline_completion == nil
vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
  answered = answered or event.data.request.type == 'complete' and event.data.request.method == 'textDocument/inlineCompletion'
end })
vim.on_key(function(_, typed)
  if typed ~= '' then
    key, shown, answered = vim.uv.hrtime(), ghost(), vim.lsp.inline_completion == nil
  end
end)
local timer = vim.uv.new_timer()
timer:start(0, 2, function() vim.schedule(function()
  local text = key and answered and ghost()
  if text and shown and text == shown:sub(2) then
    key, vim.g.through = nil, vim.g.through + 1
  elseif text and (text ~= shown or vim.lsp.inline_completion) then
    table.insert(times, (vim.uv.hrtime() - key) / 1e6)
    vim.g.times, key = times, nil
  end
end) end)
vim.g.times, vim.g.through = {}, 0
"""
PAGE = """() => {
  const ghost = () => [...document.querySelectorAll('.ghost-text-decoration, .ghost-text')].map((each) => each.textContent).join('|');
  let key, shown;
  window.times = [];
  window.through = 0;
  window.addEventListener('keydown', () => { key = performance.now(); shown = ghost(); }, true);
  new MutationObserver(() => {
    const text = ghost();
    if (key === undefined || !text || text === shown) return;
    if (shown && text === shown.slice(1)) window.through += 1;
    else window.times.push(performance.now() - key);
    key = undefined;
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


class Found(NamedTuple):
    """Milliseconds of suggestions that appeared. Those that were typed through, and so were there at once, are only counted."""

    times: list[float]
    typed_through: int


def server(home: Path, what: str) -> list[str]:
    if what == "default":
        return [sys.executable, "-m", "mercury_lsp"]
    (home / "script.json").write_text(json.dumps([f"word{count}" for count in range(999)]))
    return [sys.executable, "-m", "mercury_lsp", "--model", f"scripted:{home / 'script.json'}"]


def in_neovim(home: Path, what: str, release: str, rounds: int) -> Found:
    (home / "main.py").write_text(GIVEN)
    with plugin(home, release, server(home, what), settings={"minConfidence": 0}, next_edit={"enabled": False}) as editor:
        editor.edit(home / "main.py")
        assert wait(lambda: editor.api.exec_lua("return require('mercury').status().state") == "ready", 60)
        editor.api.command("set noautoindent")
        editor.api.exec_lua(LUA)
        for _ in range(rounds):
            editor.press("Go")
            for key in TYPED:
                editor.press(key)
                time.sleep(PAUSE)
            editor.press("<Esc>u")
        return Found([float(each) for each in editor.api.vars["times"]], int(editor.api.vars["through"]))


def in_vscode(home: Path, what: str, rounds: int) -> Found:
    folder = home / "folder"
    folder.mkdir()
    (folder / "main.py").write_text(GIVEN)
    program = folder / "server"
    program.write_text(f"#!/bin/sh\nMERCURY_CACHE={catalog.cache_dir()} PYTHONPATH={ROOT} exec {' '.join(server(home, what))}\n")
    program.chmod(0o755)
    settings = {
        "mercury.server.path": str(program),
        "mercury.minConfidence": 0,
        "mercury.nextEdits.enabled": False,
        "editor.autoIndent": "none",
    }
    with headless() as chromium, code_server(home / "code", chromium) as started, started.window(folder, settings) as code:
        code.open("main.py")
        assert code.status_says("Ready"), code.status()
        code.page.evaluate(PAGE)
        for _ in range(rounds):
            code.press("Control+End")
            for key in TYPED:
                code.page.keyboard.press("Space" if key == " " else key)
                code.page.wait_for_timeout(1000 * PAUSE)
            code.press("Escape", "Control+Shift+K")
            code.press("Control+End", "Enter")
        return Found(code.page.evaluate("window.times"), code.page.evaluate("window.through"))


def row(editor: str, what: str, found: Found, keys: int) -> dict[str, Any]:
    times = sorted(found.times) or [float("nan")]
    counts = {"shown": len(found.times), "typed_through": found.typed_through, "keys": keys}
    figures = {"p50_ms": round(statistics.median(times), 1), "p95_ms": round(times[int(0.95 * (len(times) - 1))], 1), **counts}
    return {"what": "key-to-ghost", "editor": editor, "engine": what, **figures}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--engine", choices=("scripted", "default"), action="append")
    arguments.add_argument("--editor", choices=EDITORS, action="append")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    origin = record.origin()
    for what in given.engine or ["scripted", "default"]:
        for editor in given.editor or EDITORS:
            with tempfile.TemporaryDirectory() as home:
                name, _, release = editor.partition(" ")
                path = Path(home)
                found = in_neovim(path, what, release, given.rounds) if name == "neovim" else in_vscode(path, what, given.rounds)
            made = row(editor, what, found, given.rounds * len(TYPED))
            record.append(RESULTS, {**origin, **made})
            print(made, flush=True)


if __name__ == "__main__":
    main()

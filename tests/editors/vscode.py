"""A real VS Code in a headless browser, with the packaged extension in it: what a user types and sees. Knows no server."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from install import BIN, CODE_SERVER, browser
from neovim import ROOT, wait
from playwright.sync_api import Browser, Page, sync_playwright

PACKAGE = ROOT / "dist" / "mercury-lsp.vsix"
CONTEXTS = Path(__file__).parent / "contexts"  # an extension that says what others say, a Vim's mode for one
SETTINGS = {
    "workbench.startupEditor": "none",
    "workbench.enableExperiments": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.commandCenter.enabled": False,
    "security.workspace.trust.enabled": False,
    "extensions.ignoreRecommendations": True,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "git.enabled": False,
    "files.autoSave": "afterDelay",  # so that the buffer can be read from the disk
    "files.autoSaveDelay": 100,
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.minimap.enabled": False,
    "editor.fontFamily": "DejaVu Sans Mono",
    "window.commandCenter": False,
}

# Where the editor runs elsewhere than its window, as here, some settings are the machine's.
OPEN_WALKTHROUGHS = "workbench.welcomePage.walkthroughs.openOnInstall"

# Ghost text is drawn in three ways: within a line, as what is left of it, and as lines of their own.
_GHOST = """() => {
  const text = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent);
  const inline = text('.view-lines .ghost-text-decoration, .view-lines .ghost-text-decoration-preview').join('');
  const lines = text('.view-zones .suggest-preview-text .view-line, .ghost-text .view-line');
  return [...(inline ? [inline] : []), ...lines].map((line) => line.replaceAll('\\u00a0', ' '));
}"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Code:
    """One window with one folder."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.folder = folder

    def open(self, name: str, line: int = 1) -> None:
        self.run_in_box("Control+P", f"{name}:{line}")
        assert wait(lambda: self.page.locator(".monaco-editor .view-line").count() > 0)
        self.page.locator(".tab.active", has_text=name).wait_for()
        self.focus()
        self.idle()

    def idle(self) -> None:
        """Wait until the window has had nothing to do: a new editor makes its suggestions then, and keys before that ask for none."""
        self.page.evaluate("() => new Promise((done) => requestIdleCallback(() => done()))")

    def focus(self) -> None:
        self.page.locator(".monaco-editor.focused").first.wait_for()

    def run_in_box(self, key: str, text: str) -> None:
        """Choose by name in the box at the top."""
        self.page.keyboard.press(key)
        box = self.page.locator(".quick-input-widget:visible input.input").first
        box.wait_for()
        box.fill(text if key == "Control+P" else f">{text}")
        self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        time.sleep(0.3)  # the list is filtered after the key
        self.page.keyboard.press("Enter")

    def command(self, title: str) -> None:
        self.run_in_box("F1", title)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text, delay=20)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def becomes(self, name: str, text: str) -> bool:
        return wait(lambda: self.text(name) == text, 10)

    def ghost(self) -> list[str]:
        lines: list[str] = self.page.evaluate(_GHOST)
        return lines

    def sees(self, *lines: str) -> bool:
        return wait(lambda: self.ghost() == list(lines), 15)

    def struck(self) -> str:
        """The text that decorations strike."""
        return "".join(self._struck())

    def _struck(self) -> list[str]:
        return self._spans("(span) => getComputedStyle(span).textDecorationLine.includes('line-through') ? span.textContent : ''")

    def added(self) -> list[str]:
        """What decorations put behind texts."""
        return self._spans(
            "(span) => { const after = getComputedStyle(span, '::after').content; return /^(none|normal)$/.test(after) ? '' : after }"
        )

    def pictures(self) -> list[str]:
        """The sources of the pictures that decorations put behind texts."""
        found = (re.search(r"base64,([^\")]+)", each) for each in self.added())
        return [base64.b64decode(each[1]).decode() for each in found if each is not None]

    def _spans(self, text: str) -> list[str]:
        script = f"() => [...document.querySelectorAll('.view-lines span')].map({text}).filter(Boolean)"
        found: list[str] = self.page.evaluate(script)
        return [each.strip('"').replace("\u00a0", " ") if each.startswith('"') else each.replace("\u00a0", " ") for each in found]

    def status(self) -> str:
        item = self.page.locator(".statusbar-item", has_text="Mercury")
        return (item.first.get_attribute("aria-label") or "") if item.count() else ""

    def status_says(self, text: str) -> bool:
        return wait(lambda: text in self.status(), 20)

    def screenshot(self, name: str) -> None:
        folder = Path(os.environ.get("MERCURY_SCREENSHOTS") or ROOT / "build" / "screenshots")
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}.png")


class CodeServer:
    """One editor process for all tests; a window each."""

    def __init__(self, port: int, chromium: Browser) -> None:
        self.port = port
        self.chromium = chromium

    @contextmanager
    def window(self, folder: Path, settings: Mapping[str, Any]) -> Iterator[Code]:
        (folder / ".vscode").mkdir(exist_ok=True)
        (folder / ".vscode" / "settings.json").write_text(json.dumps(settings))
        context = self.chromium.new_context(viewport={"width": 1100, "height": 640})
        page = context.new_page()
        page.set_default_timeout(60_000)
        try:
            page.goto(f"http://127.0.0.1:{self.port}/?folder={folder}")
            page.locator(".monaco-workbench .statusbar").wait_for()
            code = Code(page, folder)
            try:
                yield code
            except BaseException:
                code.screenshot(re.sub(r"\W+", "-", f"failed-{folder.name}"))
                raise
        finally:
            context.close()


def _unpack(package: Path, extensions: Path) -> None:
    manifest = json.loads(zipfile.ZipFile(package).read("extension/package.json"))
    target = extensions / f"{manifest['publisher']}.{manifest['name']}-{manifest['version']}"
    with zipfile.ZipFile(package) as archive:
        archive.extractall(extensions / "unpacked", [name for name in archive.namelist() if name.startswith("extension/")])
    shutil.move(extensions / "unpacked" / "extension", target)
    shutil.rmtree(extensions / "unpacked")


@contextmanager
def headless() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def code_server(
    home: Path, chromium: Browser, settings: Mapping[str, Any] | None = None, *, walkthroughs: bool = False
) -> Iterator[CodeServer]:
    """An editor whose files all lie under `home`."""
    assert CODE_SERVER.is_dir() and PACKAGE.is_file(), "run `make test-editors`, which installs what these tests need"
    (home / "user" / "User").mkdir(parents=True)
    (home / "user" / "User" / "settings.json").write_text(json.dumps({**SETTINGS, **(settings or {})}))
    (home / "user" / "Machine").mkdir()
    (home / "user" / "Machine" / "settings.json").write_text(json.dumps({OPEN_WALKTHROUGHS: walkthroughs}))
    (home / "extensions").mkdir()
    _unpack(PACKAGE, home / "extensions")
    shutil.copytree(CONTEXTS, home / "extensions" / "stand-in.contexts-0.0.1")
    port = free_port()
    node = BIN / "node"
    command = [node, CODE_SERVER / "out" / "node" / "entry.js", "--auth", "none", "--bind-addr", f"127.0.0.1:{port}"]
    folders = ["--user-data-dir", home / "user", "--extensions-dir", home / "extensions", "--config", home / "config.yaml"]
    quiet = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"]
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
    log = (home / "code-server.log").open("wb")
    child = subprocess.Popen([*map(str, [*command, *folders, *quiet])], stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        assert wait(lambda: _answers(port)), (home / "code-server.log").read_text()
        yield CodeServer(port, chromium)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        log.close()


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def until(true: Callable[[], Any], seconds: float = 15) -> bool:
    return wait(true, seconds)

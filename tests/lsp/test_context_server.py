"""What reaches the engine besides the document at hand, through the whole server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lsp_client import Client, in_process, within

from engine.api import Draft, InfillRequest, StopFlag

SECRET = "def topmost_secret(): ...\n"


class Recorder:
    """An engine that has nothing to say and remembers what it was asked."""

    name = "recorder"

    def __init__(self) -> None:
        self.requests: list[InfillRequest] = []

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.requests.append(request)
        figures = {"tokens": 0, "denoise_steps": 0, "forwards": 0, "prefill_tokens": 0}
        return Draft(text="", confidence=0.0, latency_ms=0.0, ended="end", model=self.name, **figures)


class Editor:
    """A client with a document in a folder."""

    def __init__(self, client: Client, engine: Recorder, top: Path) -> None:
        self.client, self.top, self._engine = client, top, engine
        self.main = (top / "main.py").as_uri()
        self._lines = 0

    def start(self, root: Path | None = None, **options: object) -> None:
        self.client.initialize(options, rootUri=(root or self.top).as_uri())
        self.client.open("", self.main)

    def asked(self, text: str) -> list[str]:
        """The related pieces for a cursor behind `text`, which is put on a new line of its own."""
        self._lines += 1
        self.client.change({"text": "\n" * self._lines + text}, uri=self.main)
        self.client.items(self._lines, len(text), uri=self.main)
        return [f"{piece.path}: {piece.text}" for piece in self._engine.requests[-1].related]

    def sees(self, *pieces: str, text: str = "topmost_secret(total(") -> bool:
        return within(lambda: self.asked(text) == list(pieces))

    def everything(self) -> str:
        return "".join(f"{request.prefix}{request.suffix}{request.related}" for request in self._engine.requests)


@contextmanager
def editing(top: Path, **capabilities: object) -> Iterator[Editor]:
    engine = Recorder()
    with in_process(lambda _: engine) as client:
        client.capabilities = client.capabilities | capabilities
        yield Editor(client, engine, top)


def test_definitions_from_files_that_nobody_opened(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start()
        assert editor.sees("shop.py: def total(items): ...")


def test_an_open_document_counts_as_it_is_and_after_it_is_closed_as_it_lies_on_disk(tmp_path: Path) -> None:
    shop = tmp_path / "shop.py"
    shop.write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start()
        editor.client.open("def total(unsaved): ...\n", shop.as_uri())
        assert editor.sees("shop.py: def total(unsaved): ...")
        editor.client.change({"text": "def total(typed): ...\n"}, uri=shop.as_uri())
        assert editor.sees("shop.py: def total(typed): ...")
        editor.client.notify("textDocument/didClose", {"textDocument": {"uri": shop.as_uri()}})
        assert editor.sees("shop.py: def total(items): ...")


def test_the_cells_of_a_notebook_know_each_other(tmp_path: Path) -> None:
    cells = [f"vscode-notebook-cell:{tmp_path.as_uri()[7:]}/book.ipynb#W{number}" for number in range(3)]
    with editing(tmp_path) as editor:
        editor.start()
        editor.client.open("def total(cell): ...\n", cells[0])
        editor.client.open("def other(cell): ...\n", cells[1])
        editor.main = cells[2]
        editor.client.open("", cells[2])
        assert editor.sees("book.ipynb: def other(cell): ...", "book.ipynb: def total(cell): ...", text="other(total(")


def test_files_are_watched_where_the_client_can(tmp_path: Path) -> None:
    with editing(tmp_path, workspace={"didChangeWatchedFiles": {"dynamicRegistration": True}}) as editor:
        editor.start()
        (registration,) = editor.client.notified("client/registerCapability")["registrations"]
        assert registration["method"] == "workspace/didChangeWatchedFiles"
        globs = [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]
        assert "**/.gitignore" in globs and "**/.mercuryignore" in globs and any("py" in glob and "go" in glob for glob in globs)
        assert editor.sees()
        shop = tmp_path / "shop.py"
        shop.write_text("def total(items): ...\n")
        editor.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": shop.as_uri(), "type": 1}]})
        assert editor.sees("shop.py: def total(items): ...")


def test_no_client_is_asked_to_watch_that_cannot(tmp_path: Path) -> None:
    with editing(tmp_path) as editor:
        editor.start()
        assert editor.asked("x = ") == []
        assert editor.client.received("client/registerCapability") == []


def test_what_cannot_be_a_change_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start()
        for changes in (None, [None], [{"uri": 7}], [{"uri": "no uri"}], [{"uri": "http://[bad"}]):
            editor.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        assert editor.sees("shop.py: def total(items): ...")


def test_folders_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "shop.py").write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start(tmp_path / "other")
        assert editor.asked("total(") == []
        folder = {"uri": tmp_path.as_uri(), "name": "shop"}
        editor.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
        assert editor.sees("shop.py: def total(items): ...")
        editor.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [folder]}})
        assert editor.sees()


def test_a_language_that_is_switched_off_is_not_sent_from_elsewhere_either(tmp_path: Path) -> None:
    (tmp_path / "shop.js").write_text("export function total(items) {}\n")
    with editing(tmp_path) as editor:
        editor.start(languages={"javascript": False})
        main = (tmp_path / "main.ts").as_uri()
        editor.client.open("total(", main, "typescript")
        assert editor.sees()
        editor.client.items(0, 6, uri=main)
        assert "items" not in editor.everything()


@pytest.mark.parametrize("rules", [".gitignore", ".mercuryignore"])
def test_an_ignored_file_never_reaches_the_engine(tmp_path: Path, rules: str) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / rules).write_text("private.py\n")
    private = tmp_path / "private.py"
    private.write_text(SECRET)
    (tmp_path / "shop.py").write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start()
        editor.client.open(SECRET + "# unsaved\n", private.as_uri())
        assert editor.sees("shop.py: def total(items): ...")
        assert editor.client.items(1, 9, uri=private.as_uri()) == []
        editor.client.notify("textDocument/didSave", {"textDocument": {"uri": private.as_uri()}})
        editor.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": private.as_uri(), "type": 2}]})
        editor.client.notify("textDocument/didClose", {"textDocument": {"uri": private.as_uri()}})
        assert editor.sees("shop.py: def total(items): ...")
        assert "def topmost_secret" not in editor.everything()


def test_a_file_that_is_ignored_from_now_on_is_out_at_once(tmp_path: Path) -> None:
    (tmp_path / "private.py").write_text(SECRET)
    with editing(tmp_path) as editor:
        editor.start()
        assert editor.sees("private.py: def topmost_secret(): ...")
        (tmp_path / ".mercuryignore").write_text("private.py\n")
        assert editor.asked("topmost_secret(") == []
        editor.client.notify("textDocument/didSave", {"textDocument": {"uri": (tmp_path / ".mercuryignore").as_uri()}})
        assert editor.asked("topmost_secret(") == []


def test_a_secret_that_is_open_stays_out_of_the_prompts_of_others(tmp_path: Path) -> None:
    with editing(tmp_path) as editor:
        editor.start()
        editor.client.open(SECRET, (tmp_path / ".env.py").as_uri())
        (tmp_path / "shop.py").write_text("def total(items): ...\n")
        editor.client.open("def total(items): ...\n", (tmp_path / "shop.py").as_uri())
        assert editor.sees("shop.py: def total(items): ...")
        assert "def topmost_secret" not in editor.everything()


def test_what_the_setting_excludes_never_reaches_the_engine(tmp_path: Path) -> None:
    private, shop = tmp_path / "gen" / "private.py", tmp_path / "shop.py"
    private.parent.mkdir()
    private.write_text(SECRET)
    shop.write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start(exclude=["**/gen"])
        editor.client.open(SECRET, private.as_uri())
        assert editor.sees("shop.py: def total(items): ...")
        assert editor.client.items(0, 9, uri=private.as_uri()) == []
        assert "def topmost_secret" not in editor.everything()


def test_what_is_excluded_from_now_on_is_out_at_once_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "private.py").write_text(SECRET)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "private.py").write_text("def total(items): ...\n")
    with editing(tmp_path) as editor:
        editor.start()
        assert editor.sees("private.py: def topmost_secret(): ...", "other/private.py: def total(items): ...")
        editor.client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"exclude": ["priv*.py"]}}})
        assert editor.asked("topmost_secret(total(") == ["other/private.py: def total(items): ..."]
        folder = {"uri": (tmp_path / "other").as_uri(), "name": "other"}
        editor.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
        assert editor.asked("topmost_secret(total(") == []
        editor.client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"exclude": []}}})
        assert editor.sees("private.py: def topmost_secret(): ...", "private.py: def total(items): ...")

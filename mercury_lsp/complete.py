"""`mercury-lsp complete`: one suggestion in one file, on the way the server goes too. Speaks no LSP."""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.api import EngineConfig, MercuryError, SettingInvalid, StopFlag, load_engine
from mercury_lsp import present, utf16
from mercury_lsp.context import infill_request
from mercury_lsp.languages import language_of
from mercury_lsp.session import Document, Snapshot
from mercury_lsp.settings import Settings

if TYPE_CHECKING:
    from rich.text import Text

_PLACE = re.compile(r"(?P<file>.+):(?P<line>[0-9]{1,9}):(?P<column>[0-9]{1,9})", re.DOTALL)
_AROUND = 8  # lines shown above and below the suggestion


class BadPlace(Exception):
    """Not a place in a text file; `str()` is one line."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints. `text` is what an editor would show; the figures are the draft's."""

    text: str
    latency_ms: float
    denoise_steps: int
    forwards: int
    tokens: int
    confidence: float
    model: str


def run(args: argparse.Namespace) -> int:
    """Returns 0; 1 where the engine fails, 2 where `args.place` is no place in a text file or `args.model` is not known."""
    try:
        snapshot = read_place(args.place)
        outcome = _complete(snapshot, args)
    except (BadPlace, SettingInvalid) as error:
        return _fail(str(error), 2)
    except MercuryError as error:
        return _fail(str(error), 1)
    if args.json:
        sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")  # JSON is UTF-8, whatever the terminal is
    else:
        _show(snapshot, outcome)
    return 0


def read_place(place: str) -> Snapshot:
    """The file of `FILE:LINE:COL` with the cursor there. Raises `BadPlace`."""
    parts = _PLACE.fullmatch(place)
    if parts is None:
        raise BadPlace(f"{place}: expected FILE:LINE:COL, as in src/app.py:10:5")
    path = Path(parts["file"])
    text = _read(path)
    lines = re.split("\r\n?|\n", text)
    line, column = int(parts["line"]), int(parts["column"])
    if not 1 <= line <= len(lines):
        raise BadPlace(f"{place}: the file has lines 1 to {len(lines)}")
    if not 1 <= column <= len(lines[line - 1]) + 1:
        raise BadPlace(f"{place}: line {line} has columns 1 to {len(lines[line - 1]) + 1}")
    document = Document(path.absolute().as_uri(), "", 0, text)
    return document.snapshot(line - 1, utf16.to_units(lines[line - 1], column - 1))


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadPlace(f"{path}: {error.strerror}") from None
    except ValueError as error:  # a name with a zero byte in it
        raise BadPlace(f"{path!r}: {error}") from None
    if b"\0" in data:
        raise BadPlace(f"{path}: a binary file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPlace(f"{path}: not UTF-8 at byte {error.start}") from None


def _complete(snapshot: Snapshot, args: argparse.Namespace) -> Outcome:
    settings = Settings()
    engine = load_engine(EngineConfig(model=args.model or settings.model))
    request = infill_request(snapshot, settings, "automatic", [str(Path.cwd())])
    request = msgspec.structs.replace(
        request,
        multiline=request.multiline or args.multiline,
        deadline=time.monotonic() + args.deadline / 1000 if args.deadline else None,
    )
    draft = engine.infill(request, StopFlag())
    item = present.item(snapshot.text, snapshot.line, snapshot.column, draft.text, language=language_of("", snapshot.path))
    return Outcome(
        text=item.completion if item else "",
        latency_ms=round(draft.latency_ms, 1),
        denoise_steps=draft.denoise_steps,
        forwards=draft.forwards,
        tokens=draft.tokens,
        confidence=round(draft.confidence, 4),
        model=draft.model,
    )


def _show(snapshot: Snapshot, outcome: Outcome) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    new = range(snapshot.line, snapshot.line + outcome.text.count("\n") + 1) if outcome.text else range(0)
    lines = _highlighted(snapshot, outcome.text).split("\n", allow_blank=True)
    first, last = max(0, snapshot.line - _AROUND), min(len(lines), snapshot.line + len(new) + _AROUND)
    for number in range(first, last):
        mark, style = ("+", "green") if number in new else (" ", "dim")
        console.print(f"[{style}]{mark}{number + 1:>{len(str(last))}} │[/] ", end="")
        console.print(lines[number])
    if not outcome.text:
        console.print("no suggestion", style="yellow")
    console.print(
        f"{outcome.latency_ms:.0f} ms · {outcome.denoise_steps} denoise steps · {outcome.forwards} forwards"
        f" · {outcome.tokens} tokens · confidence {outcome.confidence:.2f}"
    )


def _highlighted(snapshot: Snapshot, completion: str) -> Text:
    from rich.syntax import Syntax

    text = snapshot.before + completion + snapshot.after
    shown = Syntax("", Syntax.guess_lexer(snapshot.path, text), theme="ansi_dark").highlight(text)
    shown.stylize("bold green", snapshot.offset, snapshot.offset + len(completion))
    return shown


def _fail(message: str, code: int) -> int:
    print(f"mercury-lsp: {message}", file=sys.stderr)
    return code

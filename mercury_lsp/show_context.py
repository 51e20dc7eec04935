"""`mercury-lsp context`: what the model would get at a place in a file, and what was left out. Asks no model, and loads no weights."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from engine.api import EngineConfig, MercuryError, SettingInvalid
from engine.prompt import Part, prompt_parts
from mercury_lsp.choice import Choice
from mercury_lsp.complete import BadPlace, read_place
from mercury_lsp.context import infill_request, shown_path
from mercury_lsp.indexing import Indexing
from mercury_lsp.privacy import Privacy
from mercury_lsp.related import source_of
from mercury_lsp.session import Snapshot
from mercury_lsp.settings import Settings

_HIDDEN_SHOWN = 10


def run(args: argparse.Namespace) -> int:
    """Returns 0; 1 where the model is not there, 2 where `args.place` is no place in a text file or `args.model` is not known."""
    try:
        for line in _shown(read_place(args.place), EngineConfig(model=args.model or Settings().model)):
            print(line)
    except (BadPlace, SettingInvalid) as error:
        return _fail(str(error), 2)
    except MercuryError as error:
        return _fail(str(error), 1)
    return 0


def _shown(snapshot: Snapshot, config: EngineConfig) -> Iterator[str]:
    roots = [str(Path.cwd())]
    if Privacy().hides(snapshot.path):
        yield f"nothing: {shown_path(snapshot.path, roots)} is ignored, or its name tells of a secret"
        return
    hidden: list[str] = []
    indexing = Indexing(hidden=hidden.append)
    indexing.look_through(roots)
    indexing.open(source_of(snapshot), snapshot.text)
    while indexing.step():
        pass
    related = Choice(indexing).related(snapshot, Settings(), roots)
    parts = prompt_parts(config, infill_request(snapshot, Settings(), "explicit", roots, related))
    for part in parts:
        yield f"── {part.name}{_count(part)} ──"
        yield part.text
    yield "── left out ──"
    yield from _cut(snapshot, parts)
    if (dropped := len(related) - sum(part.name == "related" for part in parts)) > 0:
        yield f"no room: {', '.join(piece.path for piece in related[:dropped])}"
    if hidden:
        names = [shown_path(path, roots) for path in hidden[:_HIDDEN_SHOWN]]
        more = f" and {len(hidden) - len(names)} more" if len(hidden) > len(names) else ""
        yield f"ignored, or named like a secret: {', '.join(names)}{more}"


def _count(part: Part) -> str:
    return "" if part.tokens is None else f" · {part.tokens} tokens"


def _cut(snapshot: Snapshot, parts: tuple[Part, ...]) -> Iterator[str]:
    """How much of the file the model does not see."""
    for name, whole, side in (("prefix", snapshot.before, "before"), ("suffix", snapshot.after, "after")):
        if (rest := len(whole) - sum(len(part.text) for part in parts if part.name == name)) > 0:
            yield f"no room: {rest:,} characters of the file {side} the {name}"


def _fail(message: str, code: int) -> int:
    print(f"mercury-lsp: {message}", file=sys.stderr)
    return code

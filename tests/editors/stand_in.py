"""A server for editor tests: the project's own, with an engine and next edits out of one JSON file. Run as a program, with the file's path.

The file: {"drafts": [text, ...], "others": [text, ...], "edits": [edit, ...], "pause": seconds, "load": seconds, "gone": text,
"unsaid": flag}. An edit, {line, old, new, label, when, file}, is sent while its `line` has `old` and the text has `when`; one with a `file`
is of that file, beside the one that is asked about. A rewriting takes the pause for each of its lines; loading takes as long as it says.
The engine tells that it is `gone` until there is "back" before the cursor; `unsaid`: the client is not told. What the engine was given
last besides the document is in `related.json` beside the file.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine import loading
from engine.api import Canvas, Draft, EngineConfig, InfillRequest, RewriteRequest, StopFlag, unheard
from engine.scripted import ScriptedEngine
from mercury_lsp import server, stdio, uris

Json = dict[str, Any]


class Inventive(ScriptedEngine):
    """Has others than its drafts for who asks for something else."""

    drafts_freely = False  # True: it also drafts what nobody asked for yet

    def __init__(self, drafts: Sequence[str], others: Sequence[str], pause: float, gone: str, related: Path) -> None:
        super().__init__(drafts)
        self._others, self._pause, self._gone, self._related = others, pause, gone, related
        self._told = ""
        self.told: Callable[[str], None] = unheard

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self._related.write_bytes(msgspec.json.encode([piece.text for piece in request.related]))
        fault = "" if "back" in request.prefix else self._gone
        if fault != self._told:
            self._told = fault
            self.told(fault)
        if request.unlike:
            fresh = [text for text in self._others if text not in request.unlike]
            return ScriptedEngine(fresh).infill(msgspec.structs.replace(request, unlike=()), stop)
        return super().infill(request, stop)

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        def slowly(canvas: Canvas) -> None:
            heard(Canvas(canvas.settled, "\n..."))
            time.sleep(self._pause)

        return super().rewrite(request, stop, slowly)


def next_edit(edits: list[Json], ls: server.MercuryServer, document: Json) -> Json:
    snapshot = ls.session.snapshot(document["uri"], 0, 0)
    if snapshot is None:
        return {"edits": []}
    for edit in edits:
        if edit.get("when", "") not in snapshot.text:
            continue
        if "file" in edit:
            return {"edits": [in_another_file(edit, document)]}
        column = (snapshot.text.split("\n") + [""] * 999)[edit["line"]].find(edit["old"])
        if column >= 0:
            return {"edits": [item(edit, document, column)]}
    return {"edits": []}


def item(edit: Json, document: Json, column: int) -> Json:
    place = {"start": {"line": edit["line"], "character": column}, "end": {"line": edit["line"], "character": column + len(edit["old"])}}
    command = {"title": "", "command": "github.copilot.didAcceptNextEditSuggestionItem", "arguments": ["1"]}
    return {"text": edit["new"], "textDocument": document, "range": place, "label": edit.get("label", ""), "command": command, "jump": None}


def in_another_file(edit: Json, document: Json) -> Json:
    uri = document["uri"].rpartition("/")[0] + "/" + edit["file"]
    column = Path(uris.path_of(uri)).read_text("utf-8").split("\n")[edit["line"]].index(edit["old"])
    found = item(edit, {"uri": uri, "version": None}, column)
    return {**found, "jump": {"uri": uri, "position": found["range"]["start"]}}


def main() -> None:
    written = Path(sys.argv[1])
    script = json.loads(written.read_text("utf-8"))

    def load(_: EngineConfig) -> Inventive:
        loading.told(0.4)
        time.sleep(script.get("load", 0))
        related = written.with_name("related.json")
        engine = Inventive(script["drafts"], script.get("others", []), script.get("pause", 0), script.get("gone", ""), related)
        engine.drafts_freely = script.get("freely", False)
        return engine

    built = server.build(load)

    async def answer(ls: server.MercuryServer, params: Any) -> Json:
        return next_edit(script.get("edits", []), ls, params["textDocument"])

    if script.get("edits"):  # else the server's own
        built.protocol.fm.features.pop("mercury/nextEdit", None)
        built.feature("mercury/nextEdit")(answer)
    if script.get("unsaid"):
        notify = built.protocol.notify
        vars(built.protocol)["notify"] = lambda method, params: None if method == "mercury/status" else notify(method, params)
    os._exit(asyncio.run(built.serve(*stdio.claim_stdio())))


if __name__ == "__main__":
    main()

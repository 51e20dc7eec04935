"""What the tests of refactorings share: a marked selection, a client that applies edits, an engine that says what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsp_client import URI, Client, in_process, utf16_length

from engine.api import Canvas, ChatRequest, Draft, InfillRequest, RequestInvalid, RewriteRequest, StopFlag, unheard

SUFFIXES = {"python": "py", "javascript": "js", "typescript": "ts", "go": "go", "rust": "rs", "java": "java"}
FULL = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]}},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "resolveSupport": {"properties": ["edit"]},
            "dataSupport": True,
            "tagSupport": {"valueSet": [1]},
        }
    },
}


class Told:
    """An engine whose answers are given, by the kind of request, in order; it keeps what it was asked.

    An answer may be a function of the request. After the last answer a hole stays empty and a region stays as it is.
    """

    name = "told"

    def __init__(self, infill: list[Any] | None = None, rewrite: list[Any] | None = None, chat: list[Any] | None = None) -> None:
        self.answers = {"infill": list(infill or []), "rewrite": list(rewrite or []), "chat": list(chat or [])}
        self.infills: list[InfillRequest] = []
        self.rewrites: list[RewriteRequest] = []
        self.chats: list[ChatRequest] = []

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.infills.append(request)
        return self._draft("infill", request, "")

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        self.rewrites.append(request)
        draft = self._draft("rewrite", request, request.region)
        for end in range(1, len(draft.text), 7):
            heard(Canvas(draft.text[:end], request.region[end:]))
        return draft

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        self.chats.append(request)
        draft = self._draft("chat", request, "")
        for end in range(1, len(draft.text), 7):
            heard(draft.text[:end])
        return draft

    def _draft(self, kind: str, request: object, default: str) -> Draft:
        answer = self.answers[kind].pop(0) if self.answers[kind] else default
        answer = answer(request) if callable(answer) else answer
        if isinstance(answer, Draft):
            return answer
        if isinstance(answer, RequestInvalid):
            raise answer
        return draft(answer)


def draft(text: str, confidence: float = 1.0, ended: Any = "end", **more: Any) -> Draft:
    return Draft(
        text=text, confidence=confidence if text else 0.0, tokens=len(text), denoise_steps=1, forwards=1, prefill_tokens=0,
        latency_ms=1.0, ended=ended, model="told", **more,
    )  # fmt: skip


class Editor:
    """A document in a client that applies what the server asks it to."""

    def __init__(self, client: Client, marked: str, language: str, uri: str) -> None:
        self.client, self.uri, self.language = client, uri, language
        start, end = marked.index("«"), marked.replace("«", "").index("»")
        self.text = marked.replace("«", "").replace("»", "")
        self.range = {"start": self._position(start), "end": self._position(end)}
        self.created: dict[str, str] = {}
        client.open(self.text, uri, language)

    def _position(self, at: int) -> dict[str, int]:
        lines = self.text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return {"line": len(lines) - 1, "character": utf16_length(lines[-1])}

    def run(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Through `executeCommand`; the edit that the server sends is applied."""
        argument = {"uri": self.uri, "range": self.range, **arguments}
        result: dict[str, Any] = self.client.call("workspace/executeCommand", {"command": command, "arguments": [argument]})
        for sent in self.client.received("workspace/applyEdit"):
            self.apply(sent["edit"])
        return result

    def actions(self, **context: Any) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": self.uri}, "range": self.range, "context": {"diagnostics": [], **context}}
        found: list[dict[str, Any]] = self.client.call("textDocument/codeAction", params)
        return found

    def choose(self, title: str, **context: Any) -> dict[str, Any]:
        """Resolve the action of this title, and apply its edit if it has one."""
        action = next(each for each in self.actions(**context) if each["title"] == title)
        assert "edit" not in action
        resolved: dict[str, Any] = self.client.call("codeAction/resolve", action)
        if "edit" in resolved:
            self.apply(resolved["edit"])
        return resolved

    def apply(self, edit: Mapping[str, Any]) -> None:
        for change in edit["documentChanges"]:
            if change.get("kind") == "create":
                assert change["uri"] not in self.created
                self.created[change["uri"]] = ""
            elif change["textDocument"]["uri"] in self.created:
                assert change["textDocument"]["version"] is None
                self.created[change["textDocument"]["uri"]] = "".join(each["newText"] for each in change["edits"])
            else:
                assert change["textDocument"] == {"uri": self.uri, "version": self.client.versions[self.uri]}
                self.text = apply_edits(self.text, change["edits"])

    def messages(self) -> list[str]:
        return [sent["message"] for sent in self.client.received("window/showMessage")]


def apply_edits(text: str, edits: list[dict[str, Any]]) -> str:
    """As an editor does: none may overlap, and of two at one place the first goes first."""
    places = [(offset(text, each["range"]["start"]), offset(text, each["range"]["end"]), each["newText"]) for each in edits]
    ordered = sorted(enumerate(places), key=lambda pair: (pair[1][0], pair[1][1], pair[0]))
    parts, at = [], 0
    for _, (start, end, new) in ordered:
        assert start >= at, "edits overlap"
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def offset(text: str, position: Mapping[str, int]) -> int:
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: position["line"]])
    line = lines[position["line"]].encode("utf-16-le")
    return start + len(line[: 2 * position["character"]].decode("utf-16-le"))


@contextmanager
def editor(
    marked: str,
    language: str = "python",
    engine: Told | None = None,
    *,
    capabilities: Mapping[str, Any] = FULL,
    uri: str = "",
    **params: Any,
) -> Iterator[Editor]:
    told = engine or Told()
    with in_process(lambda _: told) as client:
        client.capabilities = dict(capabilities)
        client.initialize(**params)
        place = uri or URI.replace("main.py", f"main.{SUFFIXES.get(language, 'txt')}")
        yield Editor(client, marked, language, place)


def check(command: str, marked: str, after: str, language: str = "python", engine: Told | None = None, **arguments: Any) -> None:
    """A document with its selection → the document after the command."""
    with editor(marked, language, engine) as opened:
        result = opened.run(command, **arguments)
        assert opened.text == after, result
        assert result == {"applied": True, "message": ""}
        assert opened.messages() == []


def refused(command: str, marked: str, why: str, language: str = "python", engine: Told | None = None, **arguments: Any) -> None:
    """Nothing changes, and the user is told why."""
    with editor(marked, language, engine) as opened:
        before = opened.text
        result = opened.run(command, **arguments)
        assert opened.text == before and result["applied"] is False, opened.text
        assert why in result["message"], result["message"]
        assert len(opened.messages()) == 1 and why in opened.messages()[0]
        assert opened.client.received("workspace/applyEdit") == []


def path_uri(path: Path) -> str:
    return path.as_uri()

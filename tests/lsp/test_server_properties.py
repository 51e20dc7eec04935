"""Whatever is typed where: the engine is asked about the client's text, and what comes back is that text with something put in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsp_client import Client, in_process, utf16_length
from test_session import Spot, offset_of

from engine.api import Draft, InfillRequest, StopFlag

PIECES = st.sampled_from(
    ["\n", "\r\n", "\r", "\n    ", "\n\t", " ", "(", ")", "[", "]", "{", "}", '"', "'", '"""', ":", ",", ";", "#", "//", "/*", "*/", "."]
    + ["def f(x):", "return", "if x", "else", "x = 1", "foo", "foo(", "1", "\\", "\x00", "\ufeff", "😀", "e\u0301", "名", "\u2028", "\x0c"]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
DRAFTS = st.sampled_from(["foo", "x)", "(1) + 2", "\n    return x", 'a"', "1;\n}", "b: c", "d\ne\nf"]) | st.lists(PIECES, max_size=8).map(
    "".join
)
SPOTS = st.tuples(st.integers(0, 5), st.integers(0, 12))
CHANGES = st.tuples(SPOTS, SPOTS, TEXTS)
LANGUAGES = st.sampled_from(["python", "javascript", "c", "html", "yaml", "markdown", "swift", ""])


class Saying:
    """An engine that says what it is told to, and something else when that is known. Remembers what it was asked."""

    name = "saying"

    def __init__(self) -> None:
        self.draft = ""
        self.asked: InfillRequest | None = None

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.asked = request
        figures = {"tokens": 0, "denoise_steps": 0, "forwards": 0, "prefill_tokens": 0, "latency_ms": 0.0}
        text = self.draft + "".join(request.unlike[-1:])
        return Draft(text=text, confidence=1.0 if text else 0.0, ended="end", model=self.name, **figures)  # type: ignore[arg-type]


class Editor:
    """A client that knows its own texts, and looks at whatever it is answered."""

    def __init__(self, client: Client, engine: Saying) -> None:
        self._client, self._engine = client, engine
        self._numbers = itertools.count()
        self.answered = 0

    def open(self, text: str, language: str) -> None:
        self._client.messages.clear()
        self.text = text
        self.uri = f"file:///project/{next(self._numbers)}"
        self._client.open(text, self.uri, language)

    def close(self) -> None:
        self._client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})

    def change(self, start: Spot, end: Spot, new: str) -> None:
        start, end = min(start, end), max(start, end)
        places = [{"line": line, "character": character} for line, character in (start, end)]
        low, high = offset_of(self.text, *start), offset_of(self.text, *end)
        self._client.change({"range": {"start": places[0], "end": places[1]}, "text": new}, uri=self.uri)
        self.text = self.text[:low] + new + self.text[high:]

    def ask(self, spot: Spot, kind: int, draft: str, selected: str | None) -> None:
        more: dict[str, Any] = {}
        if selected is not None:
            place = {"line": spot[0], "character": spot[1]}
            more = {"selectedCompletionInfo": {"range": {"start": place, "end": place}, "text": selected}}
        self._engine.draft, self._engine.asked = draft, None
        items = self._client.items(*spot, uri=self.uri, kind=kind, **more)
        at = offset_of(self.text, *spot)
        if (asked := self._engine.asked) is not None:
            assert asked.prefix + asked.suffix == plain(self.text) and asked.prefix == plain(self.text[:at])
        for item in items:
            self.answered += 1
            self._check(item, at)

    def _check(self, item: dict[str, Any], at: int) -> None:
        """That it puts something in at `at`, and leaves the rest of its line, and of the text, as it is."""
        begin = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        ended = re.compile(r"\r|\n|\Z").search(self.text, at)
        assert ended is not None
        left, right, new = self.text[begin:at], self.text[at : ended.start()], item["insertText"]
        start, end = item["range"]["start"], item["range"]["end"]
        assert start == {"line": len(re.findall(r"\r\n|\r|\n", self.text[:begin])), "character": 0}
        assert end == {"line": start["line"], "character": utf16_length(left + right)}
        assert "\r" not in new
        assert new.startswith(left) and new[len(left) :].endswith(right)
        assert new[len(left) : len(new) - len(right)].strip()


def plain(text: str) -> str:
    """As the engine gets it: one kind of line break, no byte order mark, no half of a character."""
    return re.sub("\r\n?", "\n", text).removeprefix("\ufeff")


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    engine = Saying()
    with in_process(lambda _: engine) as client:
        client.initialize({"deadlineMs": 60_000})
        yield (editor := Editor(client, engine))
    assert editor.answered > 100


@given(TEXTS, LANGUAGES, st.lists(st.tuples(CHANGES, SPOTS, st.sampled_from([1, 2]), DRAFTS, st.none() | DRAFTS), min_size=1, max_size=3))
def test_whatever_is_answered_fits_the_clients_text(
    editor: Editor, text: str, language: str, steps: list[tuple[tuple[Spot, Spot, str], Spot, int, str, str | None]]
) -> None:
    editor.open(text, language)
    for change, spot, kind, draft, selected in steps:
        editor.change(*change)
        editor.ask(spot, kind, draft, selected)
    editor.close()

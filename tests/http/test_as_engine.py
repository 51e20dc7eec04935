"""The service as the engine of a language server: what comes over the wire is what the engine would say in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec
import pytest
import tiny_service
from servers import serving

from engine.api import ChatRequest, InfillRequest, PastEdit, Related, RewriteRequest, StopFlag, Turn
from engine.engine import LocalEngine
from engine.remote import RemoteEngine
from engine.serving.requests import Finished, Hole, Work
from engine.serving.scripted import ScriptedService

HOLE = InfillRequest(prefix="x = 1\ny = ", suffix="\nz = 3\n", path="a/b.py", related=(Related("c.py", "Q = 9"),), max_tokens=20)


@pytest.fixture(scope="module")
def remote() -> Iterator[RemoteEngine]:
    with serving(tiny_service.service()) as url:
        yield RemoteEngine(url)


@pytest.fixture(scope="module")
def local() -> LocalEngine:
    return LocalEngine(tiny_service.checkpoint(), "tiny")


@pytest.mark.parametrize("multiline", [True, False])
def test_a_hole(remote: RemoteEngine, local: LocalEngine, multiline: bool) -> None:
    request = msgspec.structs.replace(HOLE, multiline=multiline)
    theirs, mine = remote.infill(request, StopFlag()), local.infill(request, StopFlag())
    assert theirs.text == mine.text
    assert theirs.confidence == pytest.approx(mine.confidence, rel=1e-4) and len(theirs.pieces) == len(mine.pieces)
    for one, other in zip(theirs.pieces, mine.pieces, strict=True):
        assert one.length == other.length and one.word == pytest.approx(other.word, rel=1e-4)


def test_a_hole_that_is_to_begin_as_told_and_otherwise_than_what_is_known(remote: RemoteEngine, local: LocalEngine) -> None:
    known: list[str] = []
    for begins in ("", "", "foo"):
        request = msgspec.structs.replace(HOLE, begins=begins, unlike=tuple(known))
        theirs, mine = remote.infill(request, StopFlag()), local.infill(request, StopFlag())
        assert theirs.text == mine.text and theirs.text.startswith(begins)
        assert [piece.length for piece in theirs.pieces] == [piece.length for piece in mine.pieces]
        known.append(mine.text)
    assert known[0][0] != known[1][0]


def test_much_related_text_leaves_the_prefix_its_room(remote: RemoteEngine, local: LocalEngine) -> None:
    long = "".join(f"name_{number} = {number}\n" for number in range(80))
    request = msgspec.structs.replace(HOLE, prefix=long, related=(Related("c.py", "Q = 9\n" * 20),))
    assert remote.infill(request, StopFlag()).text == local.infill(request, StopFlag()).text


def test_a_hole_of_several_lines_ends_with_its_block() -> None:
    with serving(ScriptedService(["a = 1\n    b = 2\nc = 3\n    d = 4"])) as url:
        draft = RemoteEngine(url).infill(msgspec.structs.replace(HOLE, multiline=True, dedent=4), StopFlag())
    assert draft.text == "a = 1\n    b = 2" and draft.pieces[-1].length == len(draft.text)


def test_the_service_writes_no_further_than_the_block() -> None:
    """Told by the text alone, so the engine's thread sees it before the client does."""
    service = tiny_service.service()

    async def written(dedent: int | None) -> int:
        async for event in service.submit(Work(task=Hole(prefix="x", dedent=dedent), max_tokens=200)):
            if isinstance(event, Finished):
                return event.usage.completion_tokens
        raise AssertionError

    try:
        service._tokenizer.to_bytes = lambda ids: b"\ny" * len(list(ids))  # type: ignore[method-assign]
        assert asyncio.run(written(4)) < 20 < asyncio.run(written(None))
    finally:
        service.close()


def rewriting(region: str, instruction: str = "") -> RewriteRequest:
    history = (PastEdit("x.py", "-1\n+2"),)
    return RewriteRequest(prefix="a\n", region=region, suffix="\nd", path="x.py", cursor=3, history=history, instruction=instruction)


def test_a_rewriting(remote: RemoteEngine, local: LocalEngine) -> None:
    request = rewriting("b = 1\nc = 2", "simplify")
    mine, theirs = local.rewrite(request, StopFlag()), remote.rewrite(request, StopFlag())
    assert theirs.text == mine.text and theirs.tokens == mine.tokens


def test_a_change_that_nobody_asked_for_may_be_none(remote: RemoteEngine, local: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """To end at once is favoured as much as to copy the text: much here, so that random weights do one or the other."""
    monkeypatch.setattr("engine.engine.KEEP", 1e4)
    monkeypatch.setattr("engine.serving.local.KEEP", 1e4)
    lengths = set()
    for number in range(8):
        request = rewriting(f"{chr(98 + number)} = {number}\nc = 2")
        mine, theirs = local.rewrite(request, StopFlag()), remote.rewrite(request, StopFlag())
        assert theirs.text == mine.text == request.region and theirs.tokens == mine.tokens
        lengths.add(mine.tokens)
    assert len(lengths) > 1


def test_a_conversation(remote: RemoteEngine, local: LocalEngine) -> None:
    request = ChatRequest(turns=(Turn("system", "be brief"), Turn("user", "hello")), max_tokens=30)
    heard: list[str] = []
    answer = remote.chat(request, StopFlag(), heard.append).text
    assert answer == local.chat(request, StopFlag()).text and heard == [answer]

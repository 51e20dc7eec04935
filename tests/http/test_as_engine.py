"""The service as the engine of a language server: what comes over the wire is what the engine would say in the same process."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
import tiny_service
from servers import serving

from engine.api import ChatRequest, InfillRequest, PastEdit, Related, RewriteRequest, StopFlag, Turn
from engine.engine import LocalEngine
from engine.remote import RemoteEngine

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


def test_a_rewriting(remote: RemoteEngine, local: LocalEngine) -> None:
    request = RewriteRequest(
        prefix="a\n",
        region="b = 1\nc = 2",
        suffix="\nd",
        path="x.py",
        cursor=3,
        history=(PastEdit("x.py", "-1\n+2"),),
        instruction="simplify",
    )
    mine, theirs = local.rewrite(request, StopFlag()), remote.rewrite(request, StopFlag())
    assert theirs.text == mine.text and theirs.tokens == mine.tokens


def test_a_conversation(remote: RemoteEngine, local: LocalEngine) -> None:
    request = ChatRequest(turns=(Turn("system", "be brief"), Turn("user", "hello")), max_tokens=30)
    heard: list[str] = []
    answer = remote.chat(request, StopFlag(), heard.append).text
    assert answer == local.chat(request, StopFlag()).text and heard == [answer]

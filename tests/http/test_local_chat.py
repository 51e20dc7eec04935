"""The local engine's own answers: heard as they grow, ended by their limits, refused where the model or its context does not allow it.

Said by a model of random weights: what it says does not matter.
"""

from __future__ import annotations

import copy
import time

import msgspec
import pytest
from tiny_service import checkpoint

from engine.api import ChatRequest, PromptTooLong, RequestInvalid, StopFlag, Turn
from engine.engine import LocalEngine

QUESTION = (Turn("user", "def add(a, b):\n    return"),)


@pytest.fixture(scope="module")
def engine() -> LocalEngine:
    return LocalEngine(checkpoint(), "tiny")


def test_an_answer_is_heard_as_it_grows(engine: LocalEngine) -> None:
    heard: list[str] = []
    draft = engine.chat(ChatRequest(turns=QUESTION, max_tokens=24), StopFlag(), heard.append)
    assert draft.ended in ("length", "end") and 0 < draft.tokens <= 24
    assert heard and all(draft.text.startswith(text) for text in heard) and heard == sorted(heard, key=len)


def test_the_same_question_is_read_from_the_cache(engine: LocalEngine) -> None:
    request = ChatRequest(turns=(Turn("user", "once " * 20),), max_tokens=4)
    first, again = (engine.chat(request, StopFlag()) for _ in range(2))
    assert first.text == again.text and first.prefill_tokens > again.prefill_tokens == 0


def test_a_deadline_or_a_stop_ends_it(engine: LocalEngine) -> None:
    assert engine.chat(ChatRequest(turns=QUESTION, deadline=time.monotonic()), StopFlag()).ended == "deadline"
    stop = StopFlag()
    stop.set()
    assert engine.chat(ChatRequest(turns=QUESTION), stop).ended == "stopped"


def test_what_cannot_be_answered_is_refused(engine: LocalEngine) -> None:
    with pytest.raises(RequestInvalid, match="max_tokens 0"):
        engine.chat(ChatRequest(turns=QUESTION, max_tokens=0), StopFlag())
    with pytest.raises(PromptTooLong, match="shorten it"):
        engine.chat(ChatRequest(turns=(Turn("user", "word " * 3000),)), StopFlag())
    unable = copy.copy(engine)
    unable.layout = msgspec.structs.replace(engine.layout, chat=None)
    with pytest.raises(RequestInvalid, match="not trained to converse"):
        unable.chat(ChatRequest(turns=QUESTION), StopFlag())

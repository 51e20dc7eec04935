"""What a request may ask of a draft's beginning: that it begins with a text, or otherwise than known drafts."""

from __future__ import annotations

import msgspec
from holes import holes
from test_decode import nearest

from engine.api import StopFlag
from engine.engine import LocalEngine


def test_it_begins_as_asked_and_goes_on_as_if_that_had_been_written(engine: LocalEngine) -> None:
    begun = 0
    for request in map(nearest, holes(12, max_tokens=16)):
        wanted = msgspec.structs.replace(request, begins="result", max_tokens=16)
        draft = engine.infill(wanted, StopFlag())
        written = engine.infill(msgspec.structs.replace(request, prefix=request.prefix + "result", max_tokens=16), StopFlag())
        assert draft.text == ("result" + written.text if written.text else "")
        if draft.text:
            begun += 1
            assert draft.pieces[0].length == 6 and draft.pieces[-1].length == len(draft.text)
    assert begun > 3


def test_it_begins_otherwise_than_what_is_known(engine: LocalEngine) -> None:
    for request in map(nearest, holes(12, max_tokens=16)):
        known: list[str] = []
        for _ in range(3):
            draft = engine.infill(msgspec.structs.replace(request, unlike=tuple(known), max_tokens=16), StopFlag())
            first = [engine.tokenizer.encode(text)[:1] for text in (*known, draft.text) if text]
            assert len({tuple(ids) for ids in first}) == len(first), (known, draft.text)
            if not draft.text:
                break
            known.append(draft.text)

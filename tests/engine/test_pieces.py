"""What the default model says of a draft's tokens."""

from __future__ import annotations

import itertools

import pytest
from holes import holes

from engine.api import Draft, InfillRequest, StopFlag
from engine.decode import Decoded
from engine.engine import LocalEngine


@pytest.mark.parametrize("multiline", [False, True])
def test_pieces_lead_through_the_text_to_its_end(engine: LocalEngine, multiline: bool) -> None:
    for request in holes(6, multiline=multiline, max_tokens=12):
        draft = engine.infill(request, StopFlag())
        assert len(draft.pieces) == draft.tokens
        lengths = [piece.length for piece in draft.pieces]
        assert lengths == sorted(lengths)
        assert lengths[-1] == len(draft.text)
        sure = [piece.confidence for piece in draft.pieces]
        assert sure == sorted(sure, reverse=True)
        assert all(0 <= piece.word <= piece.confidence <= 1 for piece in draft.pieces)
        assert draft.confidence == (next(piece.word for piece in draft.pieces if piece.length == lengths[-1]) if draft.text else 0)


@pytest.mark.parametrize(
    ("written", "multiline", "shown"),
    [
        ("a = 'é😀'", False, "a = 'é😀'"),
        ("x\n    y", False, "x"),
        ("x\n    y", True, "x\n    y"),
    ],
)
def test_lengths_are_characters_of_what_is_shown(engine: LocalEngine, written: str, multiline: bool, shown: str) -> None:
    """A character of several tokens is there with the last of them; what the text leaves out has no length."""
    ids = engine.tokenizer.encode(written)
    draft = drafted(engine, ids, multiline)
    assert draft.text == shown
    for piece, count in zip(draft.pieces, itertools.count(1)):
        assert shown[: piece.length] == engine.tokenizer.decode(ids[:count])[: len(shown)]


def drafted(engine: LocalEngine, ids: list[int], multiline: bool) -> Draft:
    decoded = Decoded(ids, [0.5] * len(ids), 1, 1, "end")
    return engine._draft(decoded, InfillRequest(prefix="", suffix="", multiline=multiline), 0, 0.0)

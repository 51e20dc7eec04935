"""What a draft begins with, or does not: for engines that are asked for it. Knows no model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from engine.api import Draft, InfillRequest, Piece

if TYPE_CHECKING:
    from engine.tokenizer import TextTokenizer

# Characters of a known draft within which its first token is looked for.
_LONGEST_WORD = 24


def behind(request: InfillRequest) -> InfillRequest:
    """The hole that is left once what the draft begins with is there."""
    return msgspec.structs.replace(request, prefix=request.prefix + request.begins, begins="")


def begun(text: str, draft: Draft) -> Draft:
    """`draft` with `text` before it; nothing where there is only that."""
    if not draft.text:
        return draft
    own = Piece(length=len(text), probability=1.0, confidence=1.0, word=1.0)
    pieces = tuple(msgspec.structs.replace(piece, length=piece.length + len(text)) for piece in draft.pieces)
    return msgspec.structs.replace(draft, text=text + draft.text, pieces=(own, *pieces) if pieces else ())


def first_ids(tokenizer: TextTokenizer, texts: Iterable[str]) -> list[int]:
    """The ids that a draft of one of `texts` may begin with: a word can be written in more tokens than it needs."""
    return sorted({index for text in texts for index in _first_ids(tokenizer, text)})


def _first_ids(tokenizer: TextTokenizer, text: str) -> Iterator[int]:
    for length in range(1, min(len(text), _LONGEST_WORD) + 1):
        ids = tokenizer.encode(text[:length])
        if len(ids) == 1:
            yield ids[0]

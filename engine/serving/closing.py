"""The shortest way found to end an answer that is held to a grammar. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence

import llguidance
import numpy as np

from engine.tokenizer import TextTokenizer

# What brings a JSON text to its end, the likeliest to do so first, between values and inside a string. A comma ends a number.
_BETWEEN = ('"}', '"]', "}", "]", ", ", ",", ": ", ":", '"', "0", "1", "null", "true")
_INSIDE = ('"}', '"]', '"', "0", "1", "a")
# An ending that is not found in so many ids is none: patterns that never end of themselves would be followed for ever.
_LONGEST = 512


class Closings:
    """Finds endings for one tokenizer."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._between, self._inside, self._brackets = (_ids(tokenizer, texts) for texts in (_BETWEEN, _INSIDE, ("}", "]")))

    def shortest(self, matcher: llguidance.LLMatcher, most: int) -> list[int] | None:
        """Ids that end the answer from where `matcher` stands, which stays there; None where none were found among `most`.

        At every place the id is taken that must follow, else one that closes what is open, else the first that may. That is not always
        the shortest ending, but it is one, and it is known to be allowed.
        """
        ahead, ids = matcher.deep_copy(), list[int]()
        while not (ahead.is_accepting() or ahead.is_stopped()):
            next_ids = ahead.compute_ff_tokens() or self._closing(ahead)
            ids += next_ids
            if not next_ids or len(ids) > min(most, _LONGEST) or not ahead.consume_tokens(next_ids):
                return None
        return None if ahead.is_error() else ids

    def _closing(self, matcher: llguidance.LLMatcher) -> list[int]:
        """The first closer that may follow, else the first id that may; nothing where none may."""
        allowed = np.frombuffer(matcher.compute_logit_bias(), dtype=np.uint8)
        # Only in a string may both kinds of brackets follow.
        closers = self._inside if all(allowed[index] for index in self._brackets) else self._between
        chosen = next((index for index in closers if allowed[index]), None)
        if chosen is not None:
            return [chosen]
        others = np.flatnonzero(allowed)
        return [int(others[0])] if len(others) else []


def _ids(tokenizer: TextTokenizer, texts: Sequence[str]) -> list[int]:
    """The texts that are one id each."""
    each = (tokenizer.encode(text) for text in texts)
    return [ids[0] for ids in each if len(ids) == 1]

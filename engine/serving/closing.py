"""The shortest way found to end an answer that is held to a grammar. Knows no model."""

from __future__ import annotations

import time
from collections.abc import Sequence

import llguidance
import numpy as np

from engine.tokenizer import TextTokenizer

# What brings a JSON text to its end, the likeliest to do so first, between values and inside a string. A comma ends a number.
_BETWEEN = ('"}', '"]', "}", "]", ", ", ",", ": ", ":", '"', "0", "1", "null", "true")
_INSIDE = ('"}', '"]', '"', "0", "1", "a")
# An ending that is not found in so many ids is none: patterns that never end of themselves would be followed for ever.
_LONGEST = 512
# Nor is one that takes longer: a step of the wildest grammars that are let in takes some 8 ms, one of usual ones 0.05.
_LONGEST_S = 0.025


class Closings:
    """Finds endings for one tokenizer."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self._kinds = np.array([_kind(tokenizer.to_bytes([index])) for index in range(len(tokenizer))], dtype=np.uint8)
        self._between, self._inside, self._brackets = (_ids(tokenizer, texts) for texts in (_BETWEEN, _INSIDE, ("}", "]")))

    def shortest(self, matcher: llguidance.LLMatcher, most: int) -> list[int] | None:
        """Ids that end the answer from where `matcher` stands, which stays there; None where none were found among `most`.

        At every place the id is taken that must follow, else one that closes what is open, else the first that may. That is not always
        the shortest ending, but it is one, and it is known to be allowed.
        """
        ahead, ids, until = matcher.deep_copy(), list[int](), time.perf_counter() + _LONGEST_S
        while not (ahead.is_accepting() or ahead.is_stopped()):
            next_ids = ahead.compute_ff_tokens() or self._closing(ahead, ids[-2:])
            ids += next_ids
            if not next_ids or len(ids) > min(most, _LONGEST) or time.perf_counter() > until or not ahead.consume_tokens(next_ids):
                return None
        return None if ahead.is_error() else ids

    def _closing(self, matcher: llguidance.LLMatcher, before: Sequence[int]) -> list[int]:
        """The first closer that may follow, else the first id that may; nothing where none may.

        After two ids that end with digits, or with letters, another kind is taken where there is any: a fraction could go on for ever.
        """
        allowed = np.frombuffer(matcher.compute_logit_bias(), dtype=np.uint8)
        kinds = {int(self._kinds[index]) for index in before}
        if len(before) == 2 and len(kinds) == 1 and 0 not in kinds and (others := allowed * (self._kinds != kinds.pop())).any():
            allowed = others
        # Only in a string may both kinds of brackets follow.
        closers = self._inside if all(allowed[index] for index in self._brackets) else self._between
        chosen = next((index for index in closers if allowed[index]), None)
        if chosen is not None:
            return [chosen]
        rest = np.flatnonzero(allowed)
        return [int(rest[0])] if len(rest) else []


def _kind(text: bytes) -> int:
    """What a token ends with: a digit, a letter or something else."""
    last = text[-1:]
    return 1 if last.isdigit() else 2 if last.isalpha() else 0


def _ids(tokenizer: TextTokenizer, texts: Sequence[str]) -> list[int]:
    """The texts that are one id each."""
    each = (tokenizer.encode(text) for text in texts)
    return [ids[0] for ids in each if len(ids) == 1]

"""The shortest way found to end an answer that is held to a grammar. Knows no model."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

import llguidance
import numpy as np
from numpy.typing import NDArray

from engine.tokenizer import TextTokenizer

# What brings a JSON text to its end, the likeliest to do so first, between values and inside a string. A comma ends a number.
_BETWEEN = ('"}', '"]', "}", "]", ", ", ",", ": ", ":", '"')
_INSIDE = ('"}', '"]', '"')
# What a value goes on with where nothing of that may follow: the least used first, and of those that were used alike the first here. So
# a local part comes to its `@` and a time to its zone, however many letters or digits would do.
_GOING_ON = tuple(dict.fromkeys(("@", "0", "1", "null", "true", "a", *"-:ZT./+", *map(chr, range(32, 127)))))
# Letters that no value but a string begins with: where one may follow, a bracket closes nothing.
_OF_STRINGS = ("a", "b", "k", "Z")
# From so many ids of that on one looks an id ahead, among so many, for what an end may follow: a multiple of 7 is not met by going on.
_PATIENCE = 6
_LOOKED_AT = 12
# An ending that is not found in so many ids is none: patterns that never end of themselves would be followed for ever.
_LONGEST = 512
# Nor is one that takes longer: a step of the wildest grammars that are let in takes some 8 ms, one of usual ones 0.05. It is the thread's
# own time, so that a busy machine finds the same endings.
_LONGEST_S = 0.05


class Closings:
    """Finds endings for one tokenizer."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        texts = (_BETWEEN, _INSIDE, _OF_STRINGS, ("}", "]"), _GOING_ON)
        self._between, self._inside, self._of_strings, self._brackets, self._going_on = (_ids(tokenizer, each) for each in texts)

    def shortest(self, matcher: llguidance.LLMatcher, most: int) -> list[int] | None:
        """Ids that end the answer from where `matcher` stands, which stays there; None where none were found among `most`.

        At every place the id is taken that must follow, else one that closes what is open, else one that a value goes on with. That is
        not always the shortest ending, but it is one, and it is known to be allowed.
        """
        ahead, ids, until = matcher.deep_copy(), list[int](), time.thread_time() + _LONGEST_S
        used: Counter[int] = Counter()  # of what the value went on with
        while not (ahead.is_accepting() or ahead.is_stopped()):
            next_ids = ahead.compute_ff_tokens() or self._closing(ahead, used)
            ids += next_ids
            if not next_ids or len(ids) > min(most, _LONGEST) or time.thread_time() > until or not ahead.consume_tokens(next_ids):
                return None
        return None if ahead.is_error() else ids

    def _closing(self, matcher: llguidance.LLMatcher, used: Counter[int]) -> list[int]:
        """The first closer that may follow, else what to go on with; nothing where nothing may follow."""
        allowed = _allowed(matcher)
        chosen = self._closer(allowed)
        if chosen is not None:
            used.clear()  # the next value needs its `@` again
        else:
            ways = self._ways(allowed, used)
            if used.total() >= _PATIENCE and used.total() % 2 == 0:
                ways = sorted(ways[:_LOOKED_AT], key=lambda index: not self._ends_after(matcher, index))
            chosen = next(iter(ways), None)
            used[chosen or 0] += 1
        return [] if chosen is None else [chosen]

    def _closer(self, allowed: NDArray[np.uint8]) -> int | None:
        in_string = any(allowed[index] for index in self._of_strings) or all(allowed[index] for index in self._brackets)
        closers = self._inside if in_string else self._between
        return next((index for index in closers if allowed[index]), None)

    def _ways(self, allowed: NDArray[np.uint8], used: Counter[int]) -> list[int]:
        """What a value may go on with, in the order in which it is to be tried."""
        known = sorted((index for index in self._going_on if allowed[index]), key=lambda index: used[index])
        return known or [int(index) for index in np.flatnonzero(allowed)[:1]]

    def _ends_after(self, matcher: llguidance.LLMatcher, index: int) -> bool:
        """Whether a closer may follow `index`."""
        ahead = matcher.deep_copy()
        return bool(ahead.consume_token(index)) and (ahead.is_accepting() or self._closer(_allowed(ahead)) is not None)


def _allowed(matcher: llguidance.LLMatcher) -> NDArray[np.uint8]:
    """By id, whether it may follow."""
    return np.frombuffer(matcher.compute_logit_bias(), dtype=np.uint8)


def _ids(tokenizer: TextTokenizer, texts: Sequence[str]) -> list[int]:
    """The texts that are one id each."""
    each = (tokenizer.encode(text) for text in texts)
    return [ids[0] for ids in each if len(ids) == 1]

"""Answers that cannot leave a grammar: schemas compiled, and which ids may be committed next. Knows no model and no request.

The grammar library says at every place which ids may follow. It is asked at the commit frontier only: what is drafted beyond it is held
against the grammar, and remasked from the first id that it refuses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import llguidance
import torch
from torch import Tensor

from engine.api import GrammarUnsupported
from engine.serving.closing import Closings
from engine.serving.digits import Digits
from engine.serving.requests import Grammar
from engine.serving.schemas import checked, inward
from engine.tokenizer import TextTokenizer

# A schema is text from anywhere. What the library spends on one is bounded by its own measures (fuel for regexes, items of a step,
# states), set well below its defaults: errors, not waiting, are what a wild schema gets.
_LONGEST = 256 * 1024
_LIMITS = llguidance.LLParserLimits(
    max_items_in_row=1_000,
    initial_lexer_fuel=1_000_000,
    step_lexer_fuel=100_000,
    step_max_items=20_000,
    max_lexer_states=50_000,
    max_grammar_size=200_000,
)
# Whitespace the grammar leaves open is none: nothing between tokens can go on for ever. The separators are those a model has read most.
_OPTIONS: llguidance._lib.JsonCompileOptions = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
# From so many ids on, and twice as many as the shortest answer has, before the room ends, a way to end in time is kept at hand. One id can
# open what takes long to close, such as another call; before that it cannot open so much. Finding a way takes some 50 µs an id of it.
_WATCH = 96


class Grammars:
    """Compiles grammars for one tokenizer."""

    def __init__(self, tokenizer: TextTokenizer, end_id: int) -> None:
        self._tokenizer = tokenizer
        self._end_id = end_id
        self._closings = Closings(tokenizer)
        self._library = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Vocabulary(tokenizer, end_id)), eos_token=end_id)

    def frontier(self, grammar: Grammar) -> Frontier:
        """The start of an answer. Raises `GrammarUnsupported` and names what is not supported."""
        if len(grammar.text.encode()) > _LONGEST:
            raise GrammarUnsupported(f"the grammar has {len(grammar.text.encode())} bytes; at most {_LONGEST} are taken")
        text = _schema(grammar.text) if grammar.kind == "schema" else llguidance.LLMatcher.grammar_from_lark(grammar.text)
        matcher = llguidance.LLMatcher(self._library, text, log_level=0, limits=_LIMITS)
        if not matcher.is_error():
            matcher.compute_bitmask()  # some limits are met in the first step only
        if matcher.is_error():
            raise GrammarUnsupported(_plain(matcher.get_error()))
        return Frontier(matcher, self._tokenizer, self._end_id, self._closings, Digits() if grammar.kind == "schema" else None)


class Frontier:
    """The place up to which an answer is committed."""

    def __init__(
        self, matcher: llguidance.LLMatcher, tokenizer: TextTokenizer, end_id: int, closings: Closings, digits: Digits | None = None
    ) -> None:
        """With `digits` numbers come to an end."""
        self._matcher, self._tokenizer, self._end_id, self._closings = matcher, tokenizer, end_id, closings
        self._digits = digits
        self._left = self._watched = 0
        self._way: list[int] | None = None  # ids that end the answer from here, where they are known

    def begun(self, ids: Sequence[int]) -> None:
        """The answer goes on after `ids`. Raises `GrammarUnsupported` where it could not have begun so."""
        if self._digits is not None:
            self._digits.see(self._tokenizer.to_bytes(ids))
        if ids and not self._matcher.consume_tokens(list(ids)):
            raise GrammarUnsupported("the answer is to go on after what its grammar refuses")

    def begin(self, most: int) -> None:
        """The answer may have `most` ids."""
        self._left = most
        self._way = self._closings.shortest(self._matcher, most)
        self._watched = _WATCH + 2 * len(self._way or ())

    @property
    def ended(self) -> bool:
        """Whether nothing but the end may follow."""
        return bool(self._matcher.is_stopped())

    def masked(self, logits: Tensor) -> Tensor:
        """Logits [vocab] with −∞ wherever an id may not follow."""
        allowed = torch.frombuffer(bytearray(self._matcher.compute_logit_bias()), dtype=torch.uint8).bool()
        if self._matcher.is_error():
            raise GrammarUnsupported(_plain(self._matcher.get_error()))
        return logits.masked_fill(~allowed[: len(logits)], -torch.inf)

    def take(self, index: int) -> int:
        """Commit `index`, or where an answer or a number would not end with it as they must, the next id of a way to end them."""
        if self._left <= self._watched and index != self._end_id:
            index, self._way = self._in_time(index)
        elif self._digits is not None and self._digits.enough and self._tokenizer.to_bytes([index]).isdigit():
            way = self._way or self._closings.shortest(self._matcher, self._left)
            index, self._way = (way[0], way[1:]) if way else (index, None)
        else:
            self._way = None
        if not self._matcher.consume_token(index) and index != self._end_id:  # a limit was met: what is chosen, it lets follow
            raise GrammarUnsupported(_plain(self._matcher.get_error()))
        if self._digits is not None:
            self._digits.see(self._tokenizer.to_bytes([index]))
        self._left -= 1
        return index

    def _in_time(self, index: int) -> tuple[int, list[int] | None]:
        """The id to commit, and the way that is left after it."""
        way = self._way if self._way is not None else self._closings.shortest(self._matcher, self._left)
        if way and way[0] == index:
            return index, way[1:]
        ahead = self._matcher.deep_copy()
        after = self._closings.shortest(ahead, self._left) if ahead.consume_token(index) else None
        if after is not None and len(after) < self._left:
            return index, after
        if way is None or len(way) > self._left:  # it is too late anyway
            return index, after
        return (way[0], way[1:]) if way else (self._end_id, [])

    def forced(self) -> list[int]:
        """Ids that must follow. They are committed."""
        ids = [] if self._matcher.is_stopped() else self._matcher.compute_ff_tokens()[: max(0, self._left)]
        for index in ids:
            self.take(index)
        return ids

    def held(self, draft: Sequence[int]) -> int:
        """How many ids of a draft the grammar lets through."""
        return 0 if self._matcher.is_stopped() else int(self._matcher.validate_tokens(list(draft)))

    def fits(self, ids: Sequence[int]) -> bool:
        """Whether `ids` are a whole answer. What is committed stays."""
        ahead = self._matcher.deep_copy()
        return bool(ahead.consume_tokens(list(ids))) and bool(ahead.is_accepting())

    def certain(self) -> list[int]:
        """A draft of the text that must follow: how it falls into ids is for the model to say."""
        return [] if self._matcher.is_stopped() else self._tokenizer.encode(self._matcher.compute_ff_bytes().decode(errors="ignore"))


class _Vocabulary:
    """What the library wants to know of a tokenizer."""

    bos_token_id = None

    def __init__(self, tokenizer: TextTokenizer, end_id: int) -> None:
        self.eos_token_id = end_id
        self.tokens = [tokenizer.to_bytes([index]) or f"<|{index}|>".encode() for index in range(len(tokenizer))]
        self.special_token_ids = list(tokenizer.special_ids)
        self._tokenizer = tokenizer

    def __call__(self, text: bytes | str) -> list[int]:
        return self._tokenizer.encode(text if isinstance(text, str) else text.decode())


def _schema(text: str) -> str:
    schema = inward(checked(text))
    if isinstance(schema, bool):
        schema = {} if schema else {"allOf": [{"type": "null"}, {"type": "object"}]}
    grammar: str = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=_OPTIONS)
    return grammar


def _plain(error: str) -> str:
    """The library's error as one line that names what is not supported."""
    keys = re.search(r"Unimplemented keys: (\[.*?\])", error)
    if keys:
        return f"unsupported keywords: {', '.join(json.loads(keys[1]))}"
    if error.startswith("oneOf"):
        return "unsupported keywords: oneOf, where one value may fit several of its branches; anyOf takes any"
    if error.startswith("NoExtensionBias"):
        return "the schema lets nothing through: it refers to itself alone"
    return " ".join(error.partition("<state>")[0].split())[:300]

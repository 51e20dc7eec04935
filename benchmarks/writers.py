"""Who writes into a hole, and how: our engine with verification, or causally token by token. Knows no hole and no figure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from engine.cache import CacheSlot, common
from engine.canvas import Rows
from engine.decode import decode, decode_causally, prefill
from engine.drafting import Limits
from engine.engine import LocalEngine
from engine.models.transformer import Transformer
from engine.tokenizer import TextTokenizer


class Goal:
    """When a text is finished: after so many lines, at the end of the middle, or after so many ids, which is not called finished."""

    def __init__(self, tokenizer: TextTokenizer, end_id: int, lines: int, most: int) -> None:
        self.lines, self.end_id, self.most = lines, end_id, most
        self._tokenizer = tokenizer
        self._breaks = [tokenizer.to_bytes([index]).count(b"\n") for index in range(len(tokenizer))]

    def reached(self, ids: Sequence[int]) -> bool:
        """Whether nothing is to be written after `ids`."""
        return ids[-1] == self.end_id or len(ids) == self.most or self.enough(ids)

    def enough(self, ids: Sequence[int]) -> bool:
        """Whether `ids` have as many line breaks as lines are asked for."""
        return sum(self._breaks[index] for index in ids) >= self.lines

    def finished(self, ids: Sequence[int]) -> bool:
        """Whether all the lines are there, the last one by its break or by the end."""
        ended = bool(ids) and ids[-1] == self.end_id and len(ids) > 1
        return sum(self._breaks[index] for index in ids) + ended >= self.lines

    def text(self, ids: Sequence[int]) -> str:
        """What was asked for of what was written."""
        return "\n".join(self._tokenizer.decode(ids).split("\n")[: self.lines])


class Written(NamedTuple):
    """What was written after a warm prompt. `layers` and `head` are seconds of all; the rest is choosing, drafting, bookkeeping."""

    ids: list[int]
    seconds: float
    forwards: int
    layers: float = 0.0
    head: float = 0.0


class Writer(Protocol):
    """Someone who decodes greedily."""

    name: str
    weight_bytes: int  # what one forward has to read

    def warm(self, prompt: Sequence[int]) -> None:
        """Have all of the prompt but its last id in the cache."""

    def write(self, prompt: Sequence[int], goal: Goal) -> Written:
        """Write on after the prompt."""


class Ours:
    """The engine's own decoding, without what it keeps of the last suggestion: that would be the text itself, the second time."""

    def __init__(self, name: str, engine: LocalEngine, *, verify: bool) -> None:
        self.name = name
        self._model = _Timed(engine.decoder.transformer)
        self._decoder = engine.decoder._replace(transformer=self._model)
        self._slot = CacheSlot(self._model.config, _room(engine), self._model.dtype)
        self._verify = verify
        self.weight_bytes = _weight_bytes(self._model)

    @torch.inference_mode()
    def warm(self, prompt: Sequence[int]) -> None:
        self._slot.truncate(common(self._slot.ids, prompt[:-1]))
        prefill(self._decoder, self._slot, prompt[:-1], lambda: None)

    @torch.inference_mode()
    def write(self, prompt: Sequence[int], goal: Goal) -> Written:
        limits = Limits(tokens=goal.most, line_ends=lambda index: False, text_ends=goal.enough, verify=True)
        self._model.layers_s = self._model.head_s = 0.0
        started = time.perf_counter()
        self._slot.truncate(common(self._slot.ids, prompt[:-1]))
        if self._verify:
            decoded = decode(self._decoder, self._slot, prompt, limits, lambda: None)
        else:
            decoded = decode_causally(self._decoder, self._slot, prompt, limits)
        seconds = time.perf_counter() - started
        return Written(decoded.ids, seconds, decoded.forwards, self._model.layers_s, self._model.head_s)


class _Timed:
    """A model that counts the seconds of its layers and of its head."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self.config, self.dtype, self.paged, self.embedding = model.config, model.dtype, model.paged, model.embedding
        self.layers_s = self.head_s = 0.0

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor:
        started = time.perf_counter()
        hidden = self._model.forward(rows, slot)
        self.layers_s += time.perf_counter() - started
        return hidden

    def forward_many(self, batch: Sequence[tuple[Rows, CacheSlot]]) -> list[Tensor]:
        return [self.forward(*one) for one in batch]

    def head(self, hidden: Tensor) -> Tensor:
        started = time.perf_counter()
        logits = self._model.head(hidden)
        self.head_s += time.perf_counter() - started
        return logits


def _room(engine: LocalEngine) -> int:
    """Of a slot: a prompt with related text, and what may be written after it."""
    return 2 * engine.layout.context


def _weight_bytes(model: _Timed) -> int:
    """What every forward reads: all maps, and the embedding as the head. One byte a weight where the graph computes."""
    c = model.config
    query, key = c.heads * c.head_dim, c.kv_heads * c.head_dim
    layer = c.width * (query + 2 * key) + query * c.width + 3 * c.width * c.mlp
    return (c.layers * layer + c.vocab * c.width) * (1 if model.paged else model.embedding.element_size())

"""The library's paged attention: its node in the graph, and what a request must say of rows and cache. Knows no weights.

    page    0            1                     the slot's memory, in pages of so many positions; the node writes the new rows' keys and
    held    p0 p1 p2 p3  p4 x5 x6 x7           values behind the mark by itself

The node reads causally. Rows that see later ones are declared to be of one image, whose rows all see each other; a mask says the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows
from engine.config import DenseConfig
from engine.models.graph_parts import Node, shared, variable
from engine.models.runtime import openvino, ops

# The library declares this operation experimental, so the version we ask for is pinned to those it was tested with.
_paged_attention = openvino._pyopenvino.op._PagedAttentionExtension

# Rows are attended for in chunks of so many, and a row sees no later one beyond its chunk's end (OpenVINO 2026.4).
CHUNK = 32


class Laid(NamedTuple):
    """Rows as the node takes them: filling is put in where a block would lie in two chunks, and beside a row that is alone."""

    order: Tensor  # [n], which of the rows stands where; filling is the first row over again
    back: Tensor  # [laid], where each row stands
    seen: Tensor  # [n, n] bool
    ahead: Tensor  # [n] bool, rows that see later ones, and those in between


def lay(rows: Rows) -> Laid:
    """`rows` so that none sees a later one in another chunk, and never one alone: that goes another way, and its sums round differently."""
    places, ahead = _places(_furthest(rows))
    last = places[-1] + 1
    size = max(2, len(rows.ids) if last == rows.laid else -(-last // CHUNK) * CHUNK)  # few sizes, as in the canvas
    back = torch.tensor(places)
    order = torch.zeros(size, dtype=torch.int64).index_copy(0, back, torch.arange(rows.laid))
    seen = torch.zeros(size, size, dtype=torch.bool)
    seen[back[:, None], back] = rows.seen[: rows.laid, : rows.laid]
    seen[torch.ones(size, dtype=torch.bool).index_fill(0, back, False), 0] = True  # filling must not see nothing
    return Laid(order, back, seen, torch.zeros(size, dtype=torch.bool).index_fill(0, torch.tensor(ahead, dtype=torch.int64), True))


def _furthest(rows: Rows) -> list[int]:
    """The last row that each one sees, itself at least."""
    own = torch.arange(rows.laid)
    return (rows.seen[: rows.laid, : rows.laid] * own).amax(dim=1).maximum(own).tolist()


def _places(furthest: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where each row stands, and where those that see later rows or lie among what such a row sees."""
    places: list[int] = []
    ahead: list[int] = []
    while len(places) < len(furthest):
        first = row = end = len(places)
        while row <= end:
            end = max(end, furthest[row])
            row += 1
        start = places[-1] + 1 if places else 0
        length = row - first
        assert length <= CHUNK, "a block longer than a chunk"
        # Two that touch would be one image, which must not go on beyond a chunk.
        while start // CHUNK != (start + length - 1) // CHUNK or (length > 1 and start % CHUNK == 0 and start - 1 in ahead):
            start += 1
        places += range(start, start + length)
        ahead += range(start, start + length) if length > 1 else ()
    return places, ahead


class PagedAttention:
    """The inputs that all layers' nodes share, and their caches."""

    def __init__(self, config: DenseConfig) -> None:
        self._config = config
        whole_numbers = ("past_lens", "subsequence_begins", "block_indices", "block_indices_begins", "token_type_ids", "qq_bias_begins")
        self._shared = {name: variable(name, [-1], np.int32) for name in whole_numbers}
        self._shared["max_context_len"] = variable("max_context_len", [], np.int32)
        self._shared["qq_bias"] = variable("qq_bias", [-1], np.uint8)
        self._caches: list[Node] = []
        self._bound: dict[int, Tensor] = {}  # by request, the memory that it holds

    @property
    def inputs(self) -> list[Node]:
        return [*self._shared.values(), *self._caches]

    def node(self, q: Node, k: Node, v: Node) -> Node:
        """The next layer's attention, [rows, heads · head_dim]. q [rows, heads · head_dim], k and v [rows, kv_heads · head_dim]."""
        index = len(self._caches) // 2
        caches = [variable(f"{kind}.{index}", [-1] * 4, openvino.Type.dynamic) for kind in ("keys", "values")]
        self._caches += caches
        node = _paged_attention([each.output(0) if hasattr(each, "output") else each for each in self._arguments(q, k, v, *caches)])
        for name in ("k", "v"):
            node.get_rt_info()[f"num_{name}_heads"] = self._config.kv_heads
            node.get_rt_info()[f"{name}_head_size"] = self._config.head_dim
        return node.output(0)

    def _arguments(self, q: Node, k: Node, v: Node, keys: Node, values: Node) -> list[Node]:
        """In the library's order. Empty ones switch off what we have no use for."""
        given = self._shared
        none, nothing, zero = ops.constant(np.zeros(0, np.int32)), ops.constant(np.zeros(0, np.float32)), ops.constant(np.int32(0))
        window, slopes, scores = zero, nothing, none
        rotation = [none, ops.constant(np.zeros((0, 1), np.int32)), ops.constant(np.zeros((0, self._config.head_dim), np.float32))]
        sparse = [nothing, ops.constant(np.int32(128)), ops.constant(np.int32(16))]
        sinks = ops.constant(np.zeros((0, 0, 0, 0), np.float32))
        eviction = [zero, none, none, none]
        return [
            *(q, k, v, keys, values),
            *(given["past_lens"], given["subsequence_begins"], given["block_indices"], given["block_indices_begins"]),
            *(ops.constant(np.float32(self._config.head_dim**-0.5)), window, slopes, given["max_context_len"], scores),
            *(*rotation, *sparse, sinks, *eviction),
            *(given["token_type_ids"], given["qq_bias"], given["qq_bias_begins"]),
        ]

    def feed(self, request: openvino.InferRequest, batch: Sequence[tuple[Laid, CacheSlot]]) -> None:
        """Give `request` the places of several slots' rows, one slot's after the other's, and their memory where it held another.

        Slots that are read together lie in one memory.
        """
        page = request.get_compiled_model().input("keys.0").get_partial_shape()[2].get_length()
        counts = [len(laid.order) for laid, _ in batch]
        lengths = [len(slot.ids) + count for (_, slot), count in zip(batch, counts, strict=True)]
        memories = [slot.pages(page, spare=CHUNK) for _, slot in batch]
        assert all(memory[0] is memories[0][0] for memory in memories)
        pages = [-(-length // page) for length in lengths]
        tables = [slot.table(count) for (_, slot), count in zip(batch, pages, strict=True)]
        given = {
            "past_lens": np.array([len(slot.ids) for _, slot in batch], np.int32),
            "subsequence_begins": _begins(counts),
            "block_indices": np.concatenate([np.array(table, np.int32) for table in tables]),
            "block_indices_begins": _begins(pages),
            "max_context_len": np.array(max(lengths), np.int32),
            "token_type_ids": torch.cat([laid.ahead for laid, _ in batch]).int().numpy(),
            "qq_bias": torch.cat([laid.seen.view(torch.uint8).flatten() for laid, _ in batch]).numpy(),
            "qq_bias_begins": _begins([count * count for count in counts]),
        }
        for name, value in given.items():
            request.set_tensor(name, openvino.Tensor(value))
        if memories[0][0] is not self._bound.get(id(request)):
            self._bind(request, memories[0])

    def _bind(self, request: openvino.InferRequest, memory: tuple[Tensor, Tensor]) -> None:
        for kind, held in zip(("keys", "values"), memory, strict=True):
            for layer in range(self._config.layers):
                request.set_tensor(f"{kind}.{layer}", shared(held[layer]))
        self._bound[id(request)] = memory[0]


def _begins(sizes: Sequence[int]) -> np.ndarray:
    """Where each of several runs begins, and where the last one ends."""
    return np.cumsum([0, *sizes], dtype=np.int32)

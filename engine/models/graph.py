"""The dense transformer as an int8 graph that OpenVINO compiles for this CPU: the fast path where it pays. Knows no schedule, no file.

The interface is that of `engine.models.dense`, which is its definition. Weights are int8 with a scale for every output; activations are
rounded to int8 by groups within a row, so that a row's result does not depend, to the last bit, on the rows beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from engine.cache import CacheSlot
from engine.canvas import Rows, clean_and_blocks
from engine.config import SPARE, DenseConfig
from engine.models.dense import LayerWeights
from engine.models.graph_attention import Laid, PagedAttention, lay
from engine.models.graph_parts import Node, held, norm, parts, product, rotated, shared, variable, whole
from engine.models.rounding import Int8, RoundedLayer
from engine.models.runtime import openvino, ops
from kernels.rotary import rotary_table

# A batch of fewer rows is not parted: what is done once a forward would be done twice.
_LEAST_PARTED = 24
# So many activations share a scale, the first that divides all maps' inputs, and in the head's. See the README beside this folder.
_GROUPS = (96, 64, 32, 16)
_HEAD_GROUP = 32


class GraphTransformer:
    """A model's weights and its forward pass over new rows against a cache slot."""

    paged = True

    def __init__(self, config: DenseConfig, embedding: Tensor, final_norm: Tensor, head: Tensor | Int8, streams: int = 1) -> None:
        """Tensors as `DenseTransformer` takes them; the embedding's dtype is the cache's and attention's too.

        With a head and layers that are not rounded it is the bare graph, for comparison. Rounded maps are read where they lie, as long
        as the model lives. Runs on as many threads as torch does at this moment, and on as many again for each further stream: the rows
        of several slots are shared out among streams that compute side by side.
        """
        self._streams = streams
        self.config = config
        self.dtype = embedding.dtype
        self.embedding = embedding
        self._rounded = isinstance(head, Int8)
        self._read: list[object] = [head]  # what the graph reads where it lies
        self._final_norm = final_norm
        self._cos, self._sin = (table[:, None] for table in rotary_table(config.max_positions + SPARE, config.head_dim, config.rope_theta))
        self._attention = PagedAttention(config)
        half = config.head_dim // 2
        self._inputs = [variable("x", [-1, config.width]), variable("cos", [-1, 1, half]), variable("sin", [-1, 1, half])]
        self._x: Node = self._inputs[0]
        self._layers = 0
        self._requests: list[openvino.InferRequest] = []
        rows = variable("rows", [-1, config.width])
        [self._head] = self._compiled(product(rows, held(head)), [rows], (_HEAD_GROUP,), 1)

    def add_layer(self, weights: LayerWeights | RoundedLayer) -> None:
        """Append a layer; the last one completes the model."""
        self._read.append(weights)
        eps = self.config.norm_eps
        mixed = self._attention.node(*self._qkv(norm(self._x, weights.attention_norm, eps), weights))
        x = ops.add(self._x, product(mixed, held(weights.o)))
        self._x = ops.add(x, self._swiglu(norm(x, weights.mlp_norm, eps), weights))
        self._layers += 1
        if self._layers == self.config.layers:
            inputs = [*self._inputs, *self._attention.inputs]
            self._requests = self._compiled(norm(self._x, self._final_norm, eps), inputs, _GROUPS, self._streams)
            self._x = None  # the compiled model holds the weights
            # The library packs them in the first run.
            self.head(self.forward(clean_and_blocks([0] * 8, 0), CacheSlot(self.config, 8, self.dtype)))

    def _qkv(self, x: Node, weights: LayerWeights | RoundedLayer) -> tuple[Node, Node, Node]:
        c = self.config
        merged = product(x, held(weights.qkv), weights.qkv_bias)
        qk, v = parts(ops.reshape(merged, whole(0, c.heads + 2 * c.kv_heads, c.head_dim), True), 1, c.heads + c.kv_heads, c.kv_heads)
        if weights.q_norm is not None and weights.k_norm is not None:
            q, k = parts(qk, 1, c.heads, c.kv_heads)
            qk = ops.concat([norm(q, weights.q_norm, c.norm_eps), norm(k, weights.k_norm, c.norm_eps)], 1)
        q, k = parts(rotated(qk, self._inputs[1], self._inputs[2], c.head_dim // 2), 1, c.heads, c.kv_heads)
        return _flat(q, c.heads * c.head_dim), _flat(k, c.kv_heads * c.head_dim), _flat(v, c.kv_heads * c.head_dim)

    def _swiglu(self, x: Node, weights: LayerWeights | RoundedLayer) -> Node:
        gate, up = parts(product(x, held(weights.gate_up)), -1, self.config.mlp, self.config.mlp)
        return product(ops.multiply(ops.swish(gate), up), held(weights.down))

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor:
        """As `DenseTransformer.forward`, in float32."""
        return self.forward_many([(rows, slot)])[0]

    def forward_many(self, batch: Sequence[tuple[Rows, CacheSlot]]) -> list[Tensor]:
        """As `DenseTransformer.forward_many`; the slots are of one pool where there are several."""
        assert self._requests and all(len(slot.ids) + len(rows.ids) <= slot.capacity for rows, slot in batch)
        shares = _parted([len(rows.ids) for rows, _ in batch], self._streams)
        if len(shares) == 1:  # on this thread: handing it over takes time
            laid, _ = self._given(self._requests[0], batch)
            self._requests[0].infer()
            return self._taken(self._requests[0], laid)
        pairs = zip(self._requests, shares, strict=False)
        asked = [(request, part, self._given(request, [batch[place] for place in part])) for request, part in pairs]
        for request, _, _ in asked:
            request.start_async()
        results: list[Tensor] = [torch.empty(0)] * len(batch)
        for request, part, (laid, _) in asked:
            request.wait()
            for place, hidden in zip(part, self._taken(request, laid), strict=True):
                results[place] = hidden
        return results

    def _taken(self, request: openvino.InferRequest, laid: Sequence[Laid]) -> list[Tensor]:
        """Hidden states by slot: copies, since the next forward writes there again."""
        each = torch.from_numpy(request.get_output_tensor().data).split([len(way.order) for way in laid])
        return [hidden[way.back] for hidden, way in zip(each, laid, strict=True)]

    def _given(self, request: openvino.InferRequest, batch: Sequence[tuple[Rows, CacheSlot]]) -> tuple[list[Laid], object]:
        """Hand a request its rows; how they are laid, and what must live until they are computed."""
        laid = [lay(rows) for rows, _ in batch]
        ids = torch.cat([rows.ids[way.order] for way, (rows, _) in zip(laid, batch, strict=True)])
        positions = torch.cat([rows.positions[way.order] for way, (rows, _) in zip(laid, batch, strict=True)])
        given = {"x": self.embedding[ids].float(), "cos": self._cos[positions], "sin": self._sin[positions]}
        for name, value in given.items():
            request.set_tensor(name, shared(value))
        self._attention.feed(request, [(way, slot) for way, (_, slot) in zip(laid, batch, strict=True)])
        return laid, given

    def head(self, hidden: Tensor) -> Tensor:
        """Logits, float32 [rows, vocab], of hidden states [rows, width]."""
        hidden, logits = hidden.contiguous(), torch.empty(len(hidden), self.config.vocab)
        self._head.set_input_tensor(shared(hidden))
        self._head.set_output_tensor(shared(logits))
        self._head.infer()
        return logits

    def _compiled(self, result: Node, inputs: list[Node], groups: Sequence[int], streams: int) -> list[openvino.InferRequest]:
        kind = "bf16" if self.dtype == torch.bfloat16 else "f32"
        settings: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": kind,
            "KV_CACHE_PRECISION": kind,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": self._group(groups) if self._rounded else 0,
            "INFERENCE_NUM_THREADS": torch.get_num_threads() * streams,
            "NUM_STREAMS": streams,
            "ENABLE_CPU_PINNING": False,  # other programs have their cores too
        }
        compiled = openvino.Core().compile_model(openvino.Model([result], inputs), "CPU", settings)
        return [compiled.create_infer_request() for _ in range(streams)]

    def _group(self, groups: Sequence[int]) -> int:
        """How many activations share a scale; 0 leaves them as they are."""
        c = self.config
        return next((size for size in groups if not any(width % size for width in (c.width, c.heads * c.head_dim, c.mlp))), 0)


def _parted(sizes: Sequence[int], streams: int) -> list[list[int]]:
    """Which of so many rows go to which stream, so that all have about as many to do."""
    if streams == 1 or len(sizes) == 1 or sum(sizes) < _LEAST_PARTED:
        return [list(range(len(sizes)))]
    parted: list[list[int]] = [[] for _ in range(min(streams, len(sizes)))]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        min(parted, key=lambda part: sum(sizes[other] for other in part)).append(place)
    return [sorted(part) for part in parted]


def _flat(x: Node, width: int) -> Node:
    return ops.reshape(x, whole(-1, width), False)

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
from engine.models.graph_attention import PagedAttention, lay
from engine.models.graph_parts import Node, held, norm, parts, product, rotated, shared, variable, whole
from engine.models.rounding import Int8, RoundedLayer
from engine.models.runtime import openvino, ops
from kernels.rotary import rotary_table

# So many activations share a scale, the first that divides all maps' inputs, and in the head's. See the README beside this folder.
_GROUPS = (96, 64, 32, 16)
_HEAD_GROUP = 32


class GraphTransformer:
    """A model's weights and its forward pass over new rows against a cache slot."""

    paged = True

    def __init__(self, config: DenseConfig, embedding: Tensor, final_norm: Tensor, head: Tensor | Int8) -> None:
        """Tensors as `DenseTransformer` takes them; the embedding's dtype is the cache's and attention's too.

        With a head and layers that are not rounded it is the bare graph, for comparison. Rounded maps are read where they lie, as long
        as the model lives. Runs on as many threads as torch does at this moment.
        """
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
        self._request: openvino.InferRequest | None = None
        rows = variable("rows", [-1, config.width])
        self._head = self._compiled(product(rows, held(head)), [rows], (_HEAD_GROUP,))

    def add_layer(self, weights: LayerWeights | RoundedLayer) -> None:
        """Append a layer; the last one completes the model."""
        self._read.append(weights)
        eps = self.config.norm_eps
        mixed = self._attention.node(*self._qkv(norm(self._x, weights.attention_norm, eps), weights))
        x = ops.add(self._x, product(mixed, held(weights.o)))
        self._x = ops.add(x, self._swiglu(norm(x, weights.mlp_norm, eps), weights))
        self._layers += 1
        if self._layers == self.config.layers:
            self._request = self._compiled(norm(self._x, self._final_norm, eps), [*self._inputs, *self._attention.inputs], _GROUPS)
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
        assert self._request is not None and all(len(slot.ids) + len(rows.ids) <= slot.capacity for rows, slot in batch)
        laid = [lay(rows) for rows, _ in batch]
        ids = torch.cat([rows.ids[way.order] for way, (rows, _) in zip(laid, batch, strict=True)])
        positions = torch.cat([rows.positions[way.order] for way, (rows, _) in zip(laid, batch, strict=True)])
        given = {"x": self.embedding[ids].float(), "cos": self._cos[positions], "sin": self._sin[positions]}
        for name, value in given.items():  # which must live until the graph has run
            self._request.set_tensor(name, shared(value))
        self._attention.feed(self._request, [(way, slot) for way, (_, slot) in zip(laid, batch, strict=True)])
        self._request.infer()
        # Copies: the next forward writes there again.
        each = torch.from_numpy(self._request.get_output_tensor().data).split([len(way.order) for way in laid])
        return [hidden[way.back] for hidden, way in zip(each, laid, strict=True)]

    def head(self, hidden: Tensor) -> Tensor:
        """Logits, float32 [rows, vocab], of hidden states [rows, width]."""
        hidden, logits = hidden.contiguous(), torch.empty(len(hidden), self.config.vocab)
        self._head.set_input_tensor(shared(hidden))
        self._head.set_output_tensor(shared(logits))
        self._head.infer()
        return logits

    def _compiled(self, result: Node, inputs: list[Node], groups: Sequence[int]) -> openvino.InferRequest:
        kind = "bf16" if self.dtype == torch.bfloat16 else "f32"
        settings: dict[str, Any] = {
            "INFERENCE_PRECISION_HINT": kind,
            "KV_CACHE_PRECISION": kind,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": self._group(groups) if self._rounded else 0,
            "INFERENCE_NUM_THREADS": torch.get_num_threads(),
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,  # other programs have their cores too
        }
        return openvino.Core().compile_model(openvino.Model([result], inputs), "CPU", settings).create_infer_request()

    def _group(self, groups: Sequence[int]) -> int:
        """How many activations share a scale; 0 leaves them as they are."""
        c = self.config
        return next((size for size in groups if not any(width % size for width in (c.width, c.heads * c.head_dim, c.mlp))), 0)


def _flat(x: Node, width: int) -> Node:
    return ops.reshape(x, whole(-1, width), False)

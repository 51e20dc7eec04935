"""The dense transformer of the Llama and Qwen families, one forward for drafting, verification and prefill. Knows no schedule, no file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from engine.cache import CacheSlot
from engine.canvas import Rows
from engine.config import SPARE, DenseConfig
from kernels.attention import block_attention
from kernels.linear import pack
from kernels.rotary import rotary_table, rotate

Map = Callable[[Tensor], Tensor]


class LayerWeights(NamedTuple):
    """One layer's tensors, [out, in]; query, key and value rows stacked, gate and up rows stacked."""

    attention_norm: Tensor
    qkv: Tensor
    o: Tensor
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor
    qkv_bias: Tensor | None = None
    q_norm: Tensor | None = None
    k_norm: Tensor | None = None


class _Layer(NamedTuple):
    attention_norm: Tensor
    qkv: Map
    qkv_bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: Map
    mlp_norm: Tensor
    gate_up: Map
    down: Map


class DenseTransformer:
    """A model's weights and its forward pass over new rows against a cache slot."""

    paged = False

    def __init__(self, config: DenseConfig, embedding: Tensor, final_norm: Tensor, head: Tensor | None = None) -> None:
        """embedding [vocab, width], final_norm [width]; `head` None ties it to the embedding. Layers are added by `add_layer`."""
        self.config = config
        self.dtype = embedding.dtype
        self.embedding = embedding
        self._final_norm = final_norm
        self.head: Map = pack(embedding if head is None else head)
        self._layers: list[_Layer] = []
        self._cos, self._sin = rotary_table(config.max_positions + SPARE, config.head_dim, config.rope_theta)

    def add_layer(self, weights: LayerWeights) -> None:
        """Append a layer. One at a time, so that loading never holds a second copy of the model."""
        self._layers.append(
            _Layer(
                weights.attention_norm,
                pack(weights.qkv),
                weights.qkv_bias,
                weights.q_norm,
                weights.k_norm,
                pack(weights.o),
                weights.mlp_norm,
                pack(weights.gate_up),
                pack(weights.down),
            )
        )

    def forward(self, rows: Rows, slot: CacheSlot) -> Tensor:
        """Hidden states of `rows`, after the final norm and without the filling: [laid, width].

        The rows see everything committed in the slot, and of each other what `rows.seen` says. Their keys and values are written behind
        the slot's mark, in their order; which of them stay is for the caller to say (`CacheSlot.commit`).
        """
        return self.forward_many([(rows, slot)])[0]

    def forward_many(self, batch: Sequence[tuple[Rows, CacheSlot]]) -> list[Tensor]:
        """`forward` of several rows, each against a slot of its own: the products are shared, and what comes out is the same."""
        assert len(self._layers) == self.config.layers
        assert all(len(slot.ids) + len(rows.ids) <= slot.capacity for rows, slot in batch)
        positions = torch.cat([rows.positions for rows, _ in batch])
        x = self.embedding[torch.cat([rows.ids for rows, _ in batch])]  # [all rows, width]
        cos, sin = self._cos[positions], self._sin[positions]
        for index, layer in enumerate(self._layers):
            x = x + self._attention(layer, index, self._norm(x, layer.attention_norm), batch, cos, sin)
            x = x + _swiglu(layer, self._norm(x, layer.mlp_norm))
        each = self._norm(x, self._final_norm).split([len(rows.ids) for rows, _ in batch])
        return [hidden[: rows.laid] for hidden, (rows, _) in zip(each, batch, strict=True)]

    def _attention(self, layer: _Layer, index: int, x: Tensor, batch: Sequence[tuple[Rows, CacheSlot]], cos: Tensor, sin: Tensor) -> Tensor:
        c = self.config
        qkv = layer.qkv(x)  # [rows, (heads + 2 · kv_heads) · head_dim]
        if layer.qkv_bias is not None:
            qkv = qkv + layer.qkv_bias
        heads = qkv.view(len(x), c.heads + 2 * c.kv_heads, c.head_dim)
        qk, v = heads.split((c.heads + c.kv_heads, c.kv_heads), dim=1)
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = qk.split((c.heads, c.kv_heads), dim=1)
            qk = torch.cat((self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)), dim=1)
        q, k = rotate(qk, cos, sin).split((c.heads, c.kv_heads), dim=1)
        mixed, start = [], 0
        for rows, slot in batch:
            own = slice(start, start := start + len(rows.ids))
            keys, values = slot.write(index, k[own], v[own])  # [kv_heads, at least committed + rows, head_dim]
            mixed.append(block_attention(q[own], keys, values, rows.seen, cached=len(slot.ids)))
        return layer.o(torch.cat(mixed) if len(mixed) > 1 else mixed[0])

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self.config.norm_eps)


def _swiglu(layer: _Layer, x: Tensor) -> Tensor:
    gate, up = layer.gate_up(x).chunk(2, dim=-1)
    return layer.down(functional.silu(gate) * up)

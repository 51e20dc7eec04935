"""The loss: causal on the clean stream, masked on the noisy one, with the clean stream as the noisy one's teacher.

Imports torch only, so that a machine without the rest can train. Knows no text, no optimiser and no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.training.attention import dense_attention, row_attention, row_mask
from engine.training.base import Base, Shape
from engine.training.blocks import Batch
from engine.training.chain import chained
from engine.training.elementwise import Elementwise
from engine.training.loss import LossPlan, TextLoss


@dataclass(frozen=True, kw_only=True)
class ObjectiveRules:
    """How the losses are mixed."""

    distil: float = 0.5  # share of the soft target (the clean stream's distribution) in the noisy slots' target
    block_weight: float = 1.0
    compiled: bool = True
    chunk: int = 256  # slots whose logits are held at once
    dense: bool = False  # attention with a dense mask over rows of one size, instead of row by row


@dataclass(frozen=True, kw_only=True)
class Losses:
    """What one batch gave. Per-slot tensors are kept for the tables; the averages are weighted as in the loss."""

    total: Tensor  # differentiable
    clean: Tensor  # [C] cross-entropy
    clean_right: Tensor  # [C] bool
    noisy: Tensor  # [M] cross-entropy against the text
    noisy_right: Tensor  # [M] bool
    noisy_agrees: Tensor  # [M] bool: the same best id as the clean stream


class Objective:
    """A base and rules, ready to be called with an adapter and a batch."""

    def __init__(self, base: Base, rules: ObjectiveRules | None = None) -> None:
        self.base, self.rules = base, rules or ObjectiveRules()
        self._parts = Elementwise(compiled=self.rules.compiled)
        # ids 1..specials-1 are never text: the head has the end id's row, then the text's.
        self._head = base.embedding[base.shape.specials - 1 :].clone()

    def __call__(self, adapter: Mapping[str, Tensor], batch: Batch) -> Losses:
        """`adapter` in the base's dtype, leaves that ask for gradients (or not, for an evaluation)."""
        return self.losses(adapter, batch, self.hidden(adapter, batch))

    def losses(self, adapter: Mapping[str, Tensor], batch: Batch, hidden: Tensor) -> Losses:
        """The losses of states that `hidden` gave."""
        end_row = adapter["special"][:1]
        plan = LossPlan(
            head=self._head,
            specials=self.base.shape.specials,
            batch=batch,
            parts=self._parts,
            distil=self.rules.distil,
            block_weight=self.rules.block_weight,
            chunk=self.rules.chunk,
        )
        total, *rows = TextLoss.apply(hidden[batch.clean_at], self.noisy_states(adapter, batch, hidden), end_row, plan)
        return Losses(total=total, clean=rows[0], clean_right=rows[1], noisy=rows[2], noisy_right=rows[3], noisy_agrees=rows[4])

    def noisy_states(self, adapter: Mapping[str, Tensor], batch: Batch, hidden: Tensor) -> Tensor:
        """The states that the noisy slots predict from, [M, width]: where the batch says so, those of the chain head."""
        states = hidden[batch.noisy_at]
        if "chain.in" not in adapter:  # the first adapter has none
            return states
        return torch.where(batch.noisy_chained[:, None], self.chained(adapter, states, batch.noisy_previous), states)

    def chained(self, adapter: Mapping[str, Tensor], states: Tensor, previous: Tensor) -> Tensor:
        """States [rows, width] that know the ids chosen before them."""
        rows = _embed(self.base.embedding, adapter["special"], previous)
        return chained(states, rows, adapter["chain.in"], adapter["chain.out"])

    def head(self, adapter: Mapping[str, Tensor]) -> Tensor:
        """The rows that states are compared with: the end id's, then the text's."""
        return torch.cat([adapter["special"][:1], self._head[1:]])

    def head_ids(self, index: Tensor) -> Tensor:
        """The ids of the head's rows."""
        return torch.where(index == 0, 0, index + self.base.shape.specials - 1)

    def hidden(self, adapter: Mapping[str, Tensor], batch: Batch) -> Tensor:
        """The last layer's normalised states of every slot, [T, width]."""
        base, shape, parts = self.base, self.base.shape, self._parts
        cos, sin = _rotary_table(shape, batch.positions, base.norm.dtype)
        mask = row_mask(batch) if self.rules.dense else None
        x = _embed(base.embedding, adapter["special"], batch.ids)
        step = torch.zeros_like(x, dtype=base.norm.dtype)
        for number, layer in enumerate(base.layers):
            maps = _AdaptedMaps(adapter, f"layers.{number}", layer.maps)
            x, normed = parts.add_norm(x, step, layer.attn_norm, shape.norm_eps)
            q, k, v = parts.rotary(maps("qkv", normed), cos, sin, shape.heads, shape.kv_heads)
            mixed = row_attention(q, k, v, batch) if mask is None else dense_attention(q, k, v, mask)
            x, normed = parts.add_norm(x, maps("o", mixed), layer.mlp_norm, shape.norm_eps)
            step = maps("dn", parts.swiglu(maps("gu", normed)))
        return parts.add_norm(x, step, base.norm, shape.norm_eps)[1]


class _AdaptedMaps:
    """A layer's linear maps with the adapter's products added to the weights."""

    def __init__(self, adapter: Mapping[str, Tensor], prefix: str, maps: Mapping[str, Tensor]) -> None:
        self._adapter, self._prefix, self._maps = adapter, prefix, maps

    def __call__(self, name: str, x: Tensor) -> Tensor:
        a, b = (self._adapter[f"{self._prefix}.{name}.{side}"] for side in "AB")
        y: Tensor = _AdaptedLinear.apply(x, self._maps[name], a, b)
        return y


class _AdaptedLinear(torch.autograd.Function):
    """x (W + B A)ᵀ. The sum is formed once a step, as in serving: with 64 rows of rank, forming it costs 1 ms a layer, and the products
    it spares in both directions 10 ms (3,072 slots, bf16, one Zen 5 core). The weight's own gradient is never formed."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, a: Tensor, b: Tensor) -> Tensor:  # autograd's own
        merged = torch.addmm(weight, b, a)
        ctx.save_for_backward(x, merged, a, b)
        return F.linear(x, merged)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, Tensor, Tensor]:
        x, merged, a, b = ctx.saved_tensors
        grad = grads[0]
        return grad @ merged, None, (grad @ b).t() @ x, (F.linear(x, a).t() @ grad).t()


def _embed(embedding: Tensor, special: Tensor, ids: Tensor) -> Tensor:
    """Float32 rows of the embedding, the special ones from the adapter."""
    last = special.shape[0] - 1
    return torch.where((ids <= last)[:, None], F.embedding(ids.clamp(max=last), special), F.embedding(ids, embedding)).float()


def _rotary_table(shape: Shape, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    half = torch.arange(0, shape.head_dim, 2, dtype=torch.float32, device=positions.device) / shape.head_dim
    angle = positions[:, None].float() * shape.rope_theta**-half  # [T, d/2]
    return angle.cos()[:, None], angle.sin()[:, None]

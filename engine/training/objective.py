"""The loss: causal on the clean stream, masked on the noisy one, with the clean stream as the noisy one's teacher.

Imports torch only, so that a machine without the rest can train. Knows no text, no optimiser and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.training.attention import dense_attention, row_attention, row_mask
from engine.training.base import Base, Shape
from engine.training.blocks import Batch


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
        self._parts = _Parts(compiled=self.rules.compiled)
        # ids 1..specials-1 are never text: the head has the end id's row, then the text's.
        self._head = base.embedding[base.shape.specials - 1 :].clone()

    def __call__(self, adapter: Mapping[str, Tensor], batch: Batch) -> Losses:
        """`adapter` in the base's dtype, leaves that ask for gradients (or not, for an evaluation)."""
        hidden = self.hidden(adapter, batch)
        end_row = adapter["special"][:1]
        plan = _LossPlan(
            head=self._head,
            specials=self.base.shape.specials,
            batch=batch,
            parts=self._parts,
            distil=self.rules.distil,
            block_weight=self.rules.block_weight,
            chunk=self.rules.chunk,
        )
        total, *rows = _TextLoss.apply(hidden[batch.clean_at], hidden[batch.noisy_at], end_row, plan)
        return Losses(total=total, clean=rows[0], clean_right=rows[1], noisy=rows[2], noisy_right=rows[3], noisy_agrees=rows[4])

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


class _Parts:
    """The element-wise parts between the matrix products, compiled or not."""

    def __init__(self, compiled: bool) -> None:
        def maybe(function: Callable[..., Any]) -> Callable[..., Any]:
            return torch.compile(function) if compiled else function

        self.add_norm, self.rotary = maybe(_add_norm), maybe(_rotary)
        self.swiglu_forward, self.swiglu_backward = maybe(_swiglu), maybe(_swiglu_backward)
        self.clean_rows, self.noisy_rows = maybe(_clean_rows), maybe(_noisy_rows)

    def swiglu(self, gate_up: Tensor) -> Tensor:
        y: Tensor = _SwiGLU.apply(gate_up, self)
        return y


def _add_norm(x: Tensor, step: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    x = x + step.float()
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight.float()
    return x, normed.to(weight.dtype)


def _rotary(qkv: Tensor, cos: Tensor, sin: Tensor, heads: int, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (scaled by the root of their size), keys and values, [T, heads, d] each."""
    parts = qkv.unflatten(-1, (heads + 2 * kv_heads, -1))
    q, k, v = parts.split([heads, kv_heads, kv_heads], dim=1)
    q = _turn(q.float(), cos, sin) * q.shape[-1] ** -0.5
    return q.to(qkv.dtype), _turn(k.float(), cos, sin).to(qkv.dtype), v.contiguous()


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def _swiglu(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.float().chunk(2, dim=-1)
    return (F.silu(gate) * up).to(gate_up.dtype)


def _swiglu_backward(gate_up: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
    gate, up = gate_up.float().chunk(2, dim=-1)
    share, wide = torch.sigmoid(gate), grad.float()
    return (wide * up * share * (1 + gate * (1 - share))).to(grad.dtype), (wide * gate * share).to(grad.dtype)


class _SwiGLU(torch.autograd.Function):
    """Its gradient's halves are joined outside the compiled part: inside, the joint cost 25 ms a layer (3,072 slots, one Zen 5 core)."""

    @staticmethod
    def forward(ctx: Any, gate_up: Tensor, parts: _Parts) -> Tensor:  # autograd's own
        ctx.save_for_backward(gate_up)
        ctx.parts = parts
        y: Tensor = parts.swiglu_forward(gate_up)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return torch.cat(ctx.parts.swiglu_backward(*ctx.saved_tensors, grads[0]), dim=-1), None


def _clean_rows(logits: Tensor, target: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Losses, probabilities, gradient without the target's own share."""
    logits32 = logits.float()
    best = logits32.amax(-1)
    spread = (logits32 - best[:, None]).exp()
    total = spread.sum(-1)
    probabilities = spread / total[:, None]
    loss = best + total.log() - logits32.gather(1, target[:, None])[:, 0]
    return loss, probabilities.to(logits.dtype), (probabilities * scale[:, None]).to(logits.dtype)


def _noisy_rows(logits: Tensor, target: Tensor, scale: Tensor, teacher: Tensor, distil: float) -> tuple[Tensor, Tensor, Tensor]:
    """Losses against the text, losses against the teacher, gradient without the target's own share."""
    logits32, soft = logits.float(), teacher.float()
    best = logits32.amax(-1)
    spread = (logits32 - best[:, None]).exp()
    total = spread.sum(-1)
    level = best + total.log()
    loss = level - logits32.gather(1, target[:, None])[:, 0]
    grad = (spread / total[:, None] - distil * soft) * scale[:, None]
    return loss, level - (soft * logits32).sum(-1), grad.to(logits.dtype)


class _TextLoss(torch.autograd.Function):
    """Both streams' cross-entropy through the tied head, in chunks; the gradient is formed with the loss, no logits are kept.

    Clean slots come first: their distributions are the noisy slots' teachers.
    """

    @staticmethod
    def forward(ctx: Any, clean: Tensor, noisy: Tensor, end_row: Tensor, plan: _LossPlan) -> tuple[Tensor, ...]:
        head, batch, parts, distil = plan.head, plan.batch, plan.parts, plan.distil
        head[:1] = end_row
        clean_scale = batch.clean_weight / batch.clean_weight.sum()
        noisy_scale = batch.noisy_weight / batch.noisy_weight.sum() * plan.block_weight
        clean_target, noisy_target = plan.head_index(batch.clean_target), plan.head_index(batch.noisy_target)
        teachers = clean.new_empty(clean.shape[0], head.shape[0])
        end_grad = torch.zeros_like(end_row, dtype=torch.float32)
        clean_loss, noisy_loss, soft_loss = (clean.new_empty(rows, dtype=torch.float32) for rows in (len(clean), len(noisy), len(noisy)))
        clean_best, noisy_best = torch.empty_like(clean_target), torch.empty_like(noisy_target)
        clean_grad, noisy_grad = torch.empty_like(clean), torch.empty_like(noisy)
        for at in _chunks(len(clean), plan.chunk):
            logits, target = F.linear(clean[at], head), clean_target[at]
            clean_best[at] = logits.max(-1).indices
            clean_loss[at], teachers[at], grad = parts.clean_rows(logits, target, clean_scale[at])
            _take(grad, target, clean_scale[at])
            clean_grad[at] = grad @ head
            end_grad += grad[:, :1].t().float() @ clean[at].float()
        for at in _chunks(len(noisy), plan.chunk):
            logits, target = F.linear(noisy[at], head), noisy_target[at]
            noisy_best[at] = logits.max(-1).indices
            teacher = teachers[batch.noisy_twin[at]]
            noisy_loss[at], soft_loss[at], grad = parts.noisy_rows(logits, target, noisy_scale[at], teacher, distil)
            _take(grad, target, noisy_scale[at] * (1 - distil))
            noisy_grad[at] = grad @ head
            end_grad += grad[:, :1].t().float() @ noisy[at].float()
        total = (clean_loss * clean_scale).sum() + ((noisy_loss * (1 - distil) + soft_loss * distil) * noisy_scale).sum()
        ctx.save_for_backward(clean_grad, noisy_grad, end_grad.to(end_row.dtype))
        agrees = noisy_best == clean_best[batch.noisy_twin]
        outputs = (clean_loss, clean_best == clean_target, noisy_loss, noisy_best == noisy_target, agrees)
        ctx.mark_non_differentiable(*outputs)
        return total, *outputs

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        clean_grad, noisy_grad, end_grad = ctx.saved_tensors
        return clean_grad * grads[0], noisy_grad * grads[0], end_grad * grads[0], None


@dataclass(frozen=True, kw_only=True)
class _LossPlan:
    """What the loss needs beside the states."""

    head: Tensor  # the end id's row, then the text's; the first is overwritten at each call
    specials: int
    batch: Batch
    parts: _Parts
    distil: float
    block_weight: float
    chunk: int

    def head_index(self, ids: Tensor) -> Tensor:
        """Ids to the head's rows: the end id (0) stays, text moves up."""
        return (ids - (self.specials - 1)).clamp(min=0)


def _chunks(rows: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, rows)) for first in range(0, rows, size)]


def _take(grad: Tensor, target: Tensor, share: Tensor) -> None:
    """Subtract the targets' own share from a gradient of logits, in place."""
    rows = torch.arange(len(target), device=target.device)
    grad[rows, target] = (grad[rows, target].float() - share).to(grad.dtype)

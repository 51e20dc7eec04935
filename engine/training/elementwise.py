"""The element-wise parts between the matrix products, compiled or not. Knows no weights and no batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


class Elementwise:
    """The parts, ready to be called. A part is compiled when it is first used, and once more when the number of slots changes."""

    def __init__(self, compiled: bool) -> None:
        def maybe(function: Callable[..., Any]) -> Callable[..., Any]:
            return torch.compile(function) if compiled else function

        self.add_norm, self.rotary = maybe(add_norm), maybe(rotary)
        self.swiglu_forward, self.swiglu_backward = maybe(swiglu), maybe(swiglu_backward)
        self.clean_rows, self.noisy_rows = maybe(clean_rows), maybe(noisy_rows)

    def swiglu(self, gate_up: Tensor) -> Tensor:
        y: Tensor = _SwiGLU.apply(gate_up, self)
        return y


def add_norm(x: Tensor, step: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    x = x + step.float()
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight.float()
    return x, normed.to(weight.dtype)


def rotary(qkv: Tensor, cos: Tensor, sin: Tensor, heads: int, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (scaled by the root of their size), keys and values, [T, heads, d] each."""
    parts = qkv.unflatten(-1, (heads + 2 * kv_heads, -1))
    q, k, v = parts.split([heads, kv_heads, kv_heads], dim=1)
    q = _turn(q.float(), cos, sin) * q.shape[-1] ** -0.5
    return q.to(qkv.dtype), _turn(k.float(), cos, sin).to(qkv.dtype), v.contiguous()


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def swiglu(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.float().chunk(2, dim=-1)
    return (F.silu(gate) * up).to(gate_up.dtype)


def swiglu_backward(gate_up: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
    gate, up = gate_up.float().chunk(2, dim=-1)
    share, wide = torch.sigmoid(gate), grad.float()
    return (wide * up * share * (1 + gate * (1 - share))).to(grad.dtype), (wide * gate * share).to(grad.dtype)


class _SwiGLU(torch.autograd.Function):
    """Its gradient's halves are joined outside the compiled part: inside, the joint cost 25 ms a layer (3,072 slots, one Zen 5 core)."""

    @staticmethod
    def forward(ctx: Any, gate_up: Tensor, parts: Elementwise) -> Tensor:  # autograd's own
        ctx.save_for_backward(gate_up)
        ctx.parts = parts
        y: Tensor = parts.swiglu_forward(gate_up)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return torch.cat(ctx.parts.swiglu_backward(*ctx.saved_tensors, grads[0]), dim=-1), None


def clean_rows(logits: Tensor, target: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Losses, probabilities, gradient without the target's own share."""
    logits32 = logits.float()
    best = logits32.amax(-1)
    spread = (logits32 - best[:, None]).exp()
    total = spread.sum(-1)
    probabilities = spread / total[:, None]
    loss = best + total.log() - logits32.gather(1, target[:, None])[:, 0]
    return loss, probabilities.to(logits.dtype), (probabilities * scale[:, None]).to(logits.dtype)


def noisy_rows(logits: Tensor, target: Tensor, scale: Tensor, teacher: Tensor, distil: float) -> tuple[Tensor, Tensor, Tensor]:
    """Losses against the text, losses against the teacher, gradient without the target's own share."""
    logits32, soft = logits.float(), teacher.float()
    best = logits32.amax(-1)
    spread = (logits32 - best[:, None]).exp()
    total = spread.sum(-1)
    level = best + total.log()
    loss = level - logits32.gather(1, target[:, None])[:, 0]
    grad = (spread / total[:, None] - distil * soft) * scale[:, None]
    return loss, level - (soft * logits32).sum(-1), grad.to(logits.dtype)

"""Both streams' cross-entropy through the tied head. Knows no layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.training.blocks import Batch
from engine.training.elementwise import Elementwise


class TextLoss(torch.autograd.Function):
    """Both streams' cross-entropy through the tied head, in chunks; the gradient is formed with the loss, no logits are kept.

    Clean slots come first: their distributions are the noisy slots' teachers.
    """

    @staticmethod
    def forward(ctx: Any, clean: Tensor, noisy: Tensor, end_row: Tensor, plan: LossPlan) -> tuple[Tensor, ...]:
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
class LossPlan:
    """What the loss needs beside the states."""

    head: Tensor  # the end id's row, then the text's; the first is overwritten at each call
    specials: int
    batch: Batch
    parts: Elementwise
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

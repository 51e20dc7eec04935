"""Attention of a few new rows over a cache of keys and values that already holds the rows' own."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def block_attention(query: Tensor, keys: Tensor, values: Tensor, *, causal: bool) -> Tensor:
    """Attend from the last `rows` positions of the cache to all of it, or causally.

    query [rows, heads, head_dim]; keys and values [kv_heads, length, head_dim], the rows' own at the end. With `causal` row r sees the
    positions up to its own, without it every row sees every position. Returns [rows, heads · head_dim].

    The heads of a group are folded into rows, so that each key is read once for the whole group.
    """
    rows, heads, head_dim = query.shape
    kv_heads, length, _ = keys.shape
    group = heads // kv_heads
    folded = query.view(rows, kv_heads, group, head_dim).permute(1, 2, 0, 3).reshape(1, kv_heads, group * rows, head_dim)
    mask = _causal_mask(rows, length, query.device).repeat(group, 1) if causal and rows > 1 else None
    mixed = functional.scaled_dot_product_attention(folded, keys[None], values[None], attn_mask=mask)
    return mixed.view(kv_heads, group, rows, head_dim).permute(2, 0, 1, 3).reshape(rows, heads * head_dim)


def _causal_mask(rows: int, length: int, device: torch.device) -> Tensor:
    """True where row r may look: positions up to length − rows + r. Shape [rows, length]."""
    return torch.ones(rows, length, dtype=torch.bool, device=device).tril(length - rows)

"""Rotary position embedding, half-rotation layout."""

from __future__ import annotations

import torch
from torch import Tensor


def rotary_table(positions: int, head_dim: int, theta: float) -> tuple[Tensor, Tensor]:
    """Cosines and sines for positions 0..positions−1, float32, each [positions, head_dim / 2].

    Source: Su et al., 2021 (arXiv 2104.09864).
    """
    rates = theta ** -(torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.outer(torch.arange(positions, dtype=torch.float64), rates)
    return angles.cos().float(), angles.sin().float()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each row's pairs (i, i + head_dim / 2) by its position's angles. x [rows, heads, head_dim], cos and sin [rows, head_dim / 2]."""
    left, right = x.float().chunk(2, dim=-1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1).to(x.dtype)

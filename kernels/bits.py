"""Flags as the bits of int32 words: bit i of word w is flag 32 · w + i. Knows not what they say."""

from __future__ import annotations

import torch
from torch import Tensor


def pack(flags: Tensor) -> Tensor:
    """bool [..., n] → int32 [..., words]; what the last word has left is 0."""
    wide = torch.zeros(*flags.shape[:-1], -(-flags.shape[-1] // 32) * 32, dtype=torch.int64, device=flags.device)
    wide[..., : flags.shape[-1]] = flags
    words = (wide.unflatten(-1, (-1, 32)) << torch.arange(32, device=flags.device)).sum(dim=-1)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)


def unpack(words: Tensor, count: int) -> Tensor:
    """The first `count` flags, bool [..., count]."""
    return (words[..., None] >> torch.arange(32, device=words.device) & 1).bool().flatten(-2)[..., :count]

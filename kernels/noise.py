"""Random numbers by counter: the same seed, step, row and id give the same number wherever and in whatever order it is asked for."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_ROUNDS = 10
_LOW = 0xFFFFFFFF


class Noise(NamedTuple):
    """Choice by chance. `state` [2] int32 holds seed and step where the kernels read them; temperature above 0."""

    state: Tensor
    temperature: float


def gumbel(state: Tensor, rows: Tensor, ids: int) -> Tensor:
    """Standard Gumbel noise for each of `rows` and the ids 0..ids−1, float32 [rows, ids]."""
    uniform = _uniform(_philox(state, torch.arange(ids, device=rows.device)[None, :], rows.long()[:, None]))
    return -torch.log(-torch.log(uniform))


def _philox(state: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """First word of Philox 4x32-10 with counter (first, second, step, 0) and key (seed, its sign). Source: Salmon et al., 2011."""
    seed, step = (int(word) for word in state)
    c0, c1 = torch.broadcast_tensors(first, second)
    c2, c3 = torch.full_like(c0, step & _LOW), torch.zeros_like(c0)
    key0, key1 = seed & _LOW, (seed >> 32) & _LOW
    for _ in range(_ROUNDS):
        c0, c1, c2, c3 = (
            _high(c2, 0xCD9E8D57) ^ c1 ^ key0,
            c2 * 0xCD9E8D57 & _LOW,
            _high(c0, 0xD2511F53) ^ c3 ^ key1,
            c0 * 0xD2511F53 & _LOW,
        )
        key0, key1 = (key0 + 0x9E3779B9) & _LOW, (key1 + 0xBB67AE85) & _LOW
    return c0


def _high(word: Tensor, factor: int) -> Tensor:
    """Upper 32 bits of a 32 by 32 bit product, in words of 63."""
    low = (word & 0xFFFF) * factor
    return ((word >> 16) * factor + (low >> 16)) >> 16


def _uniform(word: Tensor) -> Tensor:
    """A 32-bit word as a number in [0, 1), the way Triton's `uint_to_uniform_float` does it."""
    signed = torch.where(word >= 1 << 31, word - (1 << 32), word).to(torch.int32)
    return torch.where(signed < 0, -signed - 1, signed).float() * 4.6566127342e-10

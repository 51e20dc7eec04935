"""The chain head: a slot's state that knows the token chosen in the slot before it. Knows no layer and no batch.

    h'ᵢ = hᵢ + W_out · silu(W_in · [hᵢ ; n(e(prevᵢ))])

The slots of a block are denoised at once, each blind to what the others choose; this makes their choices follow one another at the price
of two small products a slot. e is the embedding, n brings its row to a root mean square of 1. Imports torch only.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

_EPS = 1e-6


def chained(states: Tensor, previous: Tensor, w_in: Tensor, w_out: Tensor) -> Tensor:
    """`states` [rows, width] moved by `previous`, the float32 embedding rows of the tokens before; `w_in` [inner, 2 · width]."""
    normed = F.rms_norm(previous, previous.shape[-1:], eps=_EPS)
    inner = F.linear(torch.cat([states, normed.to(states.dtype)], dim=-1), w_in)
    return states + F.linear(F.silu(inner), w_out)

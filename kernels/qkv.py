"""From a layer's input to its queries, and its keys and values in the cache: norm, product, rotary, write. Knows no schedule."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional

from kernels.rotary import rotate
from kernels.streams import Cached
from kernels.weight import Weight, product


class Qkv(NamedTuple):
    """A layer's part before attention. The gain of the norm before it is in the weight's columns (`folded`)."""

    weight: Weight  # [(heads + 2 · kv_heads) · head_dim, width]
    heads: int
    eps: float
    bias: Tensor | None = None
    norms: Tensor | None = None  # [2, head_dim], the gains of a norm of each query, and of each key


class Turns(NamedTuple):
    """Cosines and sines of the new rows' positions, float32 [streams, rows, head_dim / 2]."""

    cos: Tensor
    sin: Tensor


def folded(weight: Tensor, gain: Tensor) -> Tensor:
    """A weight [out, into] that takes a norm without gain for one with it: the kernels then need only the row's length."""
    return (weight.float() * gain.float()).to(weight.dtype)


def qkv(x: Tensor, layer: Qkv, turns: Turns, cached: Cached, live: Tensor | None = None) -> Tensor:
    """Queries [streams, rows, heads, head_dim] of x [streams, rows, width]; writes the rows' keys and values behind each stream's mark.

    The twin of `kernels.gpu.qkv`. In a narrow cache they are written divided by its scales. Where `live` [1] int32 holds 0 nothing need be
    computed or written, and the result is whatever the memory held; so it is in every op that takes it.
    """
    streams, rows, width = x.shape
    head_dim = cached.keys.shape[-1]
    normed = functional.rms_norm(x.view(-1, width), (width,), eps=layer.eps)
    found = product(normed, layer.weight)
    if layer.bias is not None:
        found = found + layer.bias
    q, k, v = found.view(streams * rows, -1, head_dim).split((layer.heads, cached.keys.shape[1], cached.keys.shape[1]), dim=1)
    if layer.norms is not None:
        q, k = (functional.rms_norm(part, (head_dim,), gain, layer.eps) for part, gain in zip((q, k), layer.norms, strict=True))
    cos, sin = turns.cos.flatten(0, 1), turns.sin.flatten(0, 1)
    for stored, part, scale in ((cached.keys, rotate(k, cos, sin), cached.key_scale), (cached.values, v, cached.value_scale)):
        scaled = (part.float() / scale).to(stored.dtype).view(streams, rows, -1, head_dim).transpose(1, 2)
        for stream, length in enumerate(cached.lengths.tolist()):
            cached.write(stored, stream, length, scaled[stream])
    return rotate(q, cos, sin).view(streams, rows, layer.heads, head_dim)

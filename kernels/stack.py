"""A dense transformer as ops, for new rows of several streams at once. Knows tensors only: no text, no schedule, no cache policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor
from torch.nn import functional

from kernels.ops import Ops
from kernels.qkv import Qkv, Turns
from kernels.streams import Cached, Seen
from kernels.weight import Weight


class Layer(NamedTuple):
    """One layer's weights, the gains of its norms in their columns (`kernels.qkv.folded`)."""

    qkv: Qkv
    o: Weight
    gate_up: Weight
    down: Weight


class Stack(NamedTuple):
    """All weights of a model."""

    embedding: Tensor  # [vocab, width]
    layers: list[Layer]
    norm: Tensor | None  # gain of the last norm
    head: Weight  # [vocab, width]
    turns: Turns  # of all positions, [positions, head_dim / 2]
    eps: float


def forward(
    stack: Stack,
    ops: Ops,
    caches: Sequence[Cached],
    ids: Tensor,
    positions: Tensor,
    seen: Seen | None = None,
    live: Tensor | None = None,
) -> Tensor:
    """Hidden states [streams · rows, width] of new rows, after the last norm. ids and positions int32 [streams, rows], a cache a layer.

    The rows' keys and values are written behind each stream's mark. Where `live` [1] int32 holds 0 the result is anything. Reads nothing
    back.
    """
    count, width = ids.numel(), stack.embedding.shape[1]
    x = stack.embedding.index_select(0, ids.view(-1))
    turns = Turns(*(part.index_select(0, positions.view(-1)).view(*positions.shape, -1) for part in stack.turns))
    for layer, cached in zip(stack.layers, caches, strict=True):
        query = ops.qkv(x.view(*ids.shape, width), layer.qkv, turns, cached, live)
        x = ops.project(ops.attend(query, cached, seen, live).view(count, -1), layer.o, x, live)
        x = ops.project(ops.gate_up(x, layer.gate_up, stack.eps, live), layer.down, x, live)
    return functional.rms_norm(x, (width,), stack.norm, stack.eps)

"""A transformer of random weights made of the ops, and denoise steps of it that no host takes part in. Knows no clock."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.gpu.checks import random_weight
from kernels.choice import allow_all_but
from kernels.commit import Blocks, Rule
from kernels.gpu.shapes import Shape
from kernels.ops import Ops
from kernels.qkv import Qkv, Turns
from kernels.rotary import rotary_table
from kernels.stack import Layer, Stack, forward
from kernels.streams import Cached, Seen
from kernels.weight import Kind, Weight, narrowed

_EPS = 1e-6


class Model(NamedTuple):
    """All that stays from step to step."""

    shape: Shape
    stack: Stack
    caches: list[Cached]  # a layer's each
    allowed: Tensor
    lengths: Tensor  # [streams] int32, shared by all caches

    @property
    def mask_id(self) -> int:
        return self.shape.vocab - 1


class Left(NamedTuple):
    """Blocks with the number of their masked slots, [1] int32, which the host reads."""

    blocks: Blocks
    slots: Tensor


def random_model(shape: Shape, kind: Kind, streams: int, capacity: int, device: torch.device, dtype: torch.dtype) -> Model:
    """With room for `capacity` positions a stream; with fp8 weights the cache is fp8 too."""
    lengths = torch.zeros(streams, dtype=torch.int32, device=device)
    stored = torch.float8_e4m3fn if kind == "fp8" else dtype
    embedding = torch.randn(shape.vocab, shape.width, device=device, dtype=dtype)
    head = narrowed(embedding, kind) if shape.tied else random_weight(shape.vocab, shape.width, kind, device, dtype)
    layers = [_layer(shape, kind, device, dtype) for _ in range(shape.layers)]
    turns = Turns(*(part.to(device) for part in rotary_table(capacity, shape.head_dim, 1e6)))
    size = (streams, shape.kv_heads, capacity, shape.head_dim)
    caches = [Cached(*_random_cache(size, device, dtype, stored), lengths) for _ in range(shape.layers)]
    allowed = allow_all_but(torch.tensor([shape.vocab - 1], device=device), shape.vocab)
    return Model(shape, Stack(embedding, layers, None, head, turns, _EPS), caches, allowed, lengths)


def _layer(shape: Shape, kind: Kind, device: torch.device, dtype: torch.dtype) -> Layer:
    bias = torch.randn(shape.qkv, device=device, dtype=dtype) if shape.qkv_bias else None
    return Layer(
        Qkv(random_weight(shape.qkv, shape.width, kind, device, dtype), shape.heads, _EPS, bias),
        random_weight(shape.width, shape.heads * shape.head_dim, kind, device, dtype),
        random_weight(2 * shape.mlp, shape.width, kind, device, dtype),
        random_weight(shape.width, shape.mlp, kind, device, dtype),
    )


def _random_cache(size: tuple[int, ...], device: torch.device, dtype: torch.dtype, stored: torch.dtype) -> tuple[Tensor, Tensor]:
    keys, values = (torch.randn(size, device=device, dtype=dtype).to(stored) for _ in range(2))
    return keys, values


def read(model: Model, ops: Ops, ids: Tensor, seen: Seen | None = None, live: Tensor | None = None) -> Tensor:
    """Hidden states [streams · rows, width] of new rows ids [streams, rows], whose keys and values are written behind the marks."""
    positions = model.lengths[:, None] + torch.arange(ids.shape[1], dtype=torch.int32, device=ids.device)
    return forward(model.stack, ops, model.caches, ids, positions, seen, live)


def denoise(model: Model, ops: Ops, blocks: Blocks, rule: Rule) -> None:
    """One step, in place: forward, choice for the masked slots, commit. Reads nothing back; nothing masked, and its kernels end at once."""
    listed = ops.list_masked(blocks.ids, model.mask_id)
    hidden = read(model, ops, blocks.ids, live=listed.total)
    ops.commit(blocks, ops.choose(hidden, model.stack.head, listed, model.allowed), rule, model.mask_id)


def count_left(model: Model, ops: Ops, left: Left) -> None:
    left.slots.copy_(ops.list_masked(left.blocks.ids, model.mask_id).total)


def masked_blocks(model: Model, slots: int) -> Blocks:
    streams, device = len(model.lengths), model.lengths.device
    ids = torch.full((streams, slots), model.mask_id, dtype=torch.int32, device=device)
    return Blocks(ids, torch.zeros(streams, slots, device=device))


def bytes_a_step(model: Model, rows: int, prefix: int) -> int:
    """What a step must read: every weight as it is stored, and the cache."""
    stored = weight_bytes(model.stack.head)
    for layer, cached in zip(model.stack.layers, model.caches, strict=True):
        for weight in (layer.qkv.weight, layer.o, layer.gate_up, layer.down):
            stored += weight_bytes(weight)
        for part in (cached.keys, cached.values):
            stored += part[:, :, : prefix + rows].numel() * part.element_size()
    return stored


def weight_bytes(weight: Weight) -> int:
    parts = (weight.data,) if weight.scale is None else (weight.data, weight.scale)
    return sum(part.numel() * part.element_size() for part in parts)

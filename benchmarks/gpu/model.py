"""A transformer of random weights made of the ops, and denoise steps of it that no host takes part in. Knows no clock."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.gpu.checks import random_weight
from kernels.choice import allow_all_but
from kernels.commit import Blocks, Rule
from kernels.gpu.shapes import Shape
from kernels.ops import Ops
from kernels.qkv import Qkv, Turns
from kernels.rotary import rotary_table
from kernels.streams import Cached, Seen
from kernels.weight import Kind, Weight, narrowed

_EPS = 1e-6


class Layer(NamedTuple):
    """One layer's weights, and its keys and values."""

    qkv: Qkv
    o: Weight
    gate_up: Weight
    down: Weight
    cached: Cached


class Model(NamedTuple):
    """All that stays from step to step."""

    shape: Shape
    embedding: Tensor
    head: Weight
    layers: list[Layer]
    turns: Turns  # of all positions
    allowed: Tensor
    lengths: Tensor  # [streams] int32, shared by all layers

    @property
    def mask_id(self) -> int:
        return self.shape.vocab - 1


def random_model(shape: Shape, kind: Kind, streams: int, capacity: int, device: torch.device, dtype: torch.dtype) -> Model:
    """With room for `capacity` positions a stream; with fp8 weights the cache is fp8 too."""
    lengths = torch.zeros(streams, dtype=torch.int32, device=device)
    stored = torch.float8_e4m3fn if kind == "fp8" else dtype
    embedding = torch.randn(shape.vocab, shape.width, device=device, dtype=dtype)
    head = narrowed(embedding, kind) if shape.tied else random_weight(shape.vocab, shape.width, kind, device, dtype)
    layers = [_layer(shape, kind, lengths, capacity, device, dtype, stored) for _ in range(shape.layers)]
    turns = Turns(*(part.to(device) for part in rotary_table(capacity, shape.head_dim, 1e6)))
    allowed = allow_all_but(torch.tensor([shape.vocab - 1], device=device), shape.vocab)
    return Model(shape, embedding, head, layers, turns, allowed, lengths)


def _layer(
    shape: Shape, kind: Kind, lengths: Tensor, capacity: int, device: torch.device, dtype: torch.dtype, stored: torch.dtype
) -> Layer:
    bias = torch.randn(shape.qkv, device=device, dtype=dtype) if shape.qkv_bias else None
    size = (len(lengths), shape.kv_heads, capacity, shape.head_dim)
    keys, values = (torch.randn(size, device=device, dtype=dtype).to(stored) for _ in range(2))
    return Layer(
        Qkv(random_weight(shape.qkv, shape.width, kind, device, dtype), shape.heads, _EPS, bias),
        random_weight(shape.width, shape.heads * shape.head_dim, kind, device, dtype),
        random_weight(2 * shape.mlp, shape.width, kind, device, dtype),
        random_weight(shape.width, shape.mlp, kind, device, dtype),
        Cached(keys, values, lengths),
    )


def forward(model: Model, ops: Ops, ids: Tensor, seen: Seen | None = None) -> Tensor:
    """Hidden states [streams · rows, width] of new rows ids [streams, rows], whose keys and values are written behind the marks."""
    streams, rows = ids.shape
    x = model.embedding[ids.view(-1)]
    positions = model.lengths[:, None] + torch.arange(rows, device=ids.device)
    turns = Turns(model.turns.cos[positions], model.turns.sin[positions])
    for layer in model.layers:
        query = ops.qkv(x.view(streams, rows, -1), layer.qkv, turns, layer.cached)
        x = ops.project(ops.attend(query, layer.cached, seen).view(streams * rows, -1), layer.o, x)
        x = ops.project(ops.gate_up(x, layer.gate_up, _EPS), layer.down, x)
    return functional.rms_norm(x, (x.shape[1],), eps=_EPS)


def denoise(model: Model, ops: Ops, blocks: Blocks, rule: Rule) -> None:
    """One step, in place: forward, choice for the masked slots, commit. Reads nothing back."""
    hidden = forward(model, ops, blocks.ids)
    choice = ops.choose(hidden, model.head, ops.list_masked(blocks.ids, model.mask_id), model.allowed)
    ops.commit(blocks, choice, rule, model.mask_id)


def masked_blocks(model: Model, slots: int) -> Blocks:
    streams, device = len(model.lengths), model.lengths.device
    ids = torch.full((streams, slots), model.mask_id, dtype=torch.int32, device=device)
    return Blocks(ids, torch.zeros(streams, slots, device=device))


def bytes_a_step(model: Model, rows: int, prefix: int) -> int:
    """What a step must read: every weight as it is stored, and the cache."""
    stored = 0
    for layer in model.layers:
        for weight in (layer.qkv.weight, layer.o, layer.gate_up, layer.down):
            stored += weight_bytes(weight)
        for part in (layer.cached.keys, layer.cached.values):
            stored += part[:, :, : prefix + rows].numel() * part.element_size()
    return stored + weight_bytes(model.head)


def weight_bytes(weight: Weight) -> int:
    parts = (weight.data,) if weight.scale is None else (weight.data, weight.scale)
    return sum(part.numel() * part.element_size() for part in parts)

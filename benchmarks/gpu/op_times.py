"""Each kernel's time against plain torch, torch.compile and the vendor's libraries, at a model's shape. Knows no table."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.gpu.checks import random_weight
from benchmarks.gpu.model import weight_bytes
from benchmarks.gpu.timing import Ceilings, seconds
from kernels.choice import Listed
from kernels.gpu.shapes import Shape
from kernels.ops import TWINS, Ops
from kernels.qkv import Qkv, Turns
from kernels.streams import Cached
from kernels.weight import Kind, Weight

_CACHED = 256 << 20  # bytes that no cache holds
_EPS = 1e-6


class OpTime(NamedTuple):
    """Seconds of one call; `library` is cuBLAS or FlashAttention on plain weights doing the product alone."""

    name: str
    ours: float
    plain: float | None
    compiled: float | None
    library: float | None
    bound: float


class _Place(NamedTuple):
    device: torch.device
    dtype: torch.dtype
    rows: int
    prefix: int
    compiles: bool
    top: Ceilings


def op_times(
    ops: Ops, shape: Shape, kind: Kind, device: torch.device, dtype: torch.dtype, rows: int, prefix: int, compiles: bool, top: Ceilings
) -> Iterator[OpTime]:
    place = _Place(device, dtype, rows, prefix, compiles, top)
    yield _head(ops, shape, kind, place)
    if kind in ("plain", "fp8"):
        yield _attention(ops, shape, kind, place)
    yield from _products(ops, shape, kind, place)


def _head(ops: Ops, shape: Shape, kind: Kind, place: _Place) -> OpTime:
    hidden = torch.randn(place.rows, shape.width, device=place.device, dtype=place.dtype)
    heads = [random_weight(shape.vocab, shape.width, kind, place.device, place.dtype) for _ in range(2)]
    listed = Listed(
        torch.arange(place.rows, dtype=torch.int32, device=place.device), torch.tensor([place.rows], dtype=torch.int32, device=place.device)
    )
    ours = seconds([partial(ops.choose, hidden, head, listed) for head in heads], place.device)
    size = weight_bytes(heads[0])
    bound = max(size / place.top.bandwidth, 2 * shape.vocab * shape.width * place.rows / place.top.operations)
    if kind != "plain":
        return OpTime(f"choice {kind}", ours, None, None, None, bound)
    dense = [head.data for head in heads]
    plain = seconds([partial(_sure, hidden, weight) for weight in dense], place.device)
    library = seconds([partial(functional.linear, hidden, weight) for weight in dense], place.device)
    compiled = _compiled(_sure, [(hidden, weight) for weight in dense], place)
    return OpTime("choice plain", ours, plain, compiled, library, bound)


def _compiled(call: Callable[..., object], arguments: list[tuple[Any, ...]], place: _Place) -> float | None:
    """Seconds of the call through torch.compile; None where that is not asked for, or the machine has no compiler for it."""
    if not place.compiles:
        return None
    try:
        fast = torch.compile(call)
        return seconds([partial(fast, *given) for given in arguments], place.device)
    except Exception:
        traceback.print_exc()
        return None


def _sure(hidden: Tensor, weight: Tensor) -> tuple[Tensor, ...]:
    """Choice in plain torch, with no host in it."""
    chances = torch.softmax(functional.linear(hidden, weight).float(), dim=-1)
    top, ids = chances.topk(2, dim=-1)
    return ids[:, 0], top[:, 0], -torch.special.xlogy(chances, chances).sum(dim=-1), top[:, 0] - top[:, 1]


def _attention(ops: Ops, shape: Shape, kind: Kind, place: _Place) -> OpTime:
    stored = torch.float8_e4m3fn if kind == "fp8" else place.dtype
    query = torch.randn(1, place.rows, shape.heads, shape.head_dim, device=place.device, dtype=place.dtype)
    lengths = torch.tensor([place.prefix], dtype=torch.int32, device=place.device)
    size = (1, shape.kv_heads, place.prefix + 2 * place.rows, shape.head_dim)

    def cache() -> Cached:
        keys, values = (torch.randn(size, device=place.device, dtype=place.dtype).to(stored) for _ in range(2))
        return Cached(keys, values, lengths)

    one = cache()
    read = 2 * one.keys[:, :, : place.prefix + place.rows].numel() * one.keys.element_size()
    caches = [one, *(cache() for _ in range(0 if place.device.type != "cuda" else min(_CACHED // read, 63)))]
    ours = seconds([partial(ops.attend, query, cached) for cached in caches], place.device)
    library = None
    if kind == "plain":
        end, q = place.prefix + place.rows, query.transpose(1, 2)
        attend = partial(functional.scaled_dot_product_attention, enable_gqa=True)
        library = seconds([partial(attend, q, cached.keys[:, :, :end], cached.values[:, :, :end]) for cached in caches], place.device)
    operations = 4 * place.rows * shape.heads * shape.head_dim * (place.prefix + place.rows)
    return OpTime(f"attention {kind}", ours, None, None, library, max(read / place.top.bandwidth, operations / place.top.operations))


def _products(ops: Ops, shape: Shape, kind: Kind, place: _Place) -> Iterator[OpTime]:
    rows, device, dtype = place.rows, place.device, place.dtype
    x = torch.randn(rows, shape.width, device=device, dtype=dtype)
    wide = torch.randn(rows, shape.mlp, device=device, dtype=dtype)
    mixed = torch.randn(rows, shape.heads * shape.head_dim, device=device, dtype=dtype)
    angles = torch.rand(1, rows, shape.head_dim // 2, device=device)
    blank = torch.zeros(2, 1, shape.kv_heads, rows, shape.head_dim, device=device, dtype=dtype)
    cached, turns = Cached(blank[0], blank[1], torch.zeros(1, dtype=torch.int32, device=device)), Turns(angles.cos(), angles.sin())
    runs: list[tuple[str, int, Tensor, Callable[..., object], Callable[..., object] | None]] = [
        ("qkv", shape.qkv, x, lambda weight: ops.qkv(x[None], Qkv(weight, shape.heads, _EPS), turns, cached), None),
        ("o", shape.width, mixed, lambda weight: ops.project(mixed, weight, x), lambda weight: TWINS.project(mixed, weight, x)),
        ("gate_up", 2 * shape.mlp, x, lambda weight: ops.gate_up(x, weight, _EPS), lambda weight: TWINS.gate_up(x, weight, _EPS)),
        ("down", shape.width, wide, lambda weight: ops.project(wide, weight, x), lambda weight: TWINS.project(wide, weight, x)),
    ]
    for name, out, given, run, twin in runs:
        into = given.shape[1]
        count = 1 if device.type != "cuda" else min(max(_CACHED // (out * into), 1), 64)
        weights = [random_weight(out, into, kind, device, dtype) for _ in range(count)]
        ours = seconds([partial(run, weight) for weight in weights], device)
        bound = max(weight_bytes(weights[0]) / place.top.bandwidth, 2 * out * into * rows / place.top.operations)
        plain = library = compiled = None
        if kind == "plain":
            library = seconds([partial(functional.linear, given, weight.data) for weight in weights], device)
        if twin is not None:
            plain = seconds([partial(twin, weight) for weight in weights], device)
        if name == "gate_up" and kind == "plain":
            compiled = _compiled(_gated, [(x, weight.data) for weight in weights], place)
        yield OpTime(f"{name} {kind}", ours, plain, compiled, library, bound)


def _gated(x: Tensor, weight: Tensor) -> Tensor:
    """The twin on a plain weight, for torch.compile."""
    return TWINS.gate_up(x, Weight(weight, None, "plain"), _EPS)

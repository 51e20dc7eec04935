"""Every op at the shapes of the reference models, as calls on tensors without memory. For compiling ahead; knows no chip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kernels.choice import Choice, Listed
from kernels.commit import Blocks, Rule
from kernels.gpu.attention import attend
from kernels.gpu.choice import choose
from kernels.gpu.commit import commit, list_masked
from kernels.gpu.mlp import gate_up
from kernels.gpu.projection import project
from kernels.gpu.qkv import qkv
from kernels.gpu.shapes import MODELS, Shape
from kernels.gpu.verify import verify
from kernels.launch import Gpu
from kernels.noise import Noise
from kernels.qkv import Qkv, Turns
from kernels.streams import Cached, Seen
from kernels.verify import Text, told_size
from kernels.weight import Kind, Weight

KINDS: tuple[Kind, ...] = ("plain", "int8", "fp8", "int4")


class Case(NamedTuple):
    """An op at a shape."""

    op: str
    shape: str
    call: Callable[[Gpu], Any]
    products: tuple[str, ...]  # its kernels that multiply matrices
    since: int = 80  # the first chip that has what it needs
    first: bool = False  # enough for a short check


def blank(*size: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.empty(size, dtype=dtype, device="meta")


def blank_weight(out: int, into: int, kind: Kind) -> Weight:
    if kind == "int4":
        half = 64 if into % 128 == 0 else 32
        return Weight(blank(out, into // 2, dtype=torch.uint8), blank(out, into // half), kind)
    dtype = {"plain": torch.bfloat16, "int8": torch.int8, "fp8": torch.float8_e4m3fn}[kind]
    return Weight(blank(out, into, dtype=dtype), None if kind == "plain" else blank(out, dtype=torch.float32), kind)


def _since(kind: Kind) -> int:
    return 89 if kind == "fp8" else 80


def _integers(*size: int) -> Tensor:
    return blank(*size, dtype=torch.int32)


def _choose(shape: Shape, rows: int, kind: Kind, masks: int, noisy: bool, gpu: Gpu) -> None:
    choose(
        gpu,
        blank(rows, shape.width),
        blank_weight(shape.vocab, shape.width, kind),
        Listed(_integers(rows), _integers(1)),
        _integers(masks, -(-shape.vocab // 32)) if masks else None,
        Noise(_integers(2), 0.7) if noisy else None,
    )


def _choices() -> Iterator[Case]:
    for shape in MODELS:
        for kind in KINDS:
            for rows in (8, 32, 64):
                call = partial(_choose, shape, rows, kind, 1, False)
                first = shape is MODELS[0] and rows == 32 and kind in ("plain", "int4")
                yield Case("choice", f"{shape.name} {kind} rows {rows}", call, ("head_tiles",), _since(kind), first)
    for rows in (32, 64):
        yield Case("choice", f"7B drawn rows {rows}", partial(_choose, MODELS[3], rows, "plain", rows, True), ("head_tiles",))


def _commit(slots: int, gpu: Gpu) -> None:
    ids, sure = _integers(4, slots), blank(4, slots, dtype=torch.float32)
    commit(gpu, Blocks(ids, sure), Choice(ids, sure, sure, sure), Rule(), 5)
    list_masked(gpu, ids, 5)


def _verify(slots: int, gpu: Gpu) -> None:
    rows, room = slots * (slots + 1), 256
    ids, sure = _integers(rows), blank(rows, dtype=torch.float32)
    text = Text(_integers(slots + 1), _integers(1), _integers(1), _integers(told_size(room)))
    verify(gpu, text, Choice(ids, sure, sure, sure), blank(MODELS[0].vocab, dtype=torch.int8))


def _commits() -> Iterator[Case]:
    for slots in (8, 32, 64):
        yield Case("commit", f"slots {slots}", partial(_commit, slots), (), first=slots == 32)
    for slots in (5, 7, 10):
        yield Case("verify", f"slots {slots}", partial(_verify, slots), (), first=slots == 7)


def _attend(shape: Shape, rows: int, dtype: torch.dtype, masked: bool, streams: int, gpu: Gpu) -> None:
    keys = blank(streams, shape.kv_heads, 4096, shape.head_dim, dtype=dtype)
    seen = Seen(_integers(rows, -(-rows // 32) + 4)) if masked else None
    attend(gpu, blank(streams, rows, shape.heads, shape.head_dim), Cached(keys, keys, _integers(streams)), seen, _integers(1))


def _attend_pages(gpu: Gpu) -> None:
    """And the writing of pages."""
    shape, streams, rows = MODELS[3], 64, 32
    memory, turns = blank(streams * 20, shape.kv_heads, 128, shape.head_dim), blank(streams, rows, shape.head_dim // 2, dtype=torch.float32)
    cached = Cached(memory, memory, _integers(streams), pages=_integers(streams, 32))
    attend(gpu, blank(streams, rows, shape.heads, shape.head_dim), cached, None, _integers(1))
    layer = Qkv(blank_weight(shape.qkv, shape.width, "plain"), shape.heads, 1e-6, blank(shape.qkv))
    qkv(gpu, blank(streams, rows, shape.width), layer, Turns(turns, turns), cached, _integers(1))


def _attentions() -> Iterator[Case]:
    for shape in MODELS:
        for dtype, kind in ((torch.bfloat16, "plain"), (torch.float8_e4m3fn, "fp8")):
            for rows, masked in ((8, False), (32, False), (64, True), (128, True)):
                call = partial(_attend, shape, rows, dtype, masked, 1)
                name = f"{shape.name} {kind} rows {rows}{' seen' if masked else ''}"
                yield Case("attention", name, call, ("attend_chunk",), 89 if kind == "fp8" else 80, shape.name == "7B" and rows == 32)
    yield Case("attention", "7B plain rows 32 × 64 paged", _attend_pages, ("attend_chunk", "qkv_head"), first=True)
    yield Case("attention", "7B plain rows 32 × 64", partial(_attend, MODELS[3], 32, torch.bfloat16, False, 64), ("attend_chunk",))


def _qkv(shape: Shape, rows: int, kind: Kind, gpu: Gpu) -> None:
    stored = blank(1, shape.kv_heads, 4096, shape.head_dim, dtype=torch.float8_e4m3fn if kind == "fp8" else torch.bfloat16)
    turns = blank(1, rows, shape.head_dim // 2, dtype=torch.float32)
    layer = Qkv(blank_weight(shape.qkv, shape.width, kind), shape.heads, 1e-6, blank(shape.qkv) if shape.qkv_bias else None)
    qkv(gpu, blank(1, rows, shape.width), layer, Turns(turns, turns), Cached(stored, stored, _integers(1)), _integers(1))


def _gate_up(shape: Shape, rows: int, kind: Kind, gpu: Gpu) -> None:
    gate_up(gpu, blank(rows, shape.width), blank_weight(2 * shape.mlp, shape.width, kind), 1e-6, _integers(1))


def _project(shape: Shape, rows: int, kind: Kind, gpu: Gpu) -> None:
    project(
        gpu,
        blank(rows, shape.heads * shape.head_dim),
        blank_weight(shape.width, shape.heads * shape.head_dim, kind),
        blank(rows, shape.width),
        _integers(1),
    )
    project(gpu, blank(rows, shape.mlp), blank_weight(shape.width, shape.mlp, kind), blank(rows, shape.width), _integers(1))


_HALVES: tuple[tuple[str, Callable[[Shape, int, Kind, Gpu], None], str], ...] = (
    ("qkv", _qkv, "qkv_head"),
    ("gate_up", _gate_up, "gated"),
    ("projection", _project, "projected"),
)


def _halves() -> Iterator[Case]:
    for op, call, kernel in _HALVES:
        for shape in MODELS:
            for kind in KINDS:
                for rows in (8, 32, 64):
                    first = shape.name == "7B" and rows == 32 and kind in ("plain", "int4")
                    yield Case(op, f"{shape.name} {kind} rows {rows}", partial(call, shape, rows, kind), (kernel,), _since(kind), first)


CASES: tuple[Case, ...] = (*_choices(), *_commits(), *_attentions(), *_halves())

"""Every kernel on the device against its twin in float64, on inputs drawn anew, in memory poisoned beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from kernels.choice import Choice, Listed, allow_all_but
from kernels.commit import Blocks, Rule
from kernels.gpu.shapes import Shape
from kernels.noise import Noise, gumbel
from kernels.ops import TWINS, Ops
from kernels.qkv import Qkv, Turns
from kernels.streams import Cached, seen_bits
from kernels.verify import begin, new_text
from kernels.weight import Kind, Weight, narrowed, product

# ‖ours − exact‖ / ‖exact‖ that float32 sums and one rounding to the dtype allow, and what a rounded int4 weight adds.
_ALLOWED = {torch.bfloat16: 4e-3, torch.float16: 6e-4}
_INT4 = 2e-3


class Check(NamedTuple):
    """What was compared, how far it was off, and what was allowed."""

    name: str
    error: float
    allowed: float

    @property
    def passed(self) -> bool:
        return self.error <= self.allowed  # never for NaN


def checks(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int, prefix: int) -> Iterator[Check]:
    """All ops at a shape."""
    for kind in kinds(device):
        yield from _products(ops, shape, device, dtype, rows, kind)
        yield from _choices(ops, shape, device, dtype, rows, kind)
    for stored in (dtype, torch.float8_e4m3fn) if has_fp8(device) else (dtype,):
        yield from _attention(ops, shape, device, dtype, rows, prefix, stored)
    yield from _commit(ops, device)
    yield _verify(ops, device)
    if ops != TWINS:  # they are not held to it
        yield from _idle(ops, shape, device, dtype, rows)
        yield from _alone(ops, shape, device, dtype, rows, prefix)


def has_fp8(device: torch.device) -> bool:
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= (8, 9)


def kinds(device: torch.device) -> tuple[Kind, ...]:
    return ("plain", "int8", "fp8", "int4") if has_fp8(device) else ("plain", "int8", "int4")


def random_weight(out: int, into: int, kind: Kind, device: torch.device, dtype: torch.dtype) -> Weight:
    return narrowed(torch.randn(out, into, device=device, dtype=dtype) / into**0.5, kind)


def _exact(weight: Weight) -> Weight:
    return weight._replace(scale=None if weight.scale is None else weight.scale.double())


def _off(ours: Tensor, exact: Tensor) -> float:
    return float((ours.double() - exact.double()).norm() / exact.double().norm())


def _products(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int, kind: Kind) -> Iterator[Check]:
    allowed = _ALLOWED[dtype] + (_INT4 if kind == "int4" else 0.0)
    x = torch.randn(rows, shape.width, device=device, dtype=dtype) * 2
    gate_up = random_weight(2 * shape.mlp, shape.width, kind, device, dtype)
    found = ops.gate_up(x, gate_up, 1e-6)
    yield Check(f"gate_up {kind}", _off(found, TWINS.gate_up(x.double(), _exact(gate_up), 1e-6)), 2 * allowed)
    down = random_weight(shape.width, shape.mlp, kind, device, dtype)
    exact = TWINS.project(found.double(), _exact(down), x.double())
    yield Check(f"projection {kind}", _off(ops.project(found, down, x), exact), allowed)
    yield from _qkv(ops, shape, x, kind, dtype)


def _qkv(ops: Ops, shape: Shape, x: Tensor, kind: Kind, dtype: torch.dtype) -> Iterator[Check]:
    rows, device = len(x), x.device
    weight, bias = random_weight(shape.qkv, shape.width, kind, device, dtype), torch.randn(shape.qkv, device=device, dtype=dtype)
    angles = torch.rand(1, rows, shape.head_dim // 2, device=device) * 6
    turns, lengths = Turns(angles.cos(), angles.sin()), torch.tensor([3], dtype=torch.int32, device=device)
    blank = torch.zeros(2, 1, shape.kv_heads, rows + 8, shape.head_dim, device=device, dtype=dtype)
    ours, exact = Cached(blank[0].clone(), blank[1].clone(), lengths), Cached(blank[0].double(), blank[1].double(), lengths)
    queries = ops.qkv(x[None], Qkv(weight, shape.heads, 1e-6, bias), turns, ours)
    meant = TWINS.qkv(x[None].double(), Qkv(_exact(weight), shape.heads, 1e-6, bias.double()), turns, exact)
    allowed = _ALLOWED[dtype] + (_INT4 if kind == "int4" else 0.0)
    yield Check(f"qkv {kind}: queries", _off(queries, meant), allowed)
    yield Check(f"qkv {kind}: keys", _off(ours.keys, exact.keys), allowed)
    yield Check(f"qkv {kind}: values", _off(ours.values, exact.values), allowed)


def _choices(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int, kind: Kind) -> Iterator[Check]:
    hidden = torch.randn(rows, shape.width, device=device, dtype=dtype) * 2
    head = random_weight(shape.vocab, shape.width, kind, device, dtype)
    listed = Listed(torch.randperm(rows, device=device).to(torch.int32), torch.tensor([rows - 1], dtype=torch.int32, device=device))
    allowed = allow_all_but(torch.arange(0, shape.vocab, 5, device=device), shape.vocab)
    noise = Noise(torch.tensor([int(torch.randint(1 << 30, ())), 4], dtype=torch.int32, device=device), 0.8)
    picked = listed.rows[: rows - 1].long()
    slack = 2e-2 if kind == "int4" or ops == TWINS else 2e-3  # the twin rounds logits to the dtype
    for name, given in (("best", None), ("drawn", noise)):
        ours, exact = ops.choose(hidden, head, listed, allowed, given), TWINS.choose(hidden.double(), _exact(head), listed, allowed, given)
        other = (ours.ids != exact.ids)[picked]
        # Another id is right where it is as good but for rounding.
        ahead = _ahead(hidden[picked].double(), _exact(head), picked, given, (exact.ids[picked], ours.ids[picked]))
        torn = other & (ahead > slack)
        yield Check(f"choice {kind}: {name} ids", float(torn.float().mean()), 0.0)
        same = picked[~other]
        yield Check(f"choice {kind}: {name} confidence", _off(ours.confidence[same], exact.confidence[same]), 2 * slack)
        yield Check(f"choice {kind}: {name} entropy", _off(ours.entropy[picked], exact.entropy[picked]), slack)


def _ahead(hidden: Tensor, head: Weight, rows: Tensor, noise: Noise | None, pair: tuple[Tensor, Tensor]) -> Tensor:
    """By how much the first id's score, noise included, stands above the second's, as a share of the larger logit where that is over 1."""
    logits = product(hidden, head).double()
    scores = logits if noise is None else logits / noise.temperature + gumbel(noise.state, rows, head.out)
    best, other = (scores.gather(1, ids.long()[:, None])[:, 0] for ids in pair)
    return (best - other) / logits.abs().amax(dim=1).clamp(min=1)


def _attention(
    ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int, prefix: int, stored: torch.dtype
) -> Iterator[Check]:
    lengths = torch.tensor([0, prefix], dtype=torch.int32, device=device)
    query = torch.randn(2, rows, shape.heads, shape.head_dim, device=device, dtype=dtype)
    keys, values = torch.randn(2, 2, shape.kv_heads, prefix + rows + 70, shape.head_dim, device=device).to(stored)
    cached = Cached(keys, values, lengths, 0.5 if stored != dtype else 1.0, 2.0 if stored != dtype else 1.0)
    seen = torch.rand(rows, rows, device=device) < 0.5
    seen |= torch.eye(rows, dtype=torch.bool, device=device)
    for name, bits in (("all seen", None), ("some seen", seen_bits(seen))):
        error = _off(ops.attend(query, cached, bits), TWINS.attend(query.double(), cached, bits))
        yield Check(f"attention {'fp8' if stored != dtype else 'plain'}: {name}", error, 2 * _ALLOWED[dtype])


def _alone(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int, prefix: int) -> Iterator[Check]:
    """The last of the rows by itself, to the last bit: verified text is that of a greedy run only if it comes out the same."""
    query = torch.randn(1, rows, shape.heads, shape.head_dim, device=device, dtype=dtype)
    keys, values = torch.randn(2, 1, shape.kv_heads, prefix + rows, shape.head_dim, device=device, dtype=dtype)
    causal = seen_bits(torch.ones(rows, rows, dtype=torch.bool, device=device).tril())
    before, after = (torch.tensor([length], dtype=torch.int32, device=device) for length in (prefix, prefix + rows - 1))
    together = ops.attend(query, Cached(keys, values, before), causal)[:, -1]
    apart = ops.attend(query[:, -1:], Cached(keys, values, after))[:, 0]
    yield Check("attention: a row alone", float((together != apart).float().mean()), 0.0)
    x, mixed = (torch.randn(rows, width, device=device, dtype=dtype) for width in (shape.width, shape.mlp))
    gate_up, down = (random_weight(*size, "plain", device, dtype) for size in ((2 * shape.mlp, shape.width), (shape.width, shape.mlp)))
    differing = ops.gate_up(x, gate_up, 1e-6)[-1:] != ops.gate_up(x[-1:], gate_up, 1e-6)
    yield Check("gate_up: a row alone", float(differing.float().mean()), 0.0)
    differing = ops.project(mixed, down, x)[-1:] != ops.project(mixed[-1:], down, x[-1:])
    yield Check("projection: a row alone", float(differing.float().mean()), 0.0)


def _idle(ops: Ops, shape: Shape, device: torch.device, dtype: torch.dtype, rows: int) -> Iterator[Check]:
    """Where nothing lives the cache stays as it is; what else a kernel writes is for nobody."""
    none = torch.zeros(1, dtype=torch.int32, device=device)
    cache = torch.zeros(2, 1, shape.kv_heads, rows, shape.head_dim, device=device, dtype=dtype)
    angles = torch.ones(1, rows, shape.head_dim // 2, device=device)
    layer = Qkv(random_weight(shape.qkv, shape.width, "plain", device, dtype), shape.heads, 1e-6)
    x, lengths = torch.randn(1, rows, shape.width, device=device, dtype=dtype), torch.zeros(1, dtype=torch.int32, device=device)
    ops.qkv(x, layer, Turns(angles, angles), Cached(cache[0], cache[1], lengths), none)
    yield Check("qkv: nothing lives", float(cache.count_nonzero()), 0.0)


def _verify(ops: Ops, device: torch.device) -> Check:
    """A draft that agrees to its third id, in a text of ten that goes on, and one that an id ends."""
    differing = 0
    for end in (0, 1):
        texts = [new_text(6, 10, 99, torch.zeros(1, dtype=torch.int32, device=device)) for _ in range(2)]
        ids = torch.randint(1, 90, (6 * 7,), dtype=torch.int32, device=device)
        sure = torch.rand(6 * 7, device=device)
        ends = torch.zeros(100, dtype=torch.int8, device=device)
        ends[int(ids[2])] = end
        for text, run in zip(texts, (ops.verify, TWINS.verify), strict=True):
            begin(text, 0, [*ids[:3].tolist(), 95], 7, 10)
            for _ in range(2):
                run(text, Choice(ids, sure, sure, sure), ends)
        differing += sum(int((one != other).sum()) for one, other in zip(*texts, strict=True))
    return Check("verify", float(differing), 0.0)


def _commit(ops: Ops, device: torch.device) -> Iterator[Check]:
    ids = torch.where(torch.rand(5, 32, device=device) < 0.6, 7, 50).to(torch.int32)
    sure, confidence = torch.randint(0, 9, (2, 5, 32), device=device) / 8
    choice = TWINS.choose(
        torch.randn(160, 32, device=device),
        narrowed(torch.randn(64, 32, device=device), "plain"),
        TWINS.list_masked(ids, 7),
        allow_all_but(torch.tensor([7], device=device), 64),
    )._replace(confidence=confidence.view(-1))
    ours, exact = (Blocks(ids.clone(), sure.clone()) for _ in range(2))
    rule = Rule(threshold=0.9, factor=0.8, at_least=2, keep=0.4)
    ops.commit(ours, choice, rule, 7)
    TWINS.commit(exact, choice, rule, 7)
    yield Check("commit", float((ours.ids != exact.ids).sum() + (ours.sure != exact.sure).sum()), 0.0)
    listed, meant = ops.list_masked(ours.ids, 7), TWINS.list_masked(exact.ids, 7)
    total = int(meant.total)
    yield Check("list", float((listed.total != meant.total).sum() + (listed.rows[:total] != meant.rows[:total]).sum()), 0.0)

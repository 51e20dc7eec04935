"""A fixed weight as it is stored for few-row products: plain, or narrowed to int8, fp8 or int4 with scales. Knows no model."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

Kind = Literal["plain", "int8", "fp8", "int4"]


class Weight(NamedTuple):
    """[out, into] in one of four forms.

    plain  data [out, into], no scale
    int8   data [out, into] int8, scale [out] float32
    fp8    data [out, into] float8_e4m3fn, scale [out] float32
    int4   data [out, into / 2] uint8, scale [out, into / half] of the activations' dtype. A stretch of 2 · half columns lies in half
           bytes: its first half in the low nibbles, its second in the high ones, each with a scale of its own; 8 stands for zero.
    """

    data: Tensor
    scale: Tensor | None
    kind: Kind

    @property
    def out(self) -> int:
        return self.data.shape[0]

    @property
    def into(self) -> int:
        return self.data.shape[1] * (2 if self.kind == "int4" else 1)

    @property
    def half(self) -> int:
        """Columns that share a scale in int4."""
        return _half(self.into)


def narrowed(weight: Tensor, kind: Kind) -> Weight:
    """`weight` [out, into] rounded to `kind`, symmetrically: each row, or each half stretch of int4, by its largest magnitude."""
    if kind == "plain":
        return Weight(weight, None, kind)
    if kind == "int4":
        return _int4(weight)
    largest = 127.0 if kind == "int8" else torch.finfo(torch.float8_e4m3fn).max
    scale = weight.float().abs().amax(dim=1).clamp(min=1e-12) / largest
    scaled = weight.float() / scale[:, None]
    return Weight(scaled.round().to(torch.int8) if kind == "int8" else scaled.to(torch.float8_e4m3fn), scale, kind)


def dense(weight: Weight, dtype: torch.dtype) -> Tensor:
    """What the stored weight stands for, [out, into]."""
    if weight.kind == "plain":
        return weight.data.to(dtype)
    assert weight.scale is not None
    if weight.kind != "int4":
        return weight.data.to(dtype) * weight.scale[:, None].to(dtype)
    packed = weight.data.view(weight.out, -1, 1, weight.half)
    nibbles = torch.cat((packed & 15, packed >> 4), dim=2).to(dtype) - 8  # [out, stretches, 2, half]
    return (nibbles * weight.scale.to(dtype).view(weight.out, -1, 2, 1)).reshape(weight.out, weight.into)


def product(x: Tensor, weight: Weight) -> Tensor:
    """x [rows, into] @ weight.T, [rows, out] in x's dtype."""
    return functional.linear(x, dense(weight, x.dtype))


def _half(into: int) -> int:
    return 64 if into % 128 == 0 else 32


def _int4(weight: Tensor) -> Weight:
    out, into = weight.shape
    assert into % 64 == 0, "int4 takes stretches of 64 columns"
    groups = weight.float().view(out, -1, _half(into))
    scale = (groups.abs().amax(dim=2).clamp(min=1e-12) / 7).to(weight.dtype)
    nibbles = (groups / scale.float()[..., None]).round().clamp(-7, 7).add(8).to(torch.uint8).view(out, -1, 2, _half(into))
    return Weight((nibbles[:, :, 0] | nibbles[:, :, 1] << 4).reshape(out, into // 2), scale, "int4")

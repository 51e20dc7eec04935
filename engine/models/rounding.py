"""A model's maps in int8, each row with its own scale: what the graph multiplies by. Knows no file and no graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from engine.models.dense import LayerWeights

MAPS = ("qkv", "o", "gate_up", "down")
_ROWS_AT_ONCE = 4096


class Int8(NamedTuple):
    """A map [out, in]: int8 numbers, and what those of a row are multiplied by, float32 [out, 1]."""

    whole: Tensor
    scale: Tensor


class RoundedLayer(NamedTuple):
    """`LayerWeights` whose maps are in int8; the rest is float32."""

    attention_norm: Tensor
    qkv: Int8
    o: Int8
    mlp_norm: Tensor
    gate_up: Int8
    down: Int8
    qkv_bias: Tensor | None = None
    q_norm: Tensor | None = None
    k_norm: Tensor | None = None


def rounded(weight: Tensor) -> Int8:
    """The int8 map nearest to `weight` [out, in]."""
    whole = torch.empty(weight.shape, dtype=torch.int8)
    scale = torch.empty(len(weight), 1)
    # By slices of rows: a head in float32 would be the largest thing ever held.
    for first in range(0, len(weight), _ROWS_AT_ONCE):
        rows = slice(first, first + _ROWS_AT_ONCE)
        part = weight[rows].float()
        scale[rows] = part.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
        whole[rows] = (part / scale[rows]).round_()
    return Int8(whole, scale)


def named(layer: RoundedLayer) -> dict[str, Tensor]:
    """Its tensors by name, as `from_named` takes them."""
    found: dict[str, Tensor] = {}
    for name, value in layer._asdict().items():
        if isinstance(value, Int8):
            found |= {f"{name}.{part}": tensor for part, tensor in value._asdict().items()}
        elif value is not None:
            found[name] = value
    return found


def from_named(tensors: Mapping[str, Tensor]) -> RoundedLayer:
    """Raises KeyError where one is missing."""
    found: dict[str, Any] = {name: tensor for name, tensor in tensors.items() if "." not in name}
    found |= {name: Int8(tensors[f"{name}.whole"], tensors[f"{name}.scale"]) for name in MAPS}
    return RoundedLayer(**found)


def rounded_layer(weights: LayerWeights) -> RoundedLayer:
    return RoundedLayer(**{**weights._asdict(), **{name: rounded(getattr(weights, name)) for name in MAPS}})

"""The pieces a graph of the transformer is made of, as nodes of OpenVINO. Knows no layer, no cache and no request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.models.rounding import Int8
from engine.models.runtime import openvino, ops

# Nodes and tensors of the library carry no types.
Node = Any


def variable(name: str, shape: Sequence[int], dtype: Any = np.float32) -> Node:
    """What a request gives the graph by `name`; −1 for a dimension that changes."""
    node = ops.parameter(openvino.PartialShape(list(shape)), dtype)
    node.set_friendly_name(name)
    node.output(0).get_tensor().set_names({name})
    return node


def fixed(value: Tensor) -> Node:
    """A constant, float32."""
    return ops.constant(value.float().contiguous().numpy())


def whole(*values: int) -> Node:
    """A constant of whole numbers, of one dimension."""
    return ops.constant(np.array(values, dtype=np.int64))


def held(weight: Tensor | Int8) -> Node:
    """A map [out, in] as a constant: float32, or in int8 and read from where it lies."""
    if isinstance(weight, Tensor):
        return fixed(weight)
    whole_numbers = ops.constant(weight.whole.numpy(), shared_memory=True)
    return ops.multiply(ops.convert(whole_numbers, "f32"), fixed(weight.scale))


def product(x: Node, weight: Node, bias: Tensor | None = None) -> Node:
    """`x @ weight.T + bias`."""
    y = ops.matmul(x, weight, False, True)
    return y if bias is None else ops.add(y, fixed(bias[None]))


def norm(x: Node, weight: Tensor, eps: float) -> Node:
    """RMS norm over the last dimension, in the form that the library knows for one operation."""
    mean = ops.reduce_mean(ops.power(x, ops.constant(np.float32(2))), whole(-1), True)
    scale = ops.divide(ops.constant(np.float32(1)), ops.sqrt(ops.add(mean, ops.constant(np.float32(eps)))))
    return ops.multiply(ops.multiply(x, scale), fixed(weight))


def rotated(x: Node, cos: Node, sin: Node, half: int) -> Node:
    """Rotary position embedding, half-rotation layout. x [rows, heads, 2 · half], cos and sin [rows, 1, half]."""
    left, right = parts(x, -1, half, half)
    turned = ops.subtract(ops.multiply(left, cos), ops.multiply(right, sin))
    return ops.concat([turned, ops.add(ops.multiply(right, cos), ops.multiply(left, sin))], -1)


def parts(x: Node, axis: int, *lengths: int) -> list[Node]:
    """`x` cut along `axis`."""
    split = ops.variadic_split(x, ops.constant(np.int64(axis)), whole(*lengths))
    return [split.output(index) for index in range(len(lengths))]


def shared(tensor: Tensor) -> openvino.Tensor:
    """The same memory as the library's tensor. numpy, by which it goes, has no bfloat16."""
    if tensor.dtype == torch.bfloat16:
        return openvino.Tensor(tensor.view(torch.int16).numpy(), openvino.Shape(list(tensor.shape)), openvino.Type.bf16)
    return openvino.Tensor(tensor.numpy(), shared_memory=True)

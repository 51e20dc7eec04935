"""The gated half of a layer: norm, gate and up product, SwiGLU; and the projections that add to what came in.

`live`: see `kernels.qkv.qkv`.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from kernels.weight import Weight, product


def gate_up(x: Tensor, weight: Weight, eps: float, live: Tensor | None = None) -> Tensor:
    """silu(gate) · up of the normed rows, [rows, mlp]. x [rows, width]; weight [2 · mlp, width], the gate's rows first, with the norm's
    gain in its columns (`kernels.qkv.folded`). The twin of `kernels.gpu.mlp`."""
    gate, up = product(functional.rms_norm(x, (x.shape[1],), eps=eps), weight).chunk(2, dim=-1)
    return functional.silu(gate) * up


def project(x: Tensor, weight: Weight, residual: Tensor, live: Tensor | None = None) -> Tensor:
    """residual + x @ weight.T, [rows, out]. The twin of `kernels.gpu.projection`."""
    return residual + product(x, weight)

"""Evens out what is rounded: a channel that is large among its neighbours hands some of its size to the weights it meets.

The product stays the same (Xiao et al., 2022, arXiv 2211.10438); its inputs lose less when a group of them shares one scale of int8. How
large a channel is shows on a few rows of text, which are taken through the layers in float32 as those are loaded.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.config import DenseConfig
from engine.models.dense import LayerWeights
from kernels.rotary import rotary_table, rotate

# How much of its size. It halves what int8 loses: see the README beside this folder.
_SHARE = 0.25


class Balance:
    """Rows of a text on their way through the layers."""

    def __init__(self, config: DenseConfig, rows: Tensor) -> None:
        """rows [n, width] float32: the embeddings of a text."""
        self._config = config
        self._x = rows
        self._cos, self._sin = rotary_table(len(rows), config.head_dim, config.rope_theta)

    def layer(self, weights: LayerWeights) -> LayerWeights:
        """The next layer's weights, float32, the large channels of all four maps' inputs made smaller."""
        c = self._config
        x = self._normed(self._x, weights.attention_norm)
        by = _sizes(x)
        mixed = self._mixed(x, weights)
        # The heads of a group read the same values.
        by_value = _sizes(mixed.view(len(x), c.kv_heads, -1, c.head_dim).transpose(1, 2).flatten(0, 1).flatten(1))
        values = slice((c.heads + c.kv_heads) * c.head_dim, None)
        qkv, qkv_bias = weights.qkv * by, weights.qkv_bias
        qkv[values] /= by_value[:, None]
        if qkv_bias is not None:
            qkv_bias = torch.cat((qkv_bias[: values.start], qkv_bias[values] / by_value))
        group = c.heads // c.kv_heads
        o = weights.o * by_value.view(c.kv_heads, 1, c.head_dim).expand(-1, group, -1).flatten()
        self._x = self._x + mixed @ weights.o.T

        x = self._normed(self._x, weights.mlp_norm)
        by_mlp = _sizes(x)
        gate, up = (x @ weights.gate_up.T).chunk(2, dim=-1)
        inner = functional.silu(gate) * up
        by_inner = _sizes(inner)
        gate_up = weights.gate_up * by_mlp
        gate_up[c.mlp :] /= by_inner[:, None]
        self._x = self._x + inner @ weights.down.T
        return weights._replace(
            attention_norm=weights.attention_norm / by,
            qkv=qkv,
            qkv_bias=qkv_bias,
            o=o,
            mlp_norm=weights.mlp_norm / by_mlp,
            gate_up=gate_up,
            down=weights.down * by_inner,
        )

    def _mixed(self, x: Tensor, weights: LayerWeights) -> Tensor:
        """What attention gives, read causally: [n, heads · head_dim]."""
        c = self._config
        heads = functional.linear(x, weights.qkv, weights.qkv_bias).view(len(x), -1, c.head_dim)
        q, k, v = heads.split((c.heads, c.kv_heads, c.kv_heads), dim=1)
        if weights.q_norm is not None and weights.k_norm is not None:
            q, k = self._normed(q, weights.q_norm), self._normed(k, weights.k_norm)
        q, k = rotate(q, self._cos, self._sin), rotate(k, self._cos, self._sin)
        q, k, v = (each.transpose(0, 1)[None] for each in (q, k, v))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)[0].transpose(0, 1).flatten(1)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self._config.norm_eps)


def _sizes(x: Tensor) -> Tensor:
    """By how much to divide each channel of `x` [rows, width]. The first row is left out: its sizes are like no other's."""
    sizes = x[1:].pow(2).mean(dim=0).sqrt().clamp(min=1e-6).pow(_SHARE)
    return (sizes / sizes.log().mean().exp()).clamp(0.02, 50)

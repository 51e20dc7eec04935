"""The frozen base and the shape of an adapter over it, as plain tensors. Knows no text, no objective and no file format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

MAPS = ("qkv", "o", "gu", "dn")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A dense transformer's numbers, and the adapter's."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    vocab: int
    rope_theta: float
    norm_eps: float
    specials: int = 17  # rows 0..specials-1 of the embedding are repurposed and train
    rank: int = 64
    chain: int = 256  # inner width of the chain head

    def map_size(self, name: str) -> tuple[int, int]:
        """(out, in) of a linear map."""
        query, key = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return {
            "qkv": (query + 2 * key, self.width),
            "o": (self.width, query),
            "gu": (2 * self.mlp, self.width),
            "dn": (self.width, self.mlp),
        }[name]


@dataclass(frozen=True, kw_only=True)
class BaseLayer:
    """One layer's weights; `maps` by the names in `MAPS`, each [out, in]."""

    attn_norm: Tensor
    mlp_norm: Tensor
    maps: Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Base:
    """Everything that does not train. The head is the embedding."""

    shape: Shape
    embedding: Tensor  # [vocab, width]
    layers: tuple[BaseLayer, ...]
    norm: Tensor

    def to(self, device: str) -> Base:
        """The same weights on another device."""
        layers = tuple(
            BaseLayer(
                attn_norm=layer.attn_norm.to(device),
                mlp_norm=layer.mlp_norm.to(device),
                maps={name: weight.to(device) for name, weight in layer.maps.items()},
            )
            for layer in self.layers
        )
        return Base(shape=self.shape, embedding=self.embedding.to(device), layers=layers, norm=self.norm.to(device))


# GGUF's names of what is stacked into one map.
_STACKED = {"qkv": ("attn_q", "attn_k", "attn_v"), "o": ("attn_output",), "gu": ("ffn_gate", "ffn_up"), "dn": ("ffn_down",)}


def assemble(shape: Shape, read: Callable[[str], Tensor], dtype: torch.dtype) -> Base:
    """A base from the tensors that `read` gives by GGUF's names, as such files store them: query and key rows permuted."""

    def part(layer: int, name: str) -> Tensor:
        stored = read(f"blk.{layer}.{name}.weight")
        heads = {"attn_q": shape.heads, "attn_k": shape.kv_heads}.get(name)
        return stored if heads is None else stored.view(heads, -1, 2, stored.shape[1]).transpose(1, 2).reshape(stored.shape)

    layers = tuple(
        BaseLayer(
            attn_norm=part(layer, "attn_norm").to(dtype),
            mlp_norm=part(layer, "ffn_norm").to(dtype),
            maps={name: torch.cat([part(layer, piece) for piece in _STACKED[name]]).to(dtype) for name in MAPS},
        )
        for layer in range(shape.layers)
    )
    return Base(shape=shape, embedding=read("token_embd.weight").to(dtype), layers=layers, norm=read("output_norm.weight").to(dtype))


def adapter_names(shape: Shape) -> list[str]:
    """The adapter's tensors, in the order in which they are kept everywhere. What is new comes last: older states lack it."""
    return [*_map_names(shape), "special", "chain.in", "chain.out"]


def _map_names(shape: Shape) -> list[str]:
    return [f"layers.{layer}.{name}.{side}" for layer in range(shape.layers) for name in MAPS for side in "AB"]


def fresh_adapter(base: Base, seed: int) -> dict[str, Tensor]:
    """Float32 masters that leave the base as it is: A small and random, B zero, the special rows as they were, the chain head's
    way in small and random, its way out zero.

    The special rows that the base never used are given the norm of ordinary ones, so that they can be told apart from the start.
    """
    shape, generator = base.shape, torch.Generator().manual_seed(seed)
    adapter: dict[str, Tensor] = {}
    for name in _map_names(shape):
        _, layer, which, side = name.split(".")
        out, into = shape.map_size(which)
        if side == "A":
            adapter[name] = torch.randn(shape.rank, into, generator=generator) * into**-0.5
        else:
            adapter[name] = torch.zeros(out, shape.rank)
    rows = base.embedding[: shape.specials].float().clone()
    text = base.embedding[shape.specials :].float()
    noise = torch.randn(rows.shape, generator=generator) * text.std()
    rows[3:] = text.mean(0) + noise[3:]
    adapter["special"] = rows
    adapter["chain.in"] = torch.randn(shape.chain, 2 * shape.width, generator=generator) * (2 * shape.width) ** -0.5
    adapter["chain.out"] = torch.zeros(shape.width, shape.chain)
    return adapter


def random_base(shape: Shape, seed: int, dtype: torch.dtype = torch.bfloat16) -> Base:
    """A base of random weights, for tests."""
    generator = torch.Generator().manual_seed(seed)

    def matrix(out: int, into: int) -> Tensor:
        return (torch.randn(out, into, generator=generator) * into**-0.5).to(dtype)

    layers = tuple(
        BaseLayer(
            attn_norm=torch.ones(shape.width, dtype=dtype),
            mlp_norm=torch.ones(shape.width, dtype=dtype),
            maps={name: matrix(*shape.map_size(name)) for name in MAPS},
        )
        for _ in range(shape.layers)
    )
    embedding = (torch.randn(shape.vocab, shape.width, generator=generator) * 0.1).to(dtype)
    return Base(shape=shape, embedding=embedding, layers=layers, norm=torch.ones(shape.width, dtype=dtype))

"""The shapes that kernels are compiled for and timed at: five models of 0.1 to 8 billion weights. Numbers only."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """A dense transformer's numbers."""

    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int
    vocab: int
    qkv_bias: bool = False
    tied: bool = False  # head and embedding are one

    @property
    def qkv(self) -> int:
        return (self.heads + 2 * self.kv_heads) * self.head_dim

    @property
    def weights(self) -> int:
        """Weights read in one forward: all layers and the head."""
        layer = self.width * (self.qkv + self.heads * self.head_dim + 3 * self.mlp)
        return self.layers * layer + self.vocab * self.width


MODELS = (
    Shape("0.135B", 30, 576, 9, 3, 64, 1536, 49152, tied=True),  # SmolLM2
    Shape("0.5B", 24, 896, 14, 2, 64, 4864, 151936, qkv_bias=True, tied=True),  # Qwen2.5
    Shape("1.5B", 28, 1536, 12, 2, 128, 8960, 151936, qkv_bias=True, tied=True),
    Shape("7B", 28, 3584, 28, 4, 128, 18944, 152064, qkv_bias=True),
    Shape("LLaDA-8B", 32, 4096, 32, 32, 128, 12288, 126464),
)

"""A model of random weights behind the real scheduler: its texts are noise, but everything around them is as it is."""

from __future__ import annotations

import torch
from tokenizers import pre_tokenizers

from engine.checkpoints.load import Checkpoint
from engine.config import ChatIds, DenseConfig, EditIds, InfillLayout, TokenizerTables
from engine.models.dense import DenseTransformer, LayerWeights
from engine.serving.local import LocalService
from engine.serving.scheduler import Bounds
from engine.tokenizer import TextTokenizer

WORDS = ("re", "in", "th", '"}', '"]', '{"', '":', '",', ": ", "er")
TOKENS = (*(f"<|{number}|>" for number in range(17)), *sorted(pre_tokenizers.ByteLevel.alphabet()), *(w.replace(" ", "Ġ") for w in WORDS))
CONFIG = DenseConfig(
    layers=2, width=32, heads=4, kv_heads=2, head_dim=8, mlp=48, vocab=len(TOKENS), rope_theta=1e4, norm_eps=1e-5, max_positions=4096
)  # fmt: skip
LAYOUT = InfillLayout(
    path_id=6,
    suffix_id=11,
    prefix_id=12,
    end_id=0,
    mask_id=16,
    context=512,
    block=8,
    related_id=5,
    edit=EditIds(history=8, region=13, cursor=9, instruction=15, rewrite=14),
    chat=ChatIds(turn=1, close=2),
)


def tokenizer() -> TextTokenizer:
    merges = tuple(f"{word[0]} {word[1]}".replace("  ", " Ġ") for word in WORDS)
    return TextTokenizer(TokenizerTables(pre="smollm", tokens=TOKENS, merges=merges, special_ids=tuple(range(17))))


def checkpoint(seed: int = 0, config: DenseConfig = CONFIG) -> Checkpoint:
    torch.manual_seed(seed)
    c = config

    def random(out: int, into: int) -> torch.Tensor:
        return torch.randn(out, into) * 2 * into**-0.5

    embedding = torch.randn(c.vocab, c.width)
    # Never the likeliest: its noise is whole characters that can be read.
    texts = [tokenizer().decode([index]) for index in range(c.vocab)]
    embedding[[index for index, text in enumerate(texts) if index > 16 and not (text and text.isprintable())]] = 0
    model = DenseTransformer(c, embedding, torch.ones(c.width))
    for _ in range(c.layers):
        model.add_layer(
            LayerWeights(
                attention_norm=torch.ones(c.width),
                qkv=random((c.heads + 2 * c.kv_heads) * c.head_dim, c.width),
                o=random(c.width, c.heads * c.head_dim),
                mlp_norm=torch.ones(c.width),
                gate_up=random(2 * c.mlp, c.width),
                down=random(c.width, c.mlp),
            )
        )
    return Checkpoint(model, tokenizer(), LAYOUT, None)


def service(seed: int = 0, *, cache_tokens: int | None = None, bounds: Bounds | None = None, config: DenseConfig = CONFIG) -> LocalService:
    return LocalService(checkpoint(seed, config), "tiny", cache_tokens=cache_tokens, bounds=bounds or Bounds())

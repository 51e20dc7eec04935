"""A base of a few kilobytes, with its tokenizer and a corpus to match: training is tested in seconds."""

from __future__ import annotations

import random
from pathlib import Path

import gguf
import torch
from tokenizers import pre_tokenizers

from engine.config import InfillLayout, TokenizerTables
from engine.tokenizer import TextTokenizer
from engine.training.base import Base, Shape, random_base
from engine.training.blocks import NoiseRules, Row

SHAPE = Shape(
    layers=2, width=32, heads=4, kv_heads=2, head_dim=8, mlp=48, vocab=17 + 256 + 1, rope_theta=1e4, norm_eps=1e-5, rank=4
)  # fmt: skip
NOISE = NoiseRules(mask_id=16, specials=17)
LAYOUT = InfillLayout(path_id=6, related_id=5, suffix_id=11, prefix_id=12, end_id=0, mask_id=16, context=128, block=8)
TOKENS = (*(f"<|{number}|>" for number in range(17)), *sorted(pre_tokenizers.ByteLevel.alphabet()), "re")


def tokenizer() -> TextTokenizer:
    """A byte a token, and one merge, for a GGUF file cannot hold an empty list."""
    return TextTokenizer(TokenizerTables(pre="smollm", tokens=TOKENS, merges=("r e",), special_ids=tuple(range(17))))


def base(dtype: torch.dtype = torch.float32) -> Base:
    return random_base(SHAPE, seed=0, dtype=dtype)


def rows(*lengths: int, seed: int = 0) -> list[Row]:
    """Rows of random text whose middles are a fifth of them."""
    rng = random.Random(seed)
    return [Row(ids=(*(rng.randrange(17, SHAPE.vocab) for _ in range(length - 1)), 0), start=length - length // 5) for length in lengths]


def write_corpus(folder: Path, files: int = 40) -> Path:
    """A repository of small Python files that are easy to learn, and no two alike."""
    for number in range(files):
        path = folder / "owner+repo" / "package" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        functions = (f"def compute_{number}_{count}(value):\n    total = value + {count}\n    return total\n\n" for count in range(6))
        path.write_text("import os\n\n\n" + "".join(functions))
    return folder


def write_gguf(path: Path) -> Path:
    """The tiny base as a GGUF file, its query and key rows permuted as such files have them."""
    weights = base()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(SHAPE.layers)
    writer.add_context_length(2048)
    writer.add_embedding_length(SHAPE.width)
    writer.add_feed_forward_length(SHAPE.mlp)
    writer.add_head_count(SHAPE.heads)
    writer.add_head_count_kv(SHAPE.kv_heads)
    writer.add_rope_freq_base(SHAPE.rope_theta)
    writer.add_layer_norm_rms_eps(SHAPE.norm_eps)
    writer.add_vocab_size(SHAPE.vocab)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(list(TOKENS))
    writer.add_token_types([3] * 17 + [1] * 257)
    writer.add_token_merges(["r e"])

    def add(name: str, tensor: torch.Tensor) -> None:
        writer.add_tensor(name, tensor.float().contiguous().numpy())

    add("token_embd.weight", weights.embedding)
    add("output_norm.weight", weights.norm)
    for number, layer in enumerate(weights.layers):
        q, k, v = layer.maps["qkv"].split([32, 16, 16])
        gate, up = layer.maps["gu"].chunk(2)
        parts = {
            "attn_norm": layer.attn_norm,
            "ffn_norm": layer.mlp_norm,
            "attn_q": _permuted(q, 4),
            "attn_k": _permuted(k, 2),
            "attn_v": v,
        }
        parts |= {"attn_output": layer.maps["o"], "ffn_gate": gate, "ffn_up": up, "ffn_down": layer.maps["dn"]}
        for name, tensor in parts.items():
            add(f"blk.{number}.{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _permuted(weight: torch.Tensor, heads: int) -> torch.Tensor:
    return weight.view(heads, 2, -1, weight.shape[1]).transpose(1, 2).reshape(weight.shape)

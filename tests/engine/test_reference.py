"""The forward pass against an independent implementation, on the real weights and on small random models with every switch on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoTokenizer, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from engine.cache import CacheSlot
from engine.canvas import clean_and_blocks
from engine.checkpoints.catalog import find
from engine.config import DenseConfig
from engine.engine import LocalEngine
from engine.models.dense import DenseTransformer, LayerWeights

TEXTS = [
    "def fibonacci(n):\n    if n < 2:\n        return n\n    return fibonacci(n - 1) + fibonacci(n - 2)\n",
    "class 名前:\n\t'''😀 é'''\r\n  x = [1234567890, 0.5e-10]  # <|endoftext|>\n",
    "The quick brown fox jumps over the lazy dog.  \n\n\n   Twice.",
]


@pytest.fixture(scope="module")
def reference() -> LlamaForCausalLM:
    """The base by transformers' own GGUF reader, with the adapter added to its weights by its own names."""
    files = find("quicksilver-135m")
    model = LlamaForCausalLM.from_pretrained(files.gguf.parent, gguf_file=files.gguf.name, dtype=torch.float32)
    with safe_open(files.adapter, framework="pt") as file, torch.no_grad():

        def delta(layer: int, name: str) -> torch.Tensor:
            return file.get_tensor(f"layers.{layer}.{name}.B").float() @ file.get_tensor(f"layers.{layer}.{name}.A").float()

        for index, layer in enumerate(model.model.layers):
            q, k, v = delta(index, "qkv").split((576, 192, 192))
            gate, up = delta(index, "gu").chunk(2)
            layer.self_attn.q_proj.weight += q
            layer.self_attn.k_proj.weight += k
            layer.self_attn.v_proj.weight += v
            layer.self_attn.o_proj.weight += delta(index, "o")
            layer.mlp.gate_proj.weight += gate
            layer.mlp.up_proj.weight += up
            layer.mlp.down_proj.weight += delta(index, "dn")
        special = file.get_tensor("special").float()
        model.model.embed_tokens.weight[: len(special)] = special
        assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()  # tied
    return model


@pytest.fixture(scope="module")
def reference_tokenizer() -> Tokenizer:
    files = find("quicksilver-135m")
    return AutoTokenizer.from_pretrained(files.gguf.parent, gguf_file=files.gguf.name)


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokenizer_is_the_reference_tokenizer(engine: LocalEngine, reference_tokenizer: Tokenizer, text: str) -> None:
    text = text.replace("<|endoftext|>", "")  # the reference takes it for a special token; ours never does
    assert engine.tokenizer.encode(text) == reference_tokenizer(text, add_special_tokens=False)["input_ids"]
    assert engine.tokenizer.decode(engine.tokenizer.encode(text)) == text


def test_the_tokenizer_is_the_reference_tokenizer_on_whole_files(engine: LocalEngine, reference_tokenizer: Tokenizer) -> None:
    for path in sorted(Path(torch.__file__).parent.glob("*.py"))[:20]:
        # Digits apart: the reference's GGUF reader knows no `smollm` and joins a digit with the space before it.
        text = re.sub(r"[0-9]", "x", path.read_text())
        assert engine.tokenizer.encode(text) == reference_tokenizer(text, add_special_tokens=False)["input_ids"], path


def test_every_digit_is_a_token_of_its_own(engine: LocalEngine) -> None:
    """As llama.cpp's `smollm` splits them: digits first, the rest by GPT-2's pattern."""
    ids = engine.tokenizer.encode("x =   120")
    assert [engine.tokenizer.to_bytes([index]) for index in ids] == [b"x", b" =", b"   ", b"1", b"2", b"0"]


@pytest.mark.parametrize("text", TEXTS)
def test_logits_are_the_reference_logits_on_the_real_weights(engine: LocalEngine, reference: LlamaForCausalLM, text: str) -> None:
    ids = engine.tokenizer.encode(text)
    transformer = engine.decoder.transformer
    with torch.inference_mode():
        ours = transformer.head(transformer.forward(clean_and_blocks(ids, 0), _slot(transformer, len(ids))))
        theirs = reference(torch.tensor([ids])).logits[0]
    assert _difference(ours, theirs) < 2e-4
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


@pytest.mark.parametrize("kind", ["qwen2", "qwen3"])
def test_logits_are_the_reference_logits_with_biases_and_with_norms(kind: str) -> None:
    torch.manual_seed(1)
    shape = {
        "vocab_size": 99,
        "hidden_size": 48,
        "intermediate_size": 80,
        "num_hidden_layers": 3,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
    }
    theirs = {
        "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**shape, tie_word_embeddings=False)),
        "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**shape, head_dim=16, tie_word_embeddings=False)),
    }[kind]().eval()
    with torch.no_grad():
        for parameter in theirs.parameters():  # norms of one and biases of zero would hide that they are used
            parameter += torch.randn_like(parameter) * 0.3
    ours = _dense(theirs)
    ids = torch.randint(99, (19,))
    with torch.inference_mode():
        slot = _slot(ours, 19)
        hidden = []
        for part in ids[:7].tolist(), ids[7:8].tolist(), ids[8:].tolist():
            hidden.append(ours.forward(clean_and_blocks(part, len(slot.ids)), slot))
            slot.commit(part)
        assert _difference(ours.head(torch.cat(hidden)), theirs(ids[None]).logits[0]) < 1e-5


def _dense(model: Qwen2ForCausalLM | Qwen3ForCausalLM) -> DenseTransformer:
    c = model.config
    config = DenseConfig(
        layers=c.num_hidden_layers,
        width=c.hidden_size,
        heads=c.num_attention_heads,
        kv_heads=c.num_key_value_heads,
        head_dim=getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads,
        mlp=c.intermediate_size,
        vocab=c.vocab_size,
        rope_theta=c.rope_parameters["rope_theta"],
        norm_eps=c.rms_norm_eps,
        max_positions=64,
    )
    dense = DenseTransformer(config, model.model.embed_tokens.weight.data, model.model.norm.weight.data, model.lm_head.weight.data)
    for layer in model.model.layers:
        a, m = layer.self_attn, layer.mlp
        biased = a.q_proj.bias is not None
        normed = hasattr(a, "q_norm")
        dense.add_layer(
            LayerWeights(
                attention_norm=layer.input_layernorm.weight.data,
                qkv=torch.cat([a.q_proj.weight.data, a.k_proj.weight.data, a.v_proj.weight.data]),
                o=a.o_proj.weight.data,
                mlp_norm=layer.post_attention_layernorm.weight.data,
                gate_up=torch.cat([m.gate_proj.weight.data, m.up_proj.weight.data]),
                down=m.down_proj.weight.data,
                qkv_bias=torch.cat([a.q_proj.bias.data, a.k_proj.bias.data, a.v_proj.bias.data]) if biased else None,
                q_norm=a.q_norm.weight.data if normed else None,
                k_norm=a.k_norm.weight.data if normed else None,
            )
        )
    return dense


def _slot(transformer: DenseTransformer, capacity: int) -> CacheSlot:
    return CacheSlot(transformer.config, capacity, transformer.dtype)


def _difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """The largest difference, in units of the reference's spread."""
    return float((ours - theirs).abs().max() / theirs.std())

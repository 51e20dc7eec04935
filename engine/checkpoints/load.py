"""Base weights and adapter to a model ready to decode. The names of tensors are a table; where files lie is the catalogue's business."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from engine import confidence, loading
from engine.api import CheckpointInvalid
from engine.checkpoints import gguf
from engine.checkpoints.adapter import Adapter, merge
from engine.checkpoints.gguf import GGUFFile
from engine.checkpoints.kept import kept
from engine.config import DenseConfig, InfillLayout, reaching
from engine.models import balance, rounding
from engine.models.balance import Balance
from engine.models.dense import DenseTransformer, LayerWeights
from engine.models.device import DeviceTransformer
from engine.models.rounding import Int8, from_named, named, rounded, rounded_layer
from engine.models.transformer import Transformer, kept_dtype
from engine.tokenizer import TextTokenizer

log = logging.getLogger(__name__)

# GGUF's names of what is stacked into one map of ours.
_STACKED = {"qkv": ("attn_q", "attn_k", "attn_v"), "o": ("attn_output",), "gu": ("ffn_gate", "ffn_up"), "dn": ("ffn_down",)}

# How often memory is given back: it takes 5 ms, and each layer leaves some 4 MB behind.
_LAYERS_AT_ONCE = 2
# A text such as the model reads: which of its channels are large hardly depends on more (twice as long a one did no better).
_SAMPLE = '''import json
from pathlib import Path


class Store:
    """Keeps counts by name."""

    def load(self, path: Path) -> dict[str, int]:
        # An empty name is nobody.
        with path.open("r") as file:
            return {key: int(value) for key, value in json.load(file).items() if key != ""}
'''


class Checkpoint(NamedTuple):
    """A model, the tokenizer that goes with it, and the layout its prompts have."""

    transformer: Transformer
    tokenizer: TextTokenizer
    layout: InfillLayout
    chain: tuple[torch.Tensor, torch.Tensor] | None  # float32
    calibration: confidence.Calibration | None = None  # of the confidence, where one was fitted for the adapter


def load_checkpoint(base: Path, adapter_path: Path, dtype: torch.dtype, positions: int | None = None, streams: int = 1) -> Checkpoint:
    """Read `base` (GGUF), add the adapter, and pack the maps, to compute in `dtype`. Raises `CheckpointInvalid`.

    `positions`: a context of another length than the model's own, as `engine.config.reaching` has it. `streams`: so many forwards side by
    side, where the way to compute has that.
    """
    file, adapter = GGUFFile(base), Adapter(adapter_path)
    config = file.config if positions is None else reaching(file.config, positions)
    tokenizer = TextTokenizer(file.tokenizer_tables)
    if dtype == torch.int8:
        transformer: Transformer = _rounded(file, adapter, config, tokenizer.encode(_SAMPLE), streams)
    else:
        transformer = _dense(file, adapter, config, dtype)
    return _checkpoint(transformer, tokenizer, adapter, adapter_path)


def load_on_gpu(base: Path, adapter_path: Path, device: torch.device) -> Checkpoint | None:
    """The same on a GPU, in bfloat16. None where that fails, with a line in the log: there are many ways, of drivers, of compilers and of
    memory, and none of them may cost the user an answer. Raises `CheckpointInvalid`."""
    file, adapter = GGUFFile(base), Adapter(adapter_path)
    try:
        embedding = merged_embedding(file, adapter, torch.bfloat16).to(device)
        model = DeviceTransformer(file.config, embedding, file.tensor("output_norm.weight", torch.bfloat16).to(device))
        for weights in merged_layers(file, adapter, torch.bfloat16):
            model.add_layer(weights)
        model.try_out(adapter.layout.mask_id)
    except CheckpointInvalid:
        raise
    except Exception as error:
        log.warning("the GPU cannot be used (%s: %s): the CPU computes", type(error).__name__, error)
        return None
    return _checkpoint(model, TextTokenizer(file.tokenizer_tables), adapter, adapter_path)


def _checkpoint(transformer: Transformer, tokenizer: TextTokenizer, adapter: Adapter, adapter_path: Path) -> Checkpoint:
    device = transformer.embedding.device
    chain = adapter.chain and (adapter.chain[0].float().to(device), adapter.chain[1].float().to(device))
    return Checkpoint(transformer, tokenizer, adapter.layout, chain, confidence.load(adapter_path, adapter.fingerprint))


def _dense(file: GGUFFile, adapter: Adapter, config: DenseConfig, dtype: torch.dtype) -> Transformer:
    """One layer at a time, so that loading never holds a second copy of the model."""
    embedding = merged_embedding(file, adapter, dtype)
    model = DenseTransformer(config, embedding, file.tensor("output_norm.weight", embedding.dtype))
    for weights in merged_layers(file, adapter, dtype):
        model.add_layer(weights)
    return model


def _rounded(file: GGUFFile, adapter: Adapter, config: DenseConfig, sample: Sequence[int], streams: int) -> Transformer:
    """The graph, its weights worked out once and kept in a file: loading takes a third of the time, and memory holds them packed only."""
    from engine.models.graph import GraphTransformer  # its library is not there on every platform

    dtype = kept_dtype(torch.int8)
    ready = kept(_key(file, adapter, dtype), lambda: _rounded_tensors(file, adapter, dtype, sample))
    tensors = ready.tensors
    head = Int8(tensors["head.whole"], tensors["head.scale"])
    model = GraphTransformer(config, tensors["embedding"].clone(), tensors["norm"], head, streams)
    for layer in range(file.config.layers):
        start = f"layers.{layer}."
        model.add_layer(from_named({name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}))
        loading.told((layer + 1) / file.config.layers)
    ready.release()
    return model


def _rounded_tensors(file: GGUFFile, adapter: Adapter, dtype: torch.dtype, sample: Sequence[int]) -> dict[str, torch.Tensor]:
    embedding = merged_embedding(file, adapter, dtype)
    evened = Balance(file.config, embedding[list(sample)].float())
    head = rounded(embedding)
    tensors = {"embedding": embedding, "norm": file.tensor("output_norm.weight"), "head.whole": head.whole, "head.scale": head.scale}
    for layer, weights in enumerate(merged_layers(file, adapter, torch.float32)):  # rounding once is better than twice
        ready = named(rounded_layer(evened.layer(weights)))
        tensors |= {f"layers.{layer}.{name}": tensor for name, tensor in ready.items()}
    return tensors


def _key(file: GGUFFile, adapter: Adapter, dtype: torch.dtype) -> str:
    """Another for other weights, and for another way of working them out."""
    stat = file.path.stat()
    digest = hashlib.sha256(f"{adapter.fingerprint} {stat.st_size} {stat.st_mtime_ns} {dtype}".encode())
    for module in (__file__, balance.__file__, rounding.__file__, gguf.__file__):
        digest.update(Path(module).read_bytes())
    return digest.hexdigest()[:32]


def merged_embedding(file: GGUFFile, adapter: Adapter, dtype: torch.dtype) -> torch.Tensor:
    """The base's rows, those of the special ids by the adapter."""
    embedding = file.tensor("token_embd.weight", dtype)
    embedding[: len(adapter.special)] = adapter.special.to(dtype)
    return embedding


def merged_layers(file: GGUFFile, adapter: Adapter, dtype: torch.dtype) -> Iterator[LayerWeights]:
    """A layer at a time, the adapter merged into it."""
    for layer in range(file.config.layers):
        yield _layer(file, adapter, layer, dtype)
        loading.told((layer + 1) / file.config.layers)
        if layer % _LAYERS_AT_ONCE == 0 or layer + 1 == file.config.layers:
            _give_back()


def _give_back() -> None:
    """Return to the system what was freed: glibc keeps it where something in use lies above it, 120 MB by the last layer. 4 ms."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):  # other C libraries have none
        trim(0)


def _layer(file: GGUFFile, adapter: Adapter, layer: int, dtype: torch.dtype) -> LayerWeights:
    config = file.config
    heads = {"attn_q": config.heads, "attn_k": config.kv_heads}  # stored permuted

    def stacked(name: str) -> torch.Tensor:
        parts = []
        for part in _STACKED[name]:
            stored = f"blk.{layer}.{part}.weight"
            parts.append(file.rotary_tensor(stored, heads[part]) if part in heads else file.tensor(stored))
        return merge(torch.cat(parts), adapter, layer, name, dtype)

    return LayerWeights(
        attention_norm=file.tensor(f"blk.{layer}.attn_norm.weight", dtype),
        qkv=stacked("qkv"),
        o=stacked("o"),
        mlp_norm=file.tensor(f"blk.{layer}.ffn_norm.weight", dtype),
        gate_up=stacked("gu"),
        down=stacked("dn"),
    )

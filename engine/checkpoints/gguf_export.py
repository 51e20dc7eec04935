"""Write a model, its adapter merged in, as one GGUF file of the `llama` architecture, for programs that decode token by token.

The drafting half of the model is lost on them: what is written is what reads causally. Query and key rows are stored permuted, as that
architecture has them; the tokenizer's tables are the base file's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from gguf import GGML_QUANT_SIZES, GGML_QUANT_VERSION, GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType, quants
from torch import Tensor

from engine.checkpoints.adapter import Adapter
from engine.checkpoints.gguf import GGUFFile
from engine.checkpoints.load import merged_embedding, merged_layers
from engine.config import DenseConfig
from engine.models.dense import LayerWeights

# By the name a user gives: how maps are stored, how the embedding is, and what the file says of itself. The embedding is the head too, so
# that four bits of it would cost more than they save; the default model's base does the same.
_F32, _F16, _Q8 = GGMLQuantizationType.F32, GGMLQuantizationType.F16, GGMLQuantizationType.Q8_0
_STORED = {
    "f32": (_F32, _F32, LlamaFileType.ALL_F32),
    "f16": (_F16, _F16, LlamaFileType.MOSTLY_F16),
    "q8_0": (_Q8, _Q8, LlamaFileType.MOSTLY_Q8_0),
    "q4_1": (GGMLQuantizationType.Q4_1, _Q8, LlamaFileType.MOSTLY_Q4_1),
    "q4_0": (GGMLQuantizationType.Q4_0, _Q8, LlamaFileType.MOSTLY_Q4_0),
}
TYPES = tuple(_STORED)
# What the file says anew, and the base's template for conversations: the adapter was trained on another one.
_OWN = ("general.architecture", "general.file_type", "general.name", "general.quantization_version", "tokenizer.chat_template")
_END = "tokenizer.ggml.eos_token_id"


def export_gguf(base: Path, adapter_path: Path, out: Path, kind: str, name: str) -> None:
    """Write `out`, whole or not at all. `kind` is one of `TYPES`. Raises `CheckpointInvalid`, and OSError where it cannot be written."""
    maps, embedding, file_type = _STORED[kind]
    file, adapter = GGUFFile(base), Adapter(adapter_path)
    part = out.with_name(out.name + ".part")
    writer = GGUFWriter(part, "llama")
    writer.add_name(name)
    writer.add_file_type(file_type)
    writer.add_quantization_version(GGML_QUANT_VERSION)
    _copy_fields(writer, base, adapter.layout.end_id)
    _add(writer, "token_embd.weight", merged_embedding(file, adapter, torch.float32), embedding)
    _add(writer, "output_norm.weight", file.tensor("output_norm.weight"), _F32)
    for number, layer in enumerate(merged_layers(file, adapter, torch.float32)):
        for part_name, tensor in _parts(layer, file.config):
            _add(writer, f"blk.{number}.{part_name}.weight", tensor, maps if tensor.dim() == 2 else _F32)
    _write(writer, part)
    part.replace(out)


def _copy_fields(writer: GGUFWriter, base: Path, end_id: int) -> None:
    """The architecture's numbers and the tokenizer's tables, but for the id that ends a text."""
    for field in GGUFReader(base).fields.values():
        if field.name in _OWN or field.name.startswith("GGUF."):
            continue
        value = end_id if field.name == _END else field.contents()
        writer.add_key_value(field.name, value, field.types[0], field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None)


def _parts(layer: LayerWeights, config: DenseConfig) -> Iterator[tuple[str, Tensor]]:
    """A layer's tensors by the names and in the shapes that the architecture has."""
    heads, kv_heads, head_dim = config.heads, config.kv_heads, config.head_dim
    q, k, v = layer.qkv.split([heads * head_dim, kv_heads * head_dim, kv_heads * head_dim])
    gate, up = layer.gate_up.chunk(2)
    yield "attn_norm", layer.attention_norm
    yield "attn_q", interleaved(q, heads)
    yield "attn_k", interleaved(k, kv_heads)
    yield "attn_v", v
    yield "attn_output", layer.o
    yield "ffn_norm", layer.mlp_norm
    yield "ffn_gate", gate
    yield "ffn_up", up
    yield "ffn_down", layer.down


def interleaved(weight: Tensor, heads: int) -> Tensor:
    """Rows in half-rotation order as interleaved rotary wants them: what `GGUFFile.rotary_tensor` undoes."""
    halves = weight.view(heads, 2, weight.shape[0] // heads // 2, weight.shape[1])
    return halves.transpose(1, 2).reshape(weight.shape)


def _add(writer: GGUFWriter, name: str, tensor: Tensor, kind: GGMLQuantizationType) -> None:
    """Rows that no whole number of blocks fills are stored as half floats."""
    if tensor.shape[-1] % GGML_QUANT_SIZES[kind][0]:
        kind = _F16
    writer.add_tensor(name, quants.quantize(np.ascontiguousarray(tensor.numpy()), kind), raw_dtype=kind)


def _write(writer: GGUFWriter, part: Path) -> None:
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    except OSError:
        writer.close()
        part.unlink(missing_ok=True)
        raise
    writer.close()

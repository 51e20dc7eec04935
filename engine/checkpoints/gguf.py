"""Read a GGUF file: its architecture's numbers, its tokenizer's tables, its tensors as float32. Knows no adapter and no device.

Source: the GGUF specification, and the `llama` architecture's convention of storing query and key rows permuted for interleaved
rotary; rows are handed out un-permuted, for half-rotation rotary.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize

from engine.api import CheckpointInvalid
from engine.config import DenseConfig, TokenizerTables

_SUPPORTED = ("llama",)
_ROWS_AT_ONCE = 4096
_CONTROL = 3  # the token type of ids that stand for no text


class GGUFFile:
    """An open GGUF file. The tensors stay on disk (memory-mapped) until each is asked for."""

    def __init__(self, path: Path) -> None:
        """Raises `CheckpointInvalid` when the file cannot be read as GGUF or its architecture is not supported."""
        self.path = path
        try:
            reader = GGUFReader(path)
            self._tensors = {tensor.name: tensor for tensor in reader.tensors}
            self.config = _config(reader)
            self.tokenizer_tables = _tokenizer_tables(reader)
        except KeyError as error:
            raise CheckpointInvalid(f"{path}: field {error} is missing") from None
        except (ValueError, IndexError, OSError, OverflowError, MemoryError) as error:
            raise CheckpointInvalid(f"{path}: not a readable GGUF file ({error}); fetch it again with `mercury-lsp pull`") from None
        # The reader keeps an array for every string of the vocabulary: 160 MB that nobody needs from here on.
        reader.fields.clear()

    def tensor(self, name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The dequantised tensor in `dtype`, in torch's [out, in] order. Raises `CheckpointInvalid` when it is not in the file."""
        try:
            stored = self._tensors[name]
        except KeyError:
            raise CheckpointInvalid(f"{self.path}: tensor {name!r} is missing") from None
        tensor = torch.empty([int(size) for size in reversed(stored.shape)], dtype=dtype)
        # By slices of rows: a whole embedding in float32 would be the largest thing ever held.
        for first in range(0, len(tensor), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            tensor[rows] = torch.from_numpy(np.array(dequantize(stored.data[rows], stored.tensor_type)))
        return tensor

    def rotary_tensor(self, name: str, heads: int) -> torch.Tensor:
        """A query or key map's tensor, its rows in half-rotation order. Shape [heads × head_dim, in]."""
        stored = self.tensor(name)
        pairs = stored.view(heads, stored.shape[0] // heads // 2, 2, stored.shape[1])
        return pairs.transpose(1, 2).reshape(stored.shape)


def _config(reader: GGUFReader) -> DenseConfig:
    architecture = str(_field(reader, "general.architecture"))
    if architecture not in _SUPPORTED:
        raise ValueError(f"architecture {architecture!r} is not supported, only {', '.join(_SUPPORTED)}")

    def number(name: str) -> Any:
        return _field(reader, f"{architecture}.{name}")

    return DenseConfig(
        layers=number("block_count"),
        width=number("embedding_length"),
        heads=number("attention.head_count"),
        kv_heads=number("attention.head_count_kv"),
        head_dim=number("embedding_length") // number("attention.head_count"),
        mlp=number("feed_forward_length"),
        vocab=number("vocab_size"),
        rope_theta=number("rope.freq_base"),
        norm_eps=number("attention.layer_norm_rms_epsilon"),
        max_positions=number("context_length"),
    )


def _tokenizer_tables(reader: GGUFReader) -> TokenizerTables:
    kinds = _field(reader, "tokenizer.ggml.token_type")
    return TokenizerTables(
        pre=_field(reader, "tokenizer.ggml.pre"),
        tokens=tuple(_field(reader, "tokenizer.ggml.tokens")),
        merges=tuple(_field(reader, "tokenizer.ggml.merges")),
        special_ids=tuple(index for index, kind in enumerate(kinds) if kind == _CONTROL),
    )


def _field(reader: GGUFReader, name: str) -> Any:
    """A number, a string or a list, as the file says."""
    return reader.fields[name].contents()

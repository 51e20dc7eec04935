"""Read a GGUF file: its architecture's numbers, its tokenizer's tables, its tensors in a dtype of ours. Knows no adapter and no device.

Sources: the GGUF specification, version 3; and the `llama` architecture's convention of storing query and key rows permuted for
interleaved rotary. Rows are handed out un-permuted, for half-rotation rotary.

The header is parsed here, not by the gguf package's reader, which keeps two arrays for every string of a vocabulary: 1.7 s and 160 MB
against 0.2 s and 20 MB (Zen 5 server core, the default model's base, 2026-11-30). Its table of quantised blocks is used.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

from engine.api import CheckpointInvalid
from engine.config import DenseConfig, TokenizerTables

_SUPPORTED = ("llama",)
_ROWS_AT_ONCE = 4096
_CONTROL = 3  # the token type of ids that stand for no text
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9


class _Tensor(NamedTuple):
    rows: int
    width: int
    kind: GGMLQuantizationType
    offset: int  # bytes from the file's start

    @property
    def row_bytes(self) -> int:
        block, size = GGML_QUANT_SIZES[self.kind]
        return self.width // block * size


class GGUFFile:
    """A GGUF file's header; the tensors are read when each is asked for."""

    def __init__(self, path: Path) -> None:
        """Raises `CheckpointInvalid` when the file cannot be read as GGUF or its architecture is not supported."""
        self.path = path
        try:
            with path.open("rb") as file:
                fields, self._tensors = _header(file)
            self.config = _config(fields)
            self.tokenizer_tables = _tokenizer_tables(fields)
        except KeyError as error:
            raise CheckpointInvalid(f"{path}: field {error} is missing") from None
        except (ValueError, TypeError, OSError, OverflowError, MemoryError, struct.error) as error:
            raise CheckpointInvalid(f"{path}: not a readable GGUF file ({error}); fetch it again with `mercury-lsp pull`") from None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tensors that the file holds."""
        return tuple(self._tensors)

    def tensor(self, name: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """The dequantised tensor in `dtype`, [out, in] or [width]. Raises `CheckpointInvalid` when the file does not hold it."""
        try:
            stored = self._tensors[name]
        except KeyError:
            raise CheckpointInvalid(f"{self.path}: tensor {name!r} is missing") from None
        tensor = torch.empty(stored.rows, stored.width, dtype=dtype)
        with self.path.open("rb") as file:
            file.seek(stored.offset)
            # By slices of rows: a whole embedding in float32 would be the largest thing ever held.
            for first in range(0, stored.rows, _ROWS_AT_ONCE):
                rows = min(_ROWS_AT_ONCE, stored.rows - first)
                raw = np.frombuffer(file.read(rows * stored.row_bytes), dtype=np.uint8)
                if len(raw) < rows * stored.row_bytes:
                    raise CheckpointInvalid(f"{self.path}: the file ends within tensor {name!r}; fetch it again with `mercury-lsp pull`")
                tensor[first : first + rows] = torch.from_numpy(_plain(raw.reshape(rows, -1), stored.kind))
        return tensor[0] if stored.rows == 1 else tensor

    def rotary_tensor(self, name: str, heads: int) -> torch.Tensor:
        """A query or key map's tensor, its rows in half-rotation order. Shape [heads × head_dim, in]."""
        stored = self.tensor(name)
        pairs = stored.view(heads, stored.shape[0] // heads // 2, 2, stored.shape[1])
        return pairs.transpose(1, 2).reshape(stored.shape)


def _plain(raw: np.ndarray, kind: GGMLQuantizationType) -> np.ndarray:
    """Rows of stored bytes as writable float32."""
    return np.array(dequantize(raw.view(np.float32) if kind == GGMLQuantizationType.F32 else raw, kind), dtype=np.float32)


# ------------------------------------------------------------------------------------------------ the header


def _header(file: BinaryIO) -> tuple[dict[str, Any], dict[str, _Tensor]]:
    magic, version, tensor_count, field_count = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError(f"it begins with {magic!r}, version {version}")
    fields = {_string(file): _value(file, _number(file, "<I")) for _ in range(field_count)}
    infos = [_tensor_info(file) for _ in range(tensor_count)]
    alignment = fields.get("general.alignment", 32)
    start = math.ceil(file.tell() / alignment) * alignment
    return fields, {name: tensor._replace(offset=start + tensor.offset) for name, tensor in infos}


def _tensor_info(file: BinaryIO) -> tuple[str, _Tensor]:
    name = _string(file)
    shape = [_number(file, "<Q") for _ in range(_number(file, "<I"))]  # the fastest dimension first
    kind, offset = GGMLQuantizationType(_number(file, "<I")), _number(file, "<Q")
    return name, _Tensor(rows=math.prod(shape[1:]), width=shape[0], kind=kind, offset=offset)


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _number(file, _SCALARS[kind])
    item, count = struct.unpack("<IQ", file.read(12))
    if item in (_STRING, _ARRAY):
        return [_value(file, item) for _ in range(count)]
    one = _SCALARS[item][1:]
    return list(struct.unpack(f"<{count}{one}", file.read(count * struct.calcsize(one))))


def _string(file: BinaryIO) -> str:
    size = _number(file, "<Q")
    raw = file.read(size)
    if len(raw) < size:
        raise ValueError("it ends within its header")
    return raw.decode()


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _config(fields: dict[str, Any]) -> DenseConfig:
    architecture = fields["general.architecture"]
    if architecture not in _SUPPORTED:
        raise ValueError(f"architecture {architecture!r} is not supported, only {', '.join(_SUPPORTED)}")

    def number(name: str) -> Any:
        return fields[f"{architecture}.{name}"]

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


def _tokenizer_tables(fields: dict[str, Any]) -> TokenizerTables:
    kinds = fields["tokenizer.ggml.token_type"]
    return TokenizerTables(
        pre=fields["tokenizer.ggml.pre"],
        tokens=tuple(fields["tokenizer.ggml.tokens"]),
        merges=tuple(fields["tokenizer.ggml.merges"]),
        special_ids=tuple(index for index, kind in enumerate(kinds) if kind == _CONTROL),
    )

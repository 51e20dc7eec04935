"""The form in which a run travels to a machine that has only torch: the base's stored blocks and rows in small files, an adapter back.

Imports torch, numpy and safetensors only. Knows no text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.training.base import Base, Shape, assemble
from engine.training.blocks import Row

MANIFEST = "manifest.json"
LARGEST_PART = 24 << 20
LARGEST_RESULT = 15_000_000


def write_tensors(folder: Path, stem: str, tensors: Iterable[tuple[str, Tensor]], largest: int) -> list[str]:
    """Write tensors into files of at most `largest` bytes, the large ones cut into pieces; the files' names."""
    names: list[str] = []
    held: dict[str, Tensor] = {}
    room = largest - 65536  # the header's share

    def flush() -> None:
        if held:
            names.append(f"{stem}-{len(names):02}.safetensors")
            save_file(held, folder / names[-1])
            held.clear()

    for name, tensor in tensors:
        rows = max(1, room * len(tensor) // max(1, tensor.numel() * tensor.element_size()))
        for number, first in enumerate(range(0, len(tensor), rows)):
            piece = tensor[first : first + rows].contiguous().clone()
            if sum(other.numel() * other.element_size() for other in (*held.values(), piece)) > room:
                flush()
            held[f"{name}#{number}"] = piece
    flush()
    return names


def read_tensors(folder: Path, names: Iterable[str]) -> dict[str, Tensor]:
    """The tensors of some files, their pieces joined."""
    pieces: dict[str, dict[int, Tensor]] = {}
    for file in names:
        for key, piece in load_file(folder / file).items():
            name, _, number = key.rpartition("#")
            pieces.setdefault(name, {})[int(number)] = piece
    return {name: torch.cat([found[number] for number in sorted(found)]) for name, found in pieces.items()}


def write_manifest(folder: Path, *, shape: Shape, base: Sequence[str], rows: Sequence[str], ids: dict[str, int]) -> None:
    """Say what parts there are. It is written last: where it is, they are whole."""
    content = {"shape": asdict(shape), "base": base, "rows": rows, "ids": ids}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1))


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest. Raises `FileNotFoundError` naming the parts that have not arrived."""
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    missing = [name for name in (*manifest["base"], *manifest["rows"]) if not (folder / name).exists()]
    if missing:
        raise FileNotFoundError(f"{folder}: parts are missing: {', '.join(missing)}")
    return manifest


def read_parts_base(folder: Path, manifest: dict[str, Any], dtype: torch.dtype = torch.bfloat16) -> Base:
    """The base from its parts: tensors as the GGUF file stores them, under `NAME:TYPE`."""
    stored = {name.rpartition(":")[0]: dequantised(tensor, name.rpartition(":")[2]) for name, tensor in _stored(folder, manifest)}
    return assemble(Shape(**manifest["shape"]), lambda name: stored[name], dtype)


def _stored(folder: Path, manifest: dict[str, Any]) -> Iterable[tuple[str, Tensor]]:
    return read_tensors(folder, manifest["base"]).items()


def dequantised(stored: Tensor, kind: str) -> Tensor:
    """Float32 from a tensor's stored blocks, [rows, bytes] uint8. Source: GGUF's block layouts."""
    if kind == "F32":
        return stored.float()
    size = {"Q4_1": 20, "Q8_0": 34}[kind]
    blocks = stored.reshape(-1, size)
    scale = _halves(blocks[:, :2])
    if kind == "Q8_0":
        values = blocks[:, 2:].contiguous().view(torch.int8).float() * scale
    else:
        packed = blocks[:, 4:]
        values = torch.cat([packed & 15, packed >> 4], dim=1).float() * scale + _halves(blocks[:, 2:4])
    return values.reshape(stored.shape[0], -1)


def _halves(pair: Tensor) -> Tensor:
    return pair.contiguous().view(torch.float16).float()


def rows_as_tensors(number: int, rows: Sequence[Row]) -> list[tuple[str, Tensor]]:
    """Rows of one length class: ids end to end (16 bits each), a bit each for what is copied; lengths, middles' starts, if own text."""
    ids = np.concatenate([np.array(row.ids, dtype=np.uint16) for row in rows])
    sizes = np.array([[len(row.ids), row.start, row.own] for row in rows], dtype=np.int32)
    copied = np.packbits([place in row.copied for row in rows for place in range(len(row.ids))])
    tensors = {"ids": ids.view(np.int16), "copied": copied, "sizes": sizes}
    return [(f"{number}.{name}", torch.from_numpy(tensor)) for name, tensor in tensors.items()]


def rows_from_tensors(tensors: dict[str, Tensor]) -> list[Row]:
    """The rows again."""
    rows: list[Row] = []
    for number in sorted({name.partition(".")[0] for name in tensors}, key=int):
        ids = tensors[f"{number}.ids"].numpy().view(np.uint16)
        bits = np.unpackbits(tensors[f"{number}.copied"].numpy())
        first = 0
        for length, start, own in tensors[f"{number}.sizes"].tolist():
            copied = frozenset(np.flatnonzero(bits[first : first + length]).tolist())
            rows.append(Row(ids=tuple(ids[first : first + length].tolist()), start=start, copied=copied, own=bool(own)))
            first += length
    return rows

"""Adapters as files: bf16 tensors and the metadata that says what prompts they were trained on. Knows no run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.config import InfillLayout
from engine.training.base import Shape, adapter_names


def export_adapter(
    path: Path, adapter: Mapping[str, Tensor], shape: Shape, layout: InfillLayout, *, name: str, base: str, positions: int
) -> None:
    """Write an adapter in the form that `engine.checkpoints.adapter` reads."""
    assert sorted(adapter) == sorted(adapter_names(shape))
    metadata = {
        "name": name,
        "base": base,
        "rank": str(shape.rank),
        "chain": str(shape.chain),
        "layout": "path related suffix prefix",
        "path_id": str(layout.path_id),
        "related_id": "" if layout.related_id is None else str(layout.related_id),
        "edit_ids": msgspec.json.encode(layout.edit).decode(),
        "chat_ids": msgspec.json.encode(layout.chat).decode(),
        "suffix_id": str(layout.suffix_id),
        "prefix_id": str(layout.prefix_id),
        "end_of_middle_id": str(layout.end_id),
        "mask_id": str(layout.mask_id),
        "block": str(layout.block),
        "trained_tokens_per_row": str(layout.context),
        "positions_seen": str(positions),
    }
    part = path.with_suffix(".part")
    save_file({key: value.to(torch.bfloat16).contiguous().cpu() for key, value in adapter.items()}, part, metadata=metadata)
    part.replace(path)


def read_adapter(path: Path) -> dict[str, Tensor]:
    """The tensors of an adapter, by name."""
    return load_file(path)


def positions_seen(path: Path) -> int:
    """How many positions an adapter was trained on, by its metadata; 0 where that says nothing."""
    with safe_open(path, "pt") as opened:
        return int((opened.metadata() or {}).get("positions_seen", "0"))

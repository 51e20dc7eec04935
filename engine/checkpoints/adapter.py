"""Read an adapter: low-rank additions to every linear map, rows for the special ids, and the prompt layout it was trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from engine.api import CheckpointInvalid
from engine.config import ChatIds, EditIds, InfillLayout


class Adapter:
    """A file of `layers.i.map.A` [rank, in], `layers.i.map.B` [out, rank], `special` [ids, width]. A tensor is read when asked for."""

    def __init__(self, path: Path) -> None:
        """Raises `CheckpointInvalid` when the file is not safetensors or lacks what an adapter must say."""
        self.path = path
        try:
            with safe_open(path, framework="pt") as file:
                metadata: dict[str, str] = file.metadata() or {}
        except (SafetensorError, OSError) as error:
            raise CheckpointInvalid(f"{path}: not a readable adapter ({error})") from None
        self.layout = _layout(metadata, path)
        self.special = self._tensor("special")
        self.chain: tuple[Tensor, Tensor] | None = None
        if "chain" in metadata:
            self.chain = self._tensor("chain.in"), self._tensor("chain.out")

    @property
    def fingerprint(self) -> str:
        """Tells it from every other one: no step of training leaves the special rows as they were."""
        return hashlib.sha256(self.special.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:16]

    def delta(self, layer: int, name: str) -> Tensor:
        """What the adapter adds to a map's weight, float32 [out, in]. Raises `CheckpointInvalid` when the layer is not in it."""
        a, b = self._tensor(f"layers.{layer}.{name}.A"), self._tensor(f"layers.{layer}.{name}.B")
        return b.float() @ a.float()

    def _tensor(self, name: str) -> Tensor:
        try:
            with safe_open(self.path, framework="pt") as file:
                tensor: Tensor = file.get_tensor(name)
        except SafetensorError as error:
            raise CheckpointInvalid(f"{self.path}: tensor {name!r} cannot be read ({error})") from None
        return tensor


# What earlier adapters do not say is what they were trained with.
_DEFAULTS = {"block": "8", "related_id": "", "edit_ids": "null", "chat_ids": "null"}


def _layout(metadata: Mapping[str, str], path: Path) -> InfillLayout:
    said = {**_DEFAULTS, **metadata}
    try:
        return InfillLayout(
            path_id=int(said["path_id"]),
            suffix_id=int(said["suffix_id"]),
            prefix_id=int(said["prefix_id"]),
            end_id=int(said["end_of_middle_id"]),
            mask_id=int(said["mask_id"]),
            context=int(said["trained_tokens_per_row"]),
            block=int(said["block"]),
            related_id=int(said["related_id"]) if said["related_id"] else None,
            edit=msgspec.json.decode(said["edit_ids"], type=EditIds | None),
            chat=msgspec.json.decode(said["chat_ids"], type=ChatIds | None),
        )
    except (KeyError, ValueError, msgspec.MsgspecError) as error:
        raise CheckpointInvalid(f"{path}: the adapter's metadata does not say its layout ({error})") from None


def merge(weight: Tensor, adapter: Adapter, layer: int, name: str, dtype: torch.dtype) -> Tensor:
    """`weight` [out, in] float32 with the adapter's addition, in `dtype`. Changes `weight` in place.

    Raises `CheckpointInvalid` when their shapes differ.
    """
    delta = adapter.delta(layer, name)
    if delta.shape != weight.shape:
        raise CheckpointInvalid(f"{adapter.path}: layers.{layer}.{name} is {list(delta.shape)}, the base has {list(weight.shape)}")
    return weight.add_(delta).to(dtype)

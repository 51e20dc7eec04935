"""Loads the adapters that are measured, and says which they are. Knows no question that is put to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchmarks import record
from benchmarks.infilling import Contender
from engine.checkpoints import catalog

if TYPE_CHECKING:
    from engine.engine import LocalEngine


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter as results name it: its file, and what its metadata tells."""

    file: str
    sha256: str
    base: str
    context: int
    block: int
    chain: bool
    calibrated: bool  # whether weights of its confidence lie beside it
    positions_seen: int | None  # in training; None where it does not say


def load(paths: Sequence[Path], base: Path | None, dtype: str, threads: int) -> list[tuple[Contender, Described]]:
    """Load each adapter onto the base (by default the pulled one). Raises `ModelMissing` or `CheckpointInvalid`."""
    import torch

    torch.set_num_threads(threads)
    base = base or catalog.find(catalog.DEFAULT).gguf
    return [_load(path, label, base, dtype) for path, label in zip(paths, labels(paths), strict=True)]


def shipped() -> Path:
    """The adapter that the package carries."""
    return catalog.place(catalog.lookup(catalog.DEFAULT)).adapter


def labels(paths: Sequence[Path]) -> list[str]:
    """Short names: the folder's where a file is just called `adapter`; numbered where two would be the same."""
    names = [path.resolve().parent.name if path.stem == "adapter" else path.stem for path in paths]
    return names if len(set(names)) == len(names) else [f"{name} {number}" for number, name in enumerate(names, 1)]


def _load(path: Path, label: str, base: Path, dtype: str) -> tuple[Contender, Described]:
    from engine.checkpoints.load import load_checkpoint
    from engine.engine import LocalEngine, compute_dtype

    checkpoint = load_checkpoint(base, path, compute_dtype(dtype))
    described = Described(
        file=path.name,
        sha256=record.digest(path),
        base=base.name,
        context=checkpoint.layout.context,
        block=checkpoint.layout.block,
        chain=checkpoint.chain is not None,
        calibrated=checkpoint.calibration is not None,
        positions_seen=_positions_seen(path),
    )
    engine = LocalEngine(checkpoint, label)
    fitted_on = frozenset(checkpoint.calibration.fitted_on if checkpoint.calibration else ())
    return Contender(label, engine, partial(_first_id, engine), fitted_on), described


def _positions_seen(path: Path) -> int | None:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        said = (file.metadata() or {}).get("positions_seen", "")
    return int(said) if said.isdigit() else None


def _first_id(engine: LocalEngine, text: str) -> int | None:
    return next(iter(engine.tokenizer.encode(text)), None)

"""Packs a base and rows for a machine that has only torch, and joins the adapter that comes back.

python -m engine.training.pack --base GGUF --data DIR… [--own JSONL] [--edits JSONL] [--chat JSONL] --rows N --into FOLDER
python -m engine.training.pack --base GGUF --join FOLDER --out ADAPTER
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from gguf import GGUFReader
from torch import Tensor

from engine.tokenizer import TextTokenizer
from engine.training.base import Shape
from engine.training.base_file import read_base
from engine.training.export import export_adapter
from engine.training.mixture import Sources, mixed_rows
from engine.training.parts import LARGEST_PART, read_tensors, rows_as_tensors, write_manifest, write_tensors
from engine.training.run import default_layout

_ROWS_A_TENSOR = 4096


def pack_run(base: Path, sources: Sources, rows: int, seed: int, folder: Path) -> None:
    """Write everything that a run needs into `folder`, in parts of at most 24 MiB."""
    folder.mkdir(parents=True, exist_ok=True)
    shape, tokenizer = _shape(base)
    layout = default_layout(1024)
    source = mixed_rows(sources, tokenizer, layout, seed)

    def drawn() -> Iterator[tuple[str, Tensor]]:
        for number in range(0, rows, _ROWS_A_TENSOR):
            rng = random.Random(f"{seed}/packed/{number}")
            yield from rows_as_tensors(number, [source.row(rng) for _ in range(min(_ROWS_A_TENSOR, rows - number))])

    write_manifest(
        folder,
        shape=shape,
        base=write_tensors(folder, "base", _stored(base), LARGEST_PART),
        rows=write_tensors(folder, "rows", drawn(), LARGEST_PART),
        ids={"mask_id": layout.mask_id, "end_id": layout.end_id},
    )


def join(base: Path, folder: Path, out: Path, name: str) -> None:
    """Write the adapter that came back in parts as one file."""
    shape, _ = _shape(base)
    result = json.loads((folder / "result.json").read_text())
    adapter = read_tensors(folder, result["files"])
    export_adapter(out, adapter, shape, default_layout(1024), name=name, base=base.stem, positions=result["positions"])


def _shape(base: Path) -> tuple[Shape, TextTokenizer]:
    read, tokenizer = read_base(base)
    return read.shape, tokenizer


def _stored(base: Path) -> Iterator[tuple[str, Tensor]]:
    for tensor in GGUFReader(base).tensors:
        yield f"{tensor.name}:{tensor.tensor_type.name}", torch.from_numpy(tensor.data.copy())


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.training.pack", description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument("--own", type=Path)
    parser.add_argument("--edits", type=Path)
    parser.add_argument("--chat", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path)
    parser.add_argument("--join", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--name", default="quicksilver-135m")
    args = parser.parse_args()
    if args.join:
        join(args.base, args.join, args.out, args.name)
    else:
        sources = Sources(data=tuple(args.data), own=args.own, edits=args.edits, chat=args.chat)
        pack_run(args.base, sources, args.rows, args.seed, args.into)
    return 0


if __name__ == "__main__":
    sys.exit(_main())

"""What does a longer context cost? One long text is read at once, and the loss of its tokens told by how far from its beginning they stand.

For the model as it is, up to the positions it was trained on, and with `--context` raised, which stretches all of them
(`engine.config.reaching`).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from benchmarks import record
from benchmarks.tables import Table, show
from engine.cache import CacheSlot
from engine.canvas import clean_and_blocks
from engine.checkpoints import catalog
from engine.checkpoints.load import Checkpoint, load_checkpoint
from engine.config import SPARE
from engine.decode import PREFILL_CHUNK
from engine.engine import compute_dtype, default_threads

_WINDOW = 512  # tokens before each place, whose losses are one figure
_SUFFIXES = (".py", ".ts", ".lua", ".md", ".go", ".rs", ".java", ".js", ".c", ".h")


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 where there is too little text."""
    args = _arguments(argv)
    torch.set_num_threads(default_threads())
    origin = record.origin()
    rows = []
    for context in (None, *args.contexts):
        files = catalog.find(args.model)
        checkpoint = load_checkpoint(files.gguf, files.adapter, compute_dtype("auto"), context)
        ids = checkpoint.tokenizer.encode(_text(args.data))
        if len(ids) < max(args.places):
            print(f"{args.data}: {len(ids)} tokens of text, {max(args.places)} are wanted", file=sys.stderr)
            return 1
        rows.append(_row(checkpoint, context, ids, args))
        record.append(args.results, {**origin, "model": args.model, "case": "context", **rows[-1]})
    show(_table(rows, args.places), Console(width=150))
    return 0


def _row(checkpoint: Checkpoint, context: int | None, ids: Sequence[int], args: argparse.Namespace) -> dict[str, Any]:
    most = checkpoint.transformer.config.max_positions
    started = time.perf_counter()
    losses = _losses(checkpoint, ids[: min(most, max(args.places))])
    nats = {str(place): round(float(losses[place - _WINDOW : place].mean()), 3) for place in args.places if place <= most}
    return {
        "context": context or most,
        "stretched": context is not None,
        "nats a token before": nats,
        "s": round(time.perf_counter() - started, 1),
    }


@torch.inference_mode()
def _losses(checkpoint: Checkpoint, ids: Sequence[int]) -> torch.Tensor:
    """Of each token but the first, after all those before it."""
    ids = [checkpoint.layout.prefix_id, *ids]
    slot = CacheSlot(checkpoint.transformer.config, len(ids) + SPARE, checkpoint.transformer.dtype)
    found = []
    for start in range(0, len(ids) - 1, PREFILL_CHUNK):
        chunk = ids[start : start + PREFILL_CHUNK]
        hidden = checkpoint.transformer.forward(clean_and_blocks(chunk, start), slot)
        slot.commit(chunk)
        logs = torch.log_softmax(checkpoint.transformer.head(hidden).float(), dim=-1)
        wanted = torch.tensor(ids[start + 1 : start + 1 + len(chunk)])
        found.append(-logs[torch.arange(len(wanted)), wanted])
    return torch.cat(found)


def _text(folder: Path) -> str:
    """The folder's source files, one after the other, in the order of their names."""
    return "\n".join(_files(folder))


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file() and not any(part.startswith(".") or part == "node_modules" for part in path.parts):
            yield f"{os.fspath(path.relative_to(folder))}\n{path.read_text('utf-8', errors='replace')}"


def _table(rows: Sequence[dict[str, Any]], places: Sequence[int]) -> Table:
    told = [
        [
            f"{row['context']}{', stretched' if row['stretched'] else ''}",
            *(f"{row['nats a token before'].get(str(place), '–')}" for place in places),
            f"{row['s']} s",
        ]
        for row in rows
    ]
    return Table(f"Nats a token in the {_WINDOW} before a place", ["context", *map(str, places), "read in"], told)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_context", description=__doc__)
    parser.add_argument("--model", default=catalog.DEFAULT)
    parser.add_argument(
        "--data", type=Path, default=record.ROOT / "engine", metavar="FOLDER", help="source files; the longest text comes of all"
    )
    parser.add_argument("--contexts", type=int, nargs="*", default=[16_384], help="raised to these")
    parser.add_argument("--places", type=int, nargs="*", default=[1024, 2048, 4096, 8192, 12_288, 16_384])
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

"""How long does one forward of the default model take, by the way it is computed? By rows and cached positions, all ways in turns.

Beside it stands the time in which as many threads read as many bytes as the int8 weights have: no forward can be faster.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:  # what imports torch waits until the number of its threads is set
    from engine.models.transformer import Transformer

_WEIGHT_BYTES = 135_000_000
_BUSY = "while True: pass"


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # before torch is there
    import torch

    torch.set_num_threads(args.threads)
    with _busy(args.busy), torch.inference_mode():
        table = _measured(args)
    Console(width=140).print(table)
    return 0


def _measured(args: argparse.Namespace) -> Table:
    paths = {name: _loaded(name) for name in args.dtypes}
    load = f"beside {args.busy} busy processes" if args.busy else "quiet"
    table = Table("rows", "cached", *args.dtypes, title=f"{args.threads} threads, {load}: milliseconds, least and median of {args.rounds}")
    for rows in args.rows:
        for cached in args.cached:
            runs = {name: _forward(path, rows, cached) for name, path in paths.items()}
            table.add_row(str(rows), str(cached), *(_text(times) for times in _in_turns(runs, args.rounds).values()))
    (reading,) = _in_turns({"": _reading()}, args.rounds).values()
    table.add_row(f"reading {_WEIGHT_BYTES // 10**6} MB", "", _text(reading))
    return table


def _loaded(dtype: str) -> Transformer:
    from engine.checkpoints.catalog import DEFAULT, find
    from engine.checkpoints.load import load_checkpoint
    from engine.engine import compute_dtype

    files = find(DEFAULT)
    started = time.perf_counter()
    transformer = load_checkpoint(files.gguf, files.adapter, compute_dtype(dtype)).transformer
    print(f"{dtype}: loaded in {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return transformer


def _forward(transformer: Transformer, rows: int, cached: int) -> Callable[[], None]:
    """A forward over a clean part and, where there is room, a block behind it, as decoding lays them."""
    from engine.cache import CacheSlot
    from engine.canvas import clean_and_blocks

    slot = CacheSlot(transformer.config, cached + rows, transformer.dtype)
    slot.commit([100] * cached)
    slots = 6 if rows >= 8 else 0
    laid = clean_and_blocks([100] * (rows - slots), cached, [rows - slots - 1] if slots else [], slots, 101)

    def run() -> None:
        transformer.head(transformer.forward(laid, slot)[-min(rows, slots + 2) :])

    run()
    return run


def _reading() -> Callable[[], None]:
    import torch

    bytes_ = torch.ones(_WEIGHT_BYTES // 8, dtype=torch.int64)
    return lambda: None if bytes_.sum() else None


def _in_turns(runs: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each, taken one after the other, so that whatever else the machine does hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - started) * 1e3)
    return times


def _text(times: Sequence[float]) -> str:
    return f"{min(times):.1f} {statistics.median(times):.1f}"


@contextlib.contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that do nothing as fast as they can."""
    processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-forward", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "int8"], help="ways to compute, as the setting `dtype` names them")
    parser.add_argument("--rows", nargs="+", type=int, default=[1, 8, 16, 24, 32, 128])
    parser.add_argument("--cached", nargs="+", type=int, default=[256, 512, 1024, 2048])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--busy", type=int, default=0, help="busy processes beside it")
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())

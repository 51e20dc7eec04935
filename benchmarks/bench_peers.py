"""How fast is a line, and how fast are five, against others? The same holes for all, in turns, each with the prompt warm in its cache.

Ours with verification, ours causally token by token, and llama.cpp on the same weights, exported. `make bench-peers` makes the environment.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from benchmarks import record
from benchmarks.tables import Table, percent, show, times
from engine.checkpoints import catalog

if TYPE_CHECKING:  # what imports torch waits until the number of its threads is set
    from benchmarks.peer_holes import Reference
    from benchmarks.race import Figures, Lead, Outcome
    from benchmarks.writers import Goal, Writer
    from engine.engine import LocalEngine

_OURS, _CAUSAL = "mercury-lsp", "mercury-lsp, causally"
_GOALS = {"a line": 1, "five lines": 5}
# Of our time over theirs.
_TARGETS = {"a line": {"llama.cpp": 0.7}, "five lines": {"llama.cpp": 0.4, _CAUSAL: 1 / 3}}
_MOST = 192  # ids of a text; the ones that are longer are not finished
_READ = 135_000_000  # bytes, as many as the int8 weights have
_VERSIONS = ("llama-cpp-python", "openvino")


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 where no hole could be drawn."""
    args = _arguments(argv)
    os.environ["OMP_NUM_THREADS"] = str(args.threads or 1)  # before torch is there
    from benchmarks.race import race
    from benchmarks.writers import Goal
    from engine.api import EngineConfig
    from engine.engine import LocalEngine

    engine = LocalEngine.load(EngineConfig(threads=args.threads))
    goals = [Goal(engine.tokenizer, engine.layout.end_id, lines, _MOST) for lines in _GOALS.values()]
    holes = _holes(args, goals[-1], engine)
    if not holes:
        print(f"{args.data}: no hole whose text is five lines long", file=sys.stderr)
        return 1
    if args.prepare:
        return 0
    writers, origin, reading = _writers(args, engine), record.origin(), _Reading()
    race(writers, holes[:1], goals, 1, lambda: None)  # what is done once is not counted
    outcomes = race(writers, holes, goals, args.rounds, reading, 60 * args.minutes)
    _report(args, origin, writers, outcomes, reading.ms)
    return 0


def _holes(args: argparse.Namespace, goal: Goal, engine: LocalEngine) -> list[Reference]:
    """Drawn, or those of a file that was written when they were."""
    from benchmarks.peer_holes import Reference, references

    if args.holes_file and args.holes_file.exists():
        return msgspec.json.decode(args.holes_file.read_bytes(), type=list[Reference])[: args.holes]
    holes = references(args.data, goal, engine, count=args.holes, prompt=args.prompt, seed=args.seed)
    if args.holes_file:
        args.holes_file.write_bytes(msgspec.json.encode(holes))
    return holes


def _writers(args: argparse.Namespace, engine: LocalEngine) -> list[Writer]:
    import torch

    from benchmarks.llama_writer import LlamaCpp
    from benchmarks.writers import Ours

    banned, files = engine.decoder.banned.tolist(), _exported(args)
    room, threads = 2 * engine.layout.context, torch.get_num_threads()
    rivals = [
        LlamaCpp(f"llama.cpp, {kind.upper()}", path, banned=banned, context=room, threads=threads, fused=not args.unfused)
        for kind, path in files.items()
    ]
    return [Ours(_OURS, engine, verify=True), Ours(_CAUSAL, engine, verify=False), *rivals]


def _exported(args: argparse.Namespace) -> dict[str, Path]:
    """The default model's files for llama.cpp, written where they are not there."""
    from engine.checkpoints.adapter import Adapter
    from engine.checkpoints.gguf_export import export_gguf

    files = catalog.find(catalog.DEFAULT)
    folder = args.exported or catalog.cache_dir() / "exported" / Adapter(files.adapter).fingerprint
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"{catalog.DEFAULT}.{kind}.gguf" for kind in args.kinds}
    for kind, path in paths.items():
        if not path.exists():
            export_gguf(files.gguf, files.adapter, path, kind, catalog.DEFAULT)
    return paths


class _Reading:
    """How long reading memory takes here, in the same run with as many threads."""

    def __init__(self) -> None:
        import torch

        self._bytes = torch.ones(_READ // 8, dtype=torch.int64)
        self._times: list[float] = []

    def __call__(self) -> None:
        self._bytes.sum()  # the first one only brings back what the others drove out of the caches
        started = time.perf_counter()
        self._bytes.sum()
        self._times.append((time.perf_counter() - started) * 1e3)

    @property
    def ms(self) -> float:
        return statistics.median(self._times)


def _report(
    args: argparse.Namespace, origin: dict[str, Any], writers: Sequence[Writer], outcomes: dict[str, list[list[Outcome]]], reading_ms: float
) -> None:
    """A line of results for each writer, the tables, what became of the targets, and the picture."""
    import torch

    from benchmarks.race import figures_of, lead

    said = {name: getattr(args, name) for name in ("prompt", "seed", "rounds")} | {
        "threads": torch.get_num_threads(),
        "fused": not args.unfused,
    }
    origin["versions"] |= {name: importlib.metadata.version(name) for name in _VERSIONS}
    by_goal: dict[str, dict[str, Figures]] = {goal: {} for goal in _GOALS}
    leads: dict[str, dict[str, Lead | None]] = {goal: {} for goal in _GOALS}
    for writer in writers:
        bound_ms = reading_ms * writer.weight_bytes / _READ
        row: dict[str, Any] = {"writer": writer.name, "weight_mb": round(writer.weight_bytes / 1e6), "reading_ms": round(bound_ms, 2)}
        for place, goal in enumerate(_GOALS):
            mine = outcomes[writer.name][place]
            by_goal[goal][writer.name] = figures_of(mine, bound_ms)
            row[goal] = {"holes": len(mine), **_rounded(by_goal[goal][writer.name])}
            if writer.name != _OURS:
                leads[goal][writer.name] = lead(outcomes[_OURS][place], mine)
                row[goal]["ours_over_this"] = _rounded(leads[goal][writer.name])
            row[goal]["tokens_ms"] = [[each.tokens, round(each.ms, 1)] for each in mine]
        record.append(args.results, {**origin, "settings": said, **row})
    console = Console(width=150)
    for goal in _GOALS:
        show(_table(goal, by_goal[goal], leads[goal]), console)
    console.print(*_verdicts(by_goal, leads), sep="\n")
    _plot(args, outcomes)


def _rounded(struct: Any) -> Any:
    """A struct as JSON has it, its numbers to four digits behind the point."""
    if isinstance(struct, float):
        return round(struct, 4)
    plain = msgspec.to_builtins(struct)
    return {name: _rounded(value) for name, value in plain.items()} if isinstance(plain, dict) else plain


def _table(goal: str, by_writer: dict[str, Figures], leads: dict[str, Lead | None]) -> Table:
    rows = []
    for name, each in by_writer.items():
        against = leads.get(name)
        rows.append(
            (
                name,
                *(f"{value:.0f}" for value in (each.p50, each.p95, each.tokens_per_s)),
                f"{each.tokens_per_forward:.2f}",
                f"{each.step_ms:.1f}",
                f"{each.bound:.1f}",
                percent(each.same.share),
                times(against.time) if against else "",
            )
        )
    columns = ("", "p50 ms", "p95 ms", "tokens/s", "tokens/forward", "ms/forward", "× reading", "same text", "ours over this")
    return Table(
        f"{goal} finished", columns, rows, "Same text: as the unrounded weights write it. × reading: over reading its weights once."
    )


def _verdicts(by_goal: dict[str, dict[str, Figures]], leads: dict[str, dict[str, Lead | None]]) -> list[str]:
    """Against each of those that a target names."""
    from benchmarks.race import verdict

    return [
        verdict(name, goal, against, target, by_goal[goal][_OURS])
        for goal, targets in _TARGETS.items()
        for rival, target in targets.items()
        for name, against in leads[goal].items()
        if name.startswith(rival) and against is not None
    ]


def _plot(args: argparse.Namespace, outcomes: dict[str, list[list[Outcome]]]) -> None:
    from benchmarks.race_plot import draw

    draw(outcomes, "Time to a finished line and to five finished lines", args.plot)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="repositories that did not train, one folder each")
    parser.add_argument("--holes", type=int, default=20, help="how many are filled (default: %(default)s)")
    parser.add_argument("--prompt", type=int, default=700, metavar="N", help="tokens that a prompt has at least (default: %(default)s)")
    parser.add_argument("--kinds", nargs="+", default=["q8_0", "q4_1", "q4_0"], help="how llama.cpp's weights are stored")
    parser.add_argument("--unfused", action="store_true", help="without llama.cpp's flash attention")
    parser.add_argument("--rounds", type=int, default=2, help="the least time of so many counts (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=6, help="after which no further hole is begun (default: %(default)s)")
    parser.add_argument("--threads", type=int, help="of all contenders (default: the engine's own choice)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--holes-file", type=Path, metavar="FILE", help="holes drawn before; written where it is not there")
    parser.add_argument("--prepare", action="store_true", help="only draw holes and write --holes-file")
    parser.add_argument("--exported", type=Path, metavar="FOLDER", help="where exported weights lie (default: in the cache folder)")
    parser.add_argument("--results", type=Path, default=record.RESULTS / "peers.jsonl", metavar="FILE")
    parser.add_argument("--plot", type=Path, default=record.RESULTS / "peers.svg", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

"""How good are next edits? Scenarios of editing are played to the server's own code, and what it offers is compared with what is wanted.

A third of them want no edit. Every scenario is asked several times, each from the start; the time is of the asking alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from benchmarks import next_edit_cases, record, tables
from benchmarks.next_edit_trial import Outcome, attempt
from benchmarks.scenarios import FOLDER, Scenario, read_scenarios
from engine.api import Engine, EngineConfig, MercuryError, load_engine

STRUCTURAL = ("rename", "signature", "repeat", "import")
_COLUMNS = ("", "scenarios", "exact", "place right", "similarity", "shown", "wrong of shown", "p50 ms", "p95 ms", "forwards")


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 with a line that says why not."""
    args = _arguments(argv)
    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # before torch is there
    try:
        origin = record.origin()
        engine = None if args.without_model else load_engine(EngineConfig(threads=args.threads))
        scenarios = _scenarios(args)
        runs = [measure(scenarios, engine) for _ in range(args.rounds)]
    except (MercuryError, ValueError) as error:
        print(f"bench-next-edit: {error}", file=sys.stderr)
        return 1
    outcomes = _with_median_times(runs)
    figures = {name: summed_up(each) for name, each in groups(outcomes).items()}
    for table in (_table(figures), _by_way(outcomes), _faults(outcomes)):
        print(tables.markdown(table)) if args.markdown else tables.show(table, Console(highlight=False, width=140))
    settings = {
        "model": None if engine is None else engine.name,
        **{name: getattr(args, name) for name in ("threads", "rounds", "count", "seed")},
    }
    if args.results:
        what = "held-out files" if args.data else "held-out commits" if args.commits else "scenarios"
        told = {} if args.data or args.commits else {"outcomes": msgspec.to_builtins(outcomes)}
        record.append(args.results, {**origin, "what": f"next-edit, {what}", "settings": settings, "figures": figures, **told})
    return 0


def _scenarios(args: argparse.Namespace) -> list[Scenario]:
    if args.data:
        return next_edit_cases.invented(args.data, args.count, args.seed)
    if args.commits:
        return next_edit_cases.committed(args.commits, args.count, args.seed)
    return read_scenarios(args.scenarios)


def measure(scenarios: Sequence[Scenario], engine: Engine | None) -> list[Outcome]:
    """Each scenario once. The first are played once more beforehand: what a first forward compiles is not counted."""
    for scenario in (*scenarios[:1], *[each for each in scenarios if each.kind == "other"][:1]):
        attempt(scenario, engine)
    return [attempt(scenario, engine) for scenario in scenarios]


def _with_median_times(runs: Sequence[Sequence[Outcome]]) -> list[Outcome]:
    """The outcomes of the first run, each with the median of its times."""
    times = [statistics.median(each.ms for each in several) for several in zip(*runs, strict=True)]
    return [msgspec.structs.replace(outcome, ms=ms) for outcome, ms in zip(runs[0], times, strict=True)]


def groups(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """By kind, and the structural ones and all together."""
    kinds = [*STRUCTURAL, "other", "commit", "none"]
    found = {
        **{kind: [each for each in outcomes if each.kind == kind] for kind in kinds},
        "structural": [each for each in outcomes if each.kind in STRUCTURAL],
        "all": list(outcomes),
    }
    return {name: each for name, each in found.items() if each}


def summed_up(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Shares of the scenarios; of what was wrong, of those in which something was shown."""
    shown = [each for each in outcomes if each.offered is not None]
    wanted = [each for each in outcomes if each.wanted]
    times = sorted(each.ms for each in outcomes)
    return {
        "scenarios": len(outcomes),
        "exact": _share([each.exact for each in outcomes]),
        "place": _share([each.place for each in wanted]),
        "similarity": statistics.fmean(each.similarity for each in outcomes) if outcomes else None,
        "shown": len(shown),
        "wrong": _share([each.wrong for each in shown]),
        "p50_ms": statistics.median(times) if times else None,
        "p95_ms": times[min(len(times) - 1, int(0.95 * len(times)))] if times else None,
        "forwards": statistics.fmean(each.forwards for each in outcomes) if outcomes else None,
    }


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _table(figures: dict[str, dict[str, Any]]) -> tables.Table:
    rows = [
        (
            name,
            str(each["scenarios"]),
            tables.percent(each["exact"]),
            tables.percent(each["place"]),
            tables.number(each["similarity"]),
            str(each["shown"]),
            tables.percent(each["wrong"]),
            *(f"{each[key]:.1f}" if each[key] is not None else "–" for key in ("p50_ms", "p95_ms", "forwards")),
        )
        for name, each in figures.items()
    ]
    return tables.Table("Next edits", _COLUMNS, rows)


def _by_way(outcomes: Sequence[Outcome]) -> tables.Table:
    """What `mercury_lsp.nextedit.gains` counts: of each kind and confidence, how many were offered and how many of them were exact."""
    ways = sorted({(each.offered, each.confidence) for each in outcomes if each.offered is not None and each.offered != "model"})
    rows = []
    for kind, confidence in ways:
        offered = [each for each in outcomes if (each.offered, each.confidence) == (kind, confidence)]
        rows.append((str(kind), tables.number(confidence), str(len(offered)), str(sum(each.exact for each in offered))))
    return tables.Table("By way", ("", "confidence", "offered", "exact"), rows)


def _faults(outcomes: Sequence[Outcome]) -> tables.Table:
    rows = [
        (each.name, each.offered or "nothing", tables.number(each.confidence), tables.number(each.draft), tables.number(each.similarity))
        for each in outcomes
        if not each.exact
    ]
    return tables.Table("Not exact", ("", "offered", "confidence", "model's", "similarity"), rows)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-next-edit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=Path, default=FOLDER, help="a folder of scenarios")
    parser.add_argument("--data", type=Path, help="a folder of held-out files, of which scenarios are made instead")
    parser.add_argument("--commits", type=Path, help="a file of moments in held-out commits, which are played instead")
    parser.add_argument("--count", type=int, default=40, help="of each kind that is made, or of commits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-model", action="store_true", help="only what the syntax trees tell")
    parser.add_argument("--rounds", type=int, default=3, help="times that each scenario is asked; the median time counts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--markdown", action="store_true", help="print the tables for a page")
    parser.add_argument("--results", type=Path, help="a file to add the results to")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

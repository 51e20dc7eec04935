"""How good are a model's suggestions? Holes of held-out files are filled, and lines of them typed by somebody who accepts what is right.

Of two adapters each gets every hole and stretch, in turns first, and ratios are printed. A data folder holds one folder a repository, none
of which trained. Nothing has a deadline unless asked for, so that a seed gives the same figures however busy the machine is.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from benchmarks import contenders, held_out, human_eval, quality_tables, record, tables
from benchmarks.infilling import Contender, fill
from benchmarks.progress import told
from benchmarks.quality import THRESHOLDS, Measured, compared, summed_up
from benchmarks.typing_replay import NO_DEADLINE_MS, replay
from engine.api import InfillRequest, MercuryError, SettingInvalid, StopFlag
from engine.training.corpus import Corpus, read_corpus

T = TypeVar("T")

# Meant for ten minutes, and one, of one thread for one adapter; two take twice as long. A hole, filled twice, took 1.4 s of CPU time and
# a key typed 0.04 s: 48 holes and 1,315 keys of four languages, the shipped adapter in bf16 (AMD EPYC with AVX512-BF16, one thread of two
# cores, 2026-11). The quick size took 63 s. Thirteen repositories gave 228 holes and 38 stretches in 19 languages.
_SIZE = {"holes": 3, "stretches": 2, "length": 150, "languages": 99, "tasks": 400}
_QUICK = {"holes": 1, "stretches": 2, "length": 80, "languages": 4, "tasks": 40}
_WIDTH = 140  # where no terminal says how wide it is


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 with a line that says why not."""
    args = _arguments(argv)
    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # before torch is there: the thread of the replay has to hold to it, too
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        origin = record.origin()
        loaded = contenders.load(args.adapter, args.base, args.dtype, args.threads)
        found = (_human_eval if args.human_eval else _held_out)(args, [contender for contender, _ in loaded], console)
    except MercuryError as error:
        print(f"bench-quality: {error}", file=sys.stderr)
        return 1
    settings = {name: getattr(args, name) for name in ("seed", "deadline_ms", "threads", "dtype")}
    for (contender, adapter), figures in zip(loaded, found, strict=True):
        record.append(args.results, {**origin, "label": contender.label, "adapter": adapter, "settings": settings, **figures})
    return 0


# ------------------------------------------------------------------------------------------------ held-out files


def _held_out(args: argparse.Namespace, contenders: Sequence[Contender], console: Console) -> list[dict[str, Any]]:
    """Measure and print; what to record of each contender."""
    fitted_on = sorted({name for contender in contenders for name in contender.fitted_on})
    cases, stretches, data = _drawn(args, fitted_on)
    measured = measure(contenders, cases, stretches, console, args.deadline_ms)
    qualities = [summed_up(each) for each in measured]
    printed = [table for each, quality in zip(measured, qualities, strict=True) for table in quality_tables.of(each.label, quality)]
    found: list[dict[str, Any]] = [{"what": "held-out", "data": data, "quality": quality} for quality in qualities]
    if len(measured) == 2:
        ratios = compared(*measured)
        printed.append(quality_tables.comparison((measured[0].label, measured[1].label), ratios))
        found[1] |= {"against": measured[0].label, "ratios": ratios}
    _print(printed, args.markdown)
    return found


def _drawn(args: argparse.Namespace, fitted_on: Sequence[str]) -> tuple[list[held_out.Case], list[held_out.Stretch], dict[str, Any]]:
    """What is to be asked, and where it comes from. What is typed comes from no repository that a contender's confidence was fitted on.

    Raises `SettingInvalid` where there is nothing.
    """
    corpus = read_corpus([args.data], held_out=True, whole=True)
    there = held_out.languages_of(corpus)
    languages = [name for name in there if name in args.only] if args.only else there[: args.languages]
    if not languages:
        raise SettingInvalid(f"{args.data}: no source files of these languages; one folder a repository is expected, there are: {there}")
    cases = held_out.draw_cases(corpus, languages, args.holes, args.seed)
    unseen = Corpus(tuple(file for file in corpus.files if file.repo not in fitted_on))
    stretches = held_out.draw_stretches(unseen, languages, args.stretches, args.length, args.seed)
    repositories = corpus.by_repo()
    data = {"files": len(corpus.files), "repositories": sorted(repositories), "languages": languages, "confidence_fitted_on": fitted_on}
    return cases, stretches, data | {name: getattr(args, name) for name in ("holes", "stretches", "length")}


def measure(
    contenders: Sequence[Contender],
    cases: Sequence[held_out.Case],
    stretches: Sequence[held_out.Stretch],
    console: Console,
    deadline_ms: int = NO_DEADLINE_MS,
) -> list[Measured]:
    """Every case and stretch to every contender."""
    measured = [Measured(each.label, [], [], each.fitted_on) for each in contenders]
    both = list(zip(contenders, measured, strict=True))
    for contender in contenders:  # what a first forward compiles is not counted
        contender.engine.infill(InfillRequest(prefix="a = ", suffix="\n", max_tokens=8), StopFlag())
    for turn, case in enumerate(told(cases, "holes", console)):
        for contender, kept in _in_turns(both, turn):
            kept.outcomes.append(fill(contender, case))
    for turn, stretch in enumerate(told(stretches, "stretches typed", console)):
        for contender, kept in _in_turns(both, turn):
            kept.replays.append(replay(contender.engine, stretch, THRESHOLDS, deadline_ms))
    return measured


def _in_turns(both: list[T], turn: int) -> list[T]:
    return both if turn % 2 == 0 else both[::-1]


# ------------------------------------------------------------------------------------------------ HumanEval-Infilling


def _human_eval(args: argparse.Namespace, contenders: Sequence[Contender], console: Console) -> list[dict[str, Any]]:
    """As above, for the tasks of a file."""
    tasks = human_eval.read_tasks(args.human_eval)
    random.Random(args.seed).shuffle(tasks)
    trials: list[tuple[Contender, list[human_eval.Trial]]] = [(each, []) for each in contenders]
    for turn, task in enumerate(told(tasks[: args.tasks], "tasks", console)):
        for contender, kept in _in_turns(trials, turn):
            kept.append(human_eval.attempt(contender, task))
    summaries = {contender.label: human_eval.summary(kept) for contender, kept in trials}
    _print([quality_tables.human_eval(summaries)], args.markdown)
    file = {"file": args.human_eval.name, "sha256": record.digest(args.human_eval), "tasks": len(tasks)}
    return [{"what": "human-eval-infilling", "data": file, "passed": summary} for summary in summaries.values()]


# ------------------------------------------------------------------------------------------------ the command line


def _print(printed: Sequence[tables.Table], markdown: bool) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    for table in printed:
        if markdown:
            print(tables.markdown(table))
        else:
            tables.show(table, console)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=Path, help="a folder of held-out files")
    what.add_argument(
        "--human-eval", type=Path, metavar="FILE", help="tasks of HumanEval-Infilling, .jsonl or .jsonl.gz; their tests run here"
    )
    parser.add_argument("--adapter", type=Path, action="append", help="an adapter to measure, or two to compare (default: the shipped one)")
    parser.add_argument("--base", type=Path, help="the base model, a GGUF file (default: the pulled one)")
    parser.add_argument("--quick", action="store_true", help="a minute instead of ten: the weightiest languages, few holes")
    parser.add_argument("--holes", type=int, help="of each language and kind")
    parser.add_argument("--stretches", type=int, help="of each language, to be typed")
    parser.add_argument("--length", type=int, help="of a stretch, in characters")
    parser.add_argument("--languages", type=int, help="so many, the weightiest in training first")
    parser.add_argument("--only", nargs="+", help="these languages")
    parser.add_argument("--tasks", type=int, help="so many of the file's, drawn by the seed")
    parser.add_argument("--deadline-ms", type=int, default=NO_DEADLINE_MS, help="of an ask while typing (default: none that matters)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", choices=("auto", "float32", "bfloat16"), default="auto")
    parser.add_argument("--markdown", action="store_true", help="print the tables for a page")
    parser.add_argument("--results", type=Path, default=record.RESULTS / "quality.jsonl", help="the file to add the results to")
    args = parser.parse_args(argv)
    for name, size in (_QUICK if args.quick else _SIZE).items():
        if getattr(args, name) is None:
            setattr(args, name, size)
    args.adapter = args.adapter or [contenders.shipped()]
    if len(args.adapter) > 2:
        parser.error("two adapters at most")
    return args


if __name__ == "__main__":
    sys.exit(main())

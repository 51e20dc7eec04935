"""What is a project's own text worth beside the model? Held-out lines are typed without it, with its lines that begin alike, and with
the longest matches of what stands before the cursor on top of them.

A data folder holds one folder a repository, none of which trained. Everything of a repository but the stretch is known.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from benchmarks import contenders, held_out, record, tables
from benchmarks.figures import ratio
from benchmarks.longest_match import Matches
from benchmarks.progress import told
from benchmarks.quality import SHOWN_FROM
from benchmarks.typing_replay import Recall, Remembering, Replay, nothing, replay, saved, typing
from engine.api import Engine, MercuryError, SettingInvalid
from engine.training.corpus import Corpus, SourceFile, read_corpus
from mercury_lsp.languages import language_of
from mercury_lsp.lines import Known, Lines
from mercury_lsp.recall import recalled
from mercury_lsp.session import Snapshot

_SURE = 0.6  # as the server takes lines
_CODE = frozenset("python typescript javascript go rust java c c++ lua shell sql ruby php c#".split())
ARMS = ("the model alone", "lines", "lines and matches")


def arms(stretch: held_out.Stretch, repository: Sequence[SourceFile]) -> dict[str, Recall]:
    """What is known at each cursor of a stretch, by the name of the arm."""
    language, lines = language_of("", stretch.file.path), Lines()
    for file in repository:
        lines.put(file.path, language_of("", file.path), _without(stretch) if file.path == stretch.file.path else file.text)
    others = [file.text for file in repository if file.path != stretch.file.path and language_of("", file.path) == language]
    with_lines = partial(recalled, lines=lines)
    return dict(zip(ARMS, (nothing, with_lines, partial(_either, with_lines, Matches(others).known)), strict=True))


def _without(stretch: held_out.Stretch) -> str:
    return stretch.file.text[: stretch.start] + stretch.file.text[stretch.end :]


def _either(first: Recall, second: Recall, snapshot: Snapshot) -> Known | None:
    known = first(snapshot)
    if known is not None and known.confidence >= _SURE:
        return known
    return second(snapshot) or known


def measure(engine: Engine, stretches: Sequence[held_out.Stretch], corpus: Corpus, console: Console) -> dict[str, list[Replay]]:
    """Every stretch in every arm; the engine is asked once for a hole."""
    found: defaultdict[str, list[Replay]] = defaultdict(list)
    repositories = corpus.by_repo()
    for stretch in told(stretches, "stretches", console):
        asked_once = Remembering(engine)
        for arm, recall in arms(stretch, repositories[stretch.file.repo]).items():
            found[arm].append(replay(asked_once, stretch, [SHOWN_FROM], recall=recall))
    return dict(found)


def figures(replays: Mapping[str, Sequence[Replay]]) -> dict[str, Any]:
    """Of each arm, and how many times as many keys it saves as the one before it."""
    before: Sequence[Replay] | None = None
    found: dict[str, Any] = {}
    for arm, each in replays.items():
        more = None if before is None else ratio(saved(before, SHOWN_FROM), saved(each, SHOWN_FROM))
        found[arm] = {"typing": typing(each, SHOWN_FROM), "keys_saved_to_the_arm_before": more}
        before = each
    return found


def table(found: Mapping[str, Any]) -> tables.Table:
    rows = []
    for arm, each in found.items():
        account, more = each["typing"], each["keys_saved_to_the_arm_before"]
        shares = (
            f"{account.saved:.1%}",
            "" if more is None else tables.times(more),
            account.shown,
            account.right,
            account.part,
            account.wrong,
            account.asks,
        )
        rows.append([arm, *map(str, shares)])
    columns = ("known", "keys saved", "times the row above", "shown", "right", "first word right", "wrong", "asks of the engine")
    return tables.Table("Typing with what the project knows", columns, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 with a line that says why not."""
    parser = argparse.ArgumentParser(prog="bench-memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of held-out files")
    parser.add_argument("--stretches", type=int, default=2, help="of each language")
    parser.add_argument("--length", type=int, default=120, help="of a stretch, in characters")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "memory.jsonl", help="the file to add the results to")
    args = parser.parse_args(argv)
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is there
    try:
        origin = record.origin()
        corpus = read_corpus([args.data], held_out=True, whole=True)
        languages = [language for language in held_out.languages_of(corpus) if language in _CODE]
        stretches = held_out.draw_stretches(corpus, languages, args.stretches, args.length, args.seed)
        if not stretches:
            raise SettingInvalid(f"{args.data}: no source files in which to type; one folder a repository is expected")
        ((contender, adapter),) = contenders.load([contenders.shipped()], None, "auto", 1)
        found = figures(measure(contender.engine, stretches, corpus, Console(stderr=True, soft_wrap=True, highlight=False)))
    except MercuryError as error:
        print(f"bench-memory: {error}", file=sys.stderr)
        return 1
    tables.show(table(found), Console(highlight=False, width=None if sys.stdout.isatty() else 140))
    data = {"repositories": sorted(corpus.by_repo()), "languages": languages, "stretches": args.stretches, "length": args.length}
    settings = {"seed": args.seed, "threshold": SHOWN_FROM, "sure": _SURE}
    row = {**origin, "what": "memory", "adapter": adapter, "data": data, "settings": settings, "arms": found}
    record.append(args.results, msgspec.to_builtins(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How fast is ghost text while somebody types? Held-out files are typed into the real server, at a human pace and as fast as it answers.

At the human pace a stroke takes back the request before it, as editors do; its milliseconds count only where the answer came first.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import held_out, record
from benchmarks.typing_client import Asked, Editor
from benchmarks.typist import writing
from engine.training.corpus import read_corpus

_CHARACTERS = 3.2  # of code a token of the default model has
_EACH = 4  # stretches drawn of every language; those that stand too near to their file's beginning do not count
# Seconds without a key after which the editor asks. VS Code asks at once, Neovim and Copilot's clients wait.
_HURRIED = "as fast as answered"
_PACES = {"human": 0.0, "human, rested": 0.15, _HURRIED: 0.0}
_COUNTED = ("asks", "reused", "cancelled", "drafts", "late", "forwards", "tokens", "prefill_tokens", "suggestions")


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded, 1 where no file could be drawn."""
    args = _arguments(argv)
    corpus = read_corpus([args.data], held_out=True, whole=True)
    stretches = held_out.draw_stretches(corpus, held_out.languages_of(corpus), _EACH, args.length, args.seed)
    long = [stretch for stretch in stretches if stretch.start > max(args.contexts) * _CHARACTERS * 0.8][: args.stretches]
    if not long:
        print(f"{args.data}: no file is long enough for a context of {max(args.contexts)} tokens", file=sys.stderr)
        return 1
    origin = record.origin()
    rows = asyncio.run(_measured(args, long))
    for row in rows:
        record.append(args.results, {**origin, "settings": _said(args), **row})
    Console(width=150).print(_table(rows, len(long)))
    return 0


async def _measured(args: argparse.Namespace, stretches: Sequence[held_out.Stretch]) -> list[dict[str, Any]]:
    """A row for each context and pace, all of one server, which is warm."""
    settings = {} if args.deadline is None else {"deadlineMs": args.deadline}
    editor = await Editor.start(*(("--model", args.model) if args.model else ()), **settings)
    await editor.warm()
    rows = []
    for context in args.contexts:
        for pace in _PACES:
            before, account, began = editor.used(), await editor.figures(), asyncio.get_running_loop().time()
            editor.pings.clear()
            asked: list[Asked] = []
            for stretch in stretches:
                hands = writing(stretch, int(context * _CHARACTERS), args.seed)
                asked += await editor.write(hands, hurry=pace == _HURRIED, rest=_PACES[pace], tells=not args.untold)
            minutes = (asyncio.get_running_loop().time() - began) / 60
            now, after = await editor.figures(), editor.used()
            counts = {name: now[name] - account[name] for name in _COUNTED}
            rows.append(_row(context, pace, asked, counts, editor.pings) | {
                "cpu_s_a_minute": round((after.cpu - before.cpu) / minutes, 1),
                "minutes": round(minutes, 2),
                "peak_mib": round(after.peak),
            })  # fmt: skip
    await editor.end()
    return rows


def _row(context: int, pace: str, asked: Sequence[Asked], counts: dict[str, int], pings: Sequence[float]) -> dict[str, Any]:
    times = sorted(each.ms for each in asked if each.ms is not None)
    return {
        "context": context,
        "pace": pace,
        "strokes": len(asked),
        "answered": len(times),
        "shown": sum(each.shown for each in asked),
        **{f"p{share}": round(_at(times, share), 1) for share in (50, 95, 99)},
        "ping_p95": round(_at(sorted(pings), 95), 1),
        "ping_most": round(max(pings, default=0.0), 1),
        **counts,
    }


def _at(ordered: Sequence[float], share: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)] if ordered else 0.0


def _table(rows: Sequence[dict[str, Any]], stretches: int) -> Table:
    title = f"milliseconds from stroke to answer; {stretches} stretches"
    columns = "context,pace,strokes,p50,p95,p99,shown,reused,cut short,cancelled,tokens/forward,forwards/draft,prefill/draft,ping p95,most"
    table = Table(*columns.split(","), "CPU s/min", "peak MiB", title=title)
    for row in rows:
        drafts = row["drafts"] or 1
        table.add_row(
            str(row["context"]),
            row["pace"],
            str(row["strokes"]),
            *(f"{row[name]:.0f}" for name in ("p50", "p95", "p99")),
            *(f"{part / (whole or 1):.0%}" for part, whole in (
                (row["shown"], row["answered"]), (row["reused"], row["asks"]), (row["late"], row["drafts"]), (row["cancelled"], row["asks"])
            )),
            f"{row['tokens'] / (row['forwards'] or 1):.2f}",
            f"{row['forwards'] / drafts:.1f}",
            f"{row['prefill_tokens'] / drafts:.0f}",
            f"{row['ping_p95']:.1f}",
            f"{row['ping_most']:.1f}",
            f"{row['cpu_s_a_minute']:.1f}",
            str(row["peak_mib"]),
        )  # fmt: skip
    return table


def _said(args: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in ("deadline", "seed", "stretches", "length", "model", "untold")}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="repositories that did not train, one folder each")
    parser.add_argument("--contexts", type=int, nargs="+", default=[300, 1000, 4000], metavar="N", help="tokens before the cursor")
    parser.add_argument("--stretches", type=int, default=6, help="how many are typed (default: %(default)s)")
    parser.add_argument("--length", type=int, default=120, help="characters of each (default: %(default)s)")
    parser.add_argument("--deadline", type=int, metavar="MS", help="the setting `deadlineMs` (default: the server's own)")
    parser.add_argument("--untold", action="store_true", help="the editor does not say where the cursor was put")
    parser.add_argument("--model", help="what the server is started with (default: its own)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "keystroke.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

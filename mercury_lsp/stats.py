"""What became of suggestions, kept in a file where the user wants that, and `mercury-lsp stats`, which prints it. Knows no text.

A server adds a line when it ends. The file is cut to its newer half when it grows too long; nothing of it leaves the machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from engine.checkpoints.catalog import cache_dir
from mercury_lsp.account import Figures, Times

_MOST_LINES = 1_000  # 500 bytes each


class Line(msgspec.Struct, frozen=True):
    """One server's figures, and when it ended."""

    ended: str
    figures: Figures


def path() -> Path:
    return cache_dir() / "stats.jsonl"


def keep(figures: Figures) -> None:
    """Add what a server saw. Raises OSError."""
    if not figures.asks:
        return
    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.read_bytes().splitlines()[-_MOST_LINES:] if file.is_file() else []
    if len(lines) == _MOST_LINES:
        file.write_bytes(b"\n".join(lines[_MOST_LINES // 2 :]) + b"\n")
    with file.open("ab") as out:
        out.write(msgspec.json.encode(Line(datetime.now(UTC).isoformat(timespec="seconds"), figures)) + b"\n")


def kept() -> list[Line]:
    """What can be read of the file, the oldest first."""
    found = []
    for line in path().read_bytes().splitlines() if path().is_file() else []:
        try:
            found.append(msgspec.json.decode(line, type=Line))
        except msgspec.MsgspecError:  # of another version, or cut short
            continue
    return found


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print the figures of all servers together as JSON")
    command.set_defaults(module="stats")


def run(args: argparse.Namespace) -> int:
    lines = kept()
    if not lines:
        print(f"Nothing in {path()}. Set `mercury.stats` to true, and servers write their figures there when they end.", file=sys.stderr)
        return 1
    total = added([line.figures for line in lines])
    if args.json:
        print(msgspec.json.encode(total).decode())
        return 0
    print(f"{len(lines)} servers from {lines[0].ended} to {lines[-1].ended}")
    for name, value in _rows(total):
        print(f"  {name:28}{value:>10}")
    return 0


def added(figures: Sequence[Figures]) -> Figures:
    """Counts summed; milliseconds are the newest server's that has any."""
    total = msgspec.structs.asdict(Figures())
    for each in figures:
        for name, value in msgspec.structs.asdict(each).items():
            if isinstance(value, int):
                total[name] += value
            else:
                total[name] = value or total[name]
    return Figures(**total)


def _rows(total: Figures) -> list[tuple[str, str]]:
    def share(part: int, whole: int) -> str:
        return f"{part / whole:.0%}" if whole else "–"

    def times(values: Times | None) -> str:
        return f"{values.p50:.0f}/{values.p95:.0f}" if values else "–"

    return [
        ("asked for", str(total.asks)),
        ("answered by what was shown", share(total.reused, total.asks)),
        ("overtaken or taken back", share(total.cancelled, total.asks)),
        ("suggestions shown", str(total.suggestions)),
        ("accepted", share(total.accepted, total.suggestions)),
        ("typed to the end", share(total.typed, total.suggestions)),
        ("rejected", share(total.rejected, total.suggestions)),
        ("words or lines taken", str(total.partly)),
        ("characters put in", str(total.characters)),
        ("tokens a forward", f"{total.tokens / total.forwards:.2f}" if total.forwards else "–"),
        ("answer, ms (p50/p95)", times(total.answer_ms)),
        ("accepted after, ms", times(total.accepted_ms)),
        ("word or line taken after, ms", times(total.partly_ms)),
        ("typed to the end after, ms", times(total.typed_ms)),
        ("rejected after, ms", times(total.rejected_ms)),
    ]

"""Tables for a terminal and for a page. Knows no figure's meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.figures import Ratio, Share


class Table(NamedTuple):
    """Text by row; the first column is on the left, the others on the right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def show(table: Table, console: Console) -> None:
    """Print for a terminal."""
    shown = RichTable(
        title=table.title, title_justify="left", title_style="bold", caption=table.note, caption_justify="left", box=box.SIMPLE
    )
    for number, column in enumerate(table.columns):
        widest = max((len(row[number]) for row in table.rows), default=0)  # a heading may be broken, a figure may not
        shown.add_column(column, justify="right" if number else "left", min_width=widest, overflow="fold")
    for row in table.rows:
        shown.add_row(*row)
    console.print(shown)


def markdown(table: Table) -> str:
    """The table for a page."""
    lines = [list(table.columns), ["---", *["--:"] * (len(table.columns) - 1)], *table.rows]
    note = f"\n{table.note}\n" if table.note else ""
    return f"**{table.title}**\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines) + note


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def ranged(share: Share) -> str:
    """A share with its range, in per cent."""
    return f"{share.share:.0%} ({100 * share.low:.0f}–{100 * share.high:.0f})" if share.count else "–"


def times(ratio: Ratio) -> str:
    """A ratio with its range."""
    if ratio.ratio is None:
        return "–"
    return f"× {ratio.ratio:.2f} ({number(ratio.low)}–{'∞' if ratio.high is None else number(ratio.high)})"

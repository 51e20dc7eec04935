"""Tables as plain text, with nothing but the standard library: the machine measured on has little else. Knows no figure."""

from __future__ import annotations

from collections.abc import Sequence


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column stands on the left, the others on the right."""
    widths = [max(len(row[number]) for row in (columns, *rows)) for number in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(width) if number == 0 else cell.rjust(width) for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (columns, *rows)
    ]
    return "\n".join((title, *lines, ""))


def micro(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e6:.1f}"


def milli(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.3f}"


def share(part: float) -> str:
    return f"{part:.0%}"

"""Rows of every layout, mixed, and a step's worth of them. Knows no text and no tensor."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol

from engine.training.blocks import Row


class Drawer(Protocol):
    """Draws rows of one layout. The same generator gives the same rows."""

    def row(self, rng: random.Random) -> Row: ...


class Rows:
    """Draws rows from several drawers by their shares. The same seed and step give the same rows, whatever was drawn before."""

    def __init__(self, drawers: Sequence[tuple[float, Drawer]], seed: int) -> None:
        self._shares, self._drawers = zip(*drawers, strict=True)
        self._seed = seed

    def step(self, step: int, slots: int, slots_per_token: float) -> tuple[tuple[Row, ...], random.Random]:
        """Rows that with their noisy slots fill about `slots`, and the generator their noise is to be drawn from."""
        rng = random.Random(f"{self._seed}/{step}")
        rows: list[Row] = []
        filled = 0.0
        while filled < slots:
            row = self.row(rng)
            size = len(row.ids) * (1 + slots_per_token)
            # A long row at the end would overshoot: it is left out when it would more than half lie outside.
            if rows and filled + size / 2 > slots:
                break
            rows.append(row)
            filled += size
        return tuple(rows), rng

    def several(self, step: int, count: int) -> tuple[Row, ...]:
        """So many rows."""
        rng = random.Random(f"{self._seed}/{step}")
        return tuple(self.row(rng) for _ in range(count))

    def row(self, rng: random.Random) -> Row:
        """One row."""
        drawer: Drawer = rng.choices(self._drawers, weights=self._shares)[0]
        return drawer.row(rng)

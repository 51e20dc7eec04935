"""Rows survive the way to another machine."""

from __future__ import annotations

from dataclasses import replace

from tiny import rows

from engine.training.parts import rows_as_tensors, rows_from_tensors


def test_rows_come_back_as_they_were() -> None:
    sent = [replace(row, copied=frozenset(range(row.start, row.start + 3))) for row in rows(40, 33, 17)]
    sent += [replace(row, own=True) for row in rows(50, seed=1)]
    tensors = dict(rows_as_tensors(0, sent[:2]) + rows_as_tensors(2, sent[2:]))
    assert rows_from_tensors(tensors) == sent

"""Which masked positions a denoise step commits."""

from __future__ import annotations

import torch

from engine.remask import commit_confident


def committed(confidence: list[float], masked: list[int], threshold: float) -> list[int]:
    return commit_confident(torch.tensor(confidence), torch.tensor(masked, dtype=torch.bool), threshold).int().tolist()


def test_all_above_the_threshold() -> None:
    assert committed([0.95, 0.5, 0.9, 0.99], [1, 1, 1, 1], 0.9) == [1, 0, 1, 1]


def test_the_surest_where_none_is_above() -> None:
    assert committed([0.2, 0.5, 0.4], [1, 1, 1], 0.9) == [0, 1, 0]


def test_only_masked_positions() -> None:
    assert committed([0.99, 0.5, 0.4], [0, 1, 1], 0.9) == [0, 1, 0]
    assert committed([0.99, 0.95], [0, 0], 0.9) == [0, 0]


def test_threshold_zero_commits_everything_masked() -> None:
    assert committed([0.0, 0.1, 0.0], [1, 0, 1], 0.0) == [1, 0, 1]

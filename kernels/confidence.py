"""The logits of text under a language-model head, the best id of each row, and how sure the model is of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Best(NamedTuple):
    """Per row: the best id and its probability."""

    ids: Tensor  # [rows] int64
    confidence: Tensor  # [rows] float32, 0..1


def text_logits(hidden: Tensor, head: Callable[[Tensor], Tensor], banned: Tensor) -> Tensor:
    """Logits of rows, float32 [rows, vocab], −∞ for the ids in `banned` [n]. hidden [rows, width], head [rows, width] → [rows, vocab]."""
    logits = head(hidden).float()
    logits[:, banned] = -torch.inf
    return logits


def best_ids(logits: Tensor) -> Best:
    """Best id and confidence of each row of logits [rows, vocab]. Of equal logits the lowest id is best."""
    top, ids = logits.max(dim=-1)
    # exp(top − logsumexp), as 1 / Σ exp(logit − top): one pass less over the vocabulary.
    return Best(ids, torch.exp(logits - top[:, None]).sum(dim=-1).reciprocal())

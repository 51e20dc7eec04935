"""The best id of each row under a language-model head, and how sure the model is of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Best(NamedTuple):
    """Per row: the best id and its probability."""

    ids: Tensor  # [rows] int64
    confidence: Tensor  # [rows] float32, 0..1


def best_ids(hidden: Tensor, head: Callable[[Tensor], Tensor], banned: Tensor) -> Best:
    """Best id and confidence of each row. hidden [rows, width], head [rows, width] → [rows, vocab], banned [n] ids that are never best.

    The probability is over the ids that are not banned, in float32. Of equal logits the lowest id is best.
    """
    logits = head(hidden).float()  # [rows, vocab]
    logits[:, banned] = -torch.inf
    top, ids = logits.max(dim=-1)
    # exp(top − logsumexp), as 1 / Σ exp(logit − top): one pass less over the vocabulary.
    return Best(ids, torch.exp(logits - top[:, None]).sum(dim=-1).reciprocal())

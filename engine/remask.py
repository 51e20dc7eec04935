"""Which masked positions a denoise step commits. Knows confidences, no ids and no model."""

from __future__ import annotations

from torch import Tensor


def commit_confident(confidence: Tensor, masked: Tensor, threshold: float) -> Tensor:
    """Which positions to commit: every masked one at or above `threshold`, and always the surest. All [slots]; returns bool.

    Source: the confidence threshold of Fast-dLLM (arXiv 2505.22618). At threshold 0 everything masked is committed at once.
    """
    chosen = masked & (confidence >= threshold)
    chosen[confidence.where(masked, -1.0).argmax()] |= masked.any()
    return chosen

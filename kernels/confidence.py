"""The logits of text under a language-model head, the best id of each row, and how sure the model is of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

# torch finds the largest of a row fifteen times as fast as its place. So the place is looked for in a tile of so many alone.
_TILE = 64


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
    top, ids = likeliest(logits, 1)
    # exp(top − logsumexp), as 1 / Σ exp(logit − top): one pass less over the vocabulary.
    return Best(ids[:, 0], mass(logits, top[:, 0]).reciprocal())


def likeliest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of logits [rows, vocab] and their ids, both [rows, count], the largest first.

    Where one is asked for, of equal ones it is that with the lowest id.
    """
    rows, vocab = logits.shape
    if logits.device.type != "cpu" or vocab % _TILE or count > vocab // _TILE:
        return _largest(logits, count)
    tiles = logits.view(rows, vocab // _TILE, _TILE)
    # The largest of all lie in the tiles with the largest maxima.
    where = _largest(tiles.amax(dim=-1), count)[1]
    found = tiles.gather(1, where[:, :, None].expand(-1, -1, _TILE)).flatten(1)
    values, places = _largest(found, count)
    return values, where.gather(1, places // _TILE) * _TILE + places % _TILE


def mass(logits: Tensor, top: Tensor) -> Tensor:
    """Σ exp(logit − top) of each row of logits [rows, vocab], top [rows]."""
    if logits.device.type != "cpu":
        return torch.exp(logits - top[:, None]).sum(dim=-1)
    row = torch.empty(logits.shape[1])  # one for all: memory for as many rows comes page by page from the system, every time
    return torch.stack([torch.sub(each, best, out=row).exp_().sum() for each, best in zip(logits, top, strict=True)])


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    found = values.topk(count, dim=-1) if count > 1 else values.max(dim=-1, keepdim=True)
    return found.values, found.indices

"""Which masked slots a denoise step commits, and which committed ones it masks again. Knows ids and confidences, no model.

Works on a batch of blocks at once and reads nothing back: how many slots are left is a tensor.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from kernels.choice import Choice, Listed


class Rule(NamedTuple):
    """A masked slot is committed if any of the three says so; the surest `at_least` always are.

    Sources: threshold and factor, Fast-dLLM (arXiv 2505.22618); a fixed number a step, LLaDA (arXiv 2502.09992).
    """

    threshold: float = 2.0  # at this confidence or above; above 1 never
    factor: float = 0.0  # the n surest, n the largest with (n + 1) · (1 − confidence of the n-th) below this
    at_least: int = 1
    keep: float = 0.0  # slots of earlier steps committed below this are masked again, fewer of them than the step commits


class Blocks(NamedTuple):
    """Blocks being denoised. A slot whose id is the mask's is masked."""

    ids: Tensor  # [blocks, slots] int32
    sure: Tensor  # [blocks, slots] float32, the confidence a slot was committed with


def commit(blocks: Blocks, choice: Choice, rule: Rule, mask_id: int) -> None:
    """Commit into `blocks`, in place; `choice` has a row a slot, those of masked slots chosen. The twin of `kernels.gpu.commit`.

    Of equally sure slots the first goes first. Every step leaves fewer slots masked than it found, however many it masks again.
    """
    ids, sure = blocks
    masked = ids == mask_id
    confidence = choice.confidence.view_as(sure).where(masked, -1.0)
    place = _rank(-confidence)  # 0 for the surest
    tempted = masked & ((place + 2) * (1 - confidence) < rule.factor)
    reach = torch.where(tempted, place, -1).amax(dim=1, keepdim=True)
    chosen = masked & ((confidence >= rule.threshold) | (place <= reach) | (place < rule.at_least))
    doubted = ~masked & (sure < rule.keep)
    again = doubted & (_rank(sure.where(doubted, torch.inf)) < chosen.sum(dim=1, keepdim=True) - 1)
    ids.copy_(torch.where(chosen, choice.ids.view_as(ids), torch.where(again, mask_id, ids)))
    sure.copy_(torch.where(chosen, confidence, sure))


def list_masked(ids: Tensor, mask_id: int) -> Listed:
    """The masked ones of all slots [blocks, slots], numbered through, in order; entries beyond the count hold anything."""
    found = (ids.view(-1) == mask_id).nonzero()[:, 0].to(torch.int32)
    rows = torch.zeros(ids.numel(), dtype=torch.int32, device=ids.device)
    rows[: len(found)] = found
    return Listed(rows, torch.tensor([len(found)], dtype=torch.int32, device=ids.device))


def _rank(keys: Tensor) -> Tensor:
    """Each entry's place in its row's ascending order, equal ones in theirs. [rows, n]."""
    return keys.argsort(dim=1, stable=True).argsort(dim=1)

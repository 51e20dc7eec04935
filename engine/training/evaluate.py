"""How good an adapter is on rows that never trained: both streams' loss and accuracy, by slot, and tokens a round. Knows no file."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.training.blocks import Batch, NoiseRules, Row, pack
from engine.training.objective import Objective

_ROWS_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Report:
    """Averages over the evaluated rows. Losses in nats a token, accuracies 0..1."""

    causal_loss: float  # of the middles
    causal_accuracy: float
    block_loss: float  # all mask rates
    block_accuracy: float
    slots: tuple[float, ...]  # accuracy by slot, of fully masked blocks
    agreement: tuple[float, ...]  # share of slots whose best id is the clean stream's, likewise
    tokens_a_round: float  # in middles: slots from the left that agree, and the verification's own token

    def lines(self) -> list[str]:
        """The report as text."""
        return [
            f"causal {self.causal_loss:.3f} / {self.causal_accuracy:.1%}   blocks {self.block_loss:.3f} / {self.block_accuracy:.1%}"
            f"   tokens a round {self.tokens_a_round:.2f}",
            "right by slot   " + " ".join(f"{share:4.0%}" for share in self.slots),
            "agrees by slot  " + " ".join(f"{share:4.0%}" for share in self.agreement),
        ]


def evaluate(objective: Objective, adapter: Mapping[str, Tensor], rows: Sequence[Row], noise: NoiseRules, block: int = 8) -> Report:
    """Evaluate over `rows` in blocks of one size. The noise is the same at every call."""
    masks_mixed = replace(noise, sizes=(block,), slot_decay=1.0)
    masks_full = replace(masks_mixed, fully_masked=1.0, along_middle=1.0)
    clean, block_all = _Mean(), _Mean()
    slots, agreement = [_Mean() for _ in range(block)], [_Mean() for _ in range(block)]
    rounds = _Mean()
    device = objective.base.norm.device
    with torch.inference_mode():
        for batch in _batches(rows, masks_mixed, device):
            losses = objective(adapter, batch)
            in_middle = batch.clean_weight == 1.0
            clean.add(losses.clean[in_middle], losses.clean_right[in_middle])
            block_all.add(losses.noisy, losses.noisy_right)
        for batch in _batches(rows, masks_full, device):
            losses = objective(adapter, batch)
            for slot in range(block):
                here = batch.noisy_slot == slot
                slots[slot].add(losses.noisy[here], losses.noisy_right[here])
                agreement[slot].add(losses.noisy[here], losses.noisy_agrees[here])
            committed = _committed(batch, losses.noisy_agrees, block)
            rounds.add(committed, committed > 0)
    return Report(
        causal_loss=clean.loss,
        causal_accuracy=clean.right,
        block_loss=block_all.loss,
        block_accuracy=block_all.right,
        slots=tuple(mean.right for mean in slots),
        agreement=tuple(mean.right for mean in agreement),
        tokens_a_round=rounds.loss,
    )


def _batches(rows: Sequence[Row], noise: NoiseRules, device: torch.device) -> Iterator[Batch]:
    rng = random.Random(0)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        yield pack(rows[first : first + _ROWS_AT_ONCE], noise, rng).to(device)


def _committed(batch: Batch, agrees: Tensor, block: int) -> Tensor:
    """Tokens that a round commits at each fully masked block along a middle, float [blocks].

    The slots from the left that agree with the clean stream, and the clean stream's own choice after them; where all of them agree
    up to the text's end, there is nothing after them.
    """
    number = (batch.noisy_slot == 0).cumsum(0) - 1  # every fully masked block has its first slot
    there, agreed = torch.zeros(2, int(number[-1]) + 1, block, device=agrees.device)
    there[number, batch.noisy_slot] = 1.0
    agreed[number, batch.noisy_slot] = agrees.float()
    run, reach = agreed.cumprod(1).sum(1), there.sum(1)
    along_middle = batch.clean_weight[batch.noisy_twin][batch.noisy_slot == 0] == 1.0
    return torch.minimum(run + 1, reach)[along_middle]


class _Mean:
    """Sums that become averages."""

    def __init__(self) -> None:
        self._count = self._loss = self._right = 0.0

    def add(self, losses: Tensor, right: Tensor) -> None:
        self._count += len(losses)
        self._loss += float(losses.sum())
        self._right += float(right.sum())

    @property
    def loss(self) -> float:
        return self._loss / max(1.0, self._count)

    @property
    def right(self) -> float:
        return self._right / max(1.0, self._count)

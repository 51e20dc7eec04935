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
    with torch.inference_mode():
        for batch in _batches(rows, masks_mixed):
            losses = objective(adapter, batch)
            in_middle = batch.clean_weight == 1.0
            clean.add(losses.clean[in_middle], losses.clean_right[in_middle])
            block_all.add(losses.noisy, losses.noisy_right)
        for batch in _batches(rows, masks_full):
            losses = objective(adapter, batch)
            for slot in range(block):
                here = batch.noisy_slot == slot
                slots[slot].add(losses.noisy[here], losses.noisy_right[here])
                agreement[slot].add(losses.noisy[here], losses.noisy_agrees[here])
            runs = _runs(batch, losses.noisy_agrees)
            rounds.add(runs, torch.ones_like(runs, dtype=torch.bool))
    return Report(
        causal_loss=clean.loss,
        causal_accuracy=clean.right,
        block_loss=block_all.loss,
        block_accuracy=block_all.right,
        slots=tuple(mean.right for mean in slots),
        agreement=tuple(mean.right for mean in agreement),
        tokens_a_round=rounds.loss,
    )


def _batches(rows: Sequence[Row], noise: NoiseRules) -> Iterator[Batch]:
    rng = random.Random(0)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        yield pack(rows[first : first + _ROWS_AT_ONCE], noise, rng)


def _runs(batch: Batch, agrees: Tensor) -> Tensor:
    """Tokens committed by a round at each block along a middle: float [blocks].

    A round commits the agreeing slots from the left and the clean stream's own choice after them; where the block reaches past the
    text's end, the end is the last. Whether the clean stream's choices are the text's own plays no part: decoding would follow them.
    Measured against the text all the same, so that a block counts the slots that lie on it.
    """
    counts: list[int] = []
    run, open_run, middle = 0, False, False
    previous = len(batch.noisy_slot)
    slots, in_middle = batch.noisy_slot.tolist(), (batch.clean_weight[batch.noisy_twin] == 1.0).tolist()
    for place, (slot, agreed) in enumerate(zip(slots, agrees.tolist(), strict=True)):
        if slot == 0:
            if place and middle:
                counts.append(_committed(run, previous))
            run, open_run, middle = 0, True, in_middle[place]
            previous = 0
        previous += 1
        open_run = open_run and agreed
        run += open_run
    if middle:
        counts.append(_committed(run, previous))
    return torch.tensor(counts, dtype=torch.float32)


def _committed(run: int, slots: int) -> int:
    """With every slot agreed the verification adds nothing within reach of the text; else it adds its own choice."""
    return run if run == slots else run + 1


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

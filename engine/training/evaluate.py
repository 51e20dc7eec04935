"""How good an adapter is on rows that never trained: both streams' loss and accuracy, by slot, and tokens a round. Knows no file."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.training.blocks import Batch, NoiseRules, Row, pack
from engine.training.objective import Objective

_ROWS_AT_ONCE = 8
_CANDIDATES = 16  # of a slot's own best, among which the chain head chooses; as served


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """How far drafts hold, over fully masked blocks."""

    agreement: tuple[float, ...]  # by slot, share of the choices that are the clean stream's
    tokens_a_round: float  # in middles: slots from the left that agree, and the verification's own token
    tokens_a_forward: float  # likewise where slot 0's token is the verification's own, for one forward verifies and drafts

    def line(self, name: str) -> str:
        """The figures as text."""
        shares = " ".join(f"{share:4.0%}" for share in self.agreement)
        return f"{name:<16}{shares}   tokens a round {self.tokens_a_round:.2f}, a forward {self.tokens_a_forward:.2f}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """Averages over the evaluated rows. Losses in nats a token, accuracies 0..1."""

    causal_loss: float  # of the middles
    causal_accuracy: float
    block_loss: float  # half of the blocks fully masked, none chained
    block_accuracy: float
    slots: tuple[float, ...]  # accuracy by slot, of fully masked blocks
    marginal: Drafts  # each slot's best id
    chained: Drafts | None  # chosen from left to right with the chain head, where the adapter has one

    def lines(self) -> list[str]:
        """The report as text."""
        return [
            f"causal {self.causal_loss:.3f} / {self.causal_accuracy:.1%}   blocks {self.block_loss:.3f} / {self.block_accuracy:.1%}",
            "right by slot   " + " ".join(f"{share:4.0%}" for share in self.slots),
            self.marginal.line("agrees by slot"),
            *([self.chained.line("  chained")] if self.chained else []),
        ]


def evaluate(objective: Objective, adapter: Mapping[str, Tensor], rows: Sequence[Row], noise: NoiseRules, block: int = 8) -> Report:
    """Evaluate over `rows` in blocks of one size. The noise is the same at every call."""
    masks_mixed = replace(noise, sizes=(block,), slot_decay=1.0, fully_masked=0.5, chained=0.0)
    masks_full = replace(masks_mixed, fully_masked=1.0, along_middle=1.0)
    clean, block_all, slots = _Mean(), _Mean(), [_Mean() for _ in range(block)]
    marginal, chained = _Drafting(block), _Drafting(block)
    device = objective.base.norm.device
    with torch.inference_mode():
        for batch in _batches(rows, masks_mixed, device):
            losses = objective(adapter, batch)
            in_middle = batch.clean_weight == 1.0
            clean.add(losses.clean[in_middle], losses.clean_right[in_middle])
            block_all.add(losses.noisy, losses.noisy_right)
        for batch in _batches(rows, masks_full, device):
            hidden = objective.hidden(adapter, batch)
            losses = objective.losses(adapter, batch, hidden)
            for slot in range(block):
                here = batch.noisy_slot == slot
                slots[slot].add(losses.noisy[here], losses.noisy_right[here])
            marginal.add(batch, losses.noisy_agrees, losses.noisy_agrees)
            if "chain.in" in adapter:
                best = _clean_best(objective, adapter, batch, hidden)
                states = hidden[batch.noisy_at]
                anew = choose_chained(objective, adapter, batch, states)
                onward = choose_chained(objective, adapter, batch, states, first=best)
                chained.add(batch, anew == best, onward == best)
    return Report(
        causal_loss=clean.loss,
        causal_accuracy=clean.right,
        block_loss=block_all.loss,
        block_accuracy=block_all.right,
        slots=tuple(mean.right for mean in slots),
        marginal=marginal.result(),
        chained=chained.result() if "chain.in" in adapter else None,
    )


def choose_chained(
    objective: Objective, adapter: Mapping[str, Tensor], batch: Batch, states: Tensor, first: Tensor | None = None
) -> Tensor:
    """The ids [M] that fully masked blocks choose from left to right, each slot told the choice before it.

    A slot chooses among its own best by what the chain head makes of them. With `first` [M], slot 0's choice is given.
    """
    head = objective.head(adapter)
    candidates = F.linear(states, head).topk(_CANDIDATES).indices
    chosen = batch.noisy_previous.clone()  # slot 0 goes on from its anchor
    for slot in range(int(batch.noisy_slot.max()) + 1):
        here = (batch.noisy_slot == slot).nonzero()[:, 0]  # the slot before lies one before, for all are masked
        if slot == 0 and first is not None:
            chosen[here] = first[here]
            continue
        moved = objective.chained(adapter, states[here], chosen[here - 1] if slot else chosen[here])
        scores = (head[candidates[here]].float() @ moved.float()[:, :, None])[:, :, 0]
        best = candidates[here].gather(1, scores.argmax(1, keepdim=True))[:, 0]
        chosen[here] = objective.head_ids(best)
    return chosen


def _clean_best(objective: Objective, adapter: Mapping[str, Tensor], batch: Batch, hidden: Tensor) -> Tensor:
    """The clean stream's choice where each noisy slot makes its own, ids [M]."""
    logits = F.linear(hidden[batch.clean_at], objective.head(adapter))
    return objective.head_ids(logits.max(-1).indices)[batch.noisy_twin]


def _batches(rows: Sequence[Row], noise: NoiseRules, device: torch.device) -> Iterator[Batch]:
    rng = random.Random(0)
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        yield pack(rows[first : first + _ROWS_AT_ONCE], noise, rng).to(device)


def _committed(batch: Batch, agrees: Tensor, block: int) -> Tensor:
    """Tokens that a round commits at each fully masked block along a middle, float [blocks].

    The slots from the left that agree with the clean stream, and the clean stream's own choice after them; where all of them agree
    up to the text's end, there is nothing after them.
    """
    run, reach = _runs(batch, agrees, block)
    return torch.minimum(run + 1, reach)


def _runs(batch: Batch, agrees: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """How many slots from the left agree, and how many there are, at each fully masked block along a middle."""
    number = (batch.noisy_slot == 0).cumsum(0) - 1  # every fully masked block has its first slot
    there, agreed = torch.zeros(2, int(number[-1]) + 1, block, device=agrees.device)
    there[number, batch.noisy_slot] = 1.0
    agreed[number, batch.noisy_slot] = agrees.float()
    along_middle = batch.clean_weight[batch.noisy_twin][batch.noisy_slot == 0] == 1.0
    return agreed.cumprod(1).sum(1)[along_middle], there.sum(1)[along_middle]


class _Drafting:
    """Sums over blocks that become `Drafts`."""

    def __init__(self, block: int) -> None:
        self._agreement = [_Mean() for _ in range(block)]
        self._rounds, self._forwards = _Mean(), _Mean()

    def add(self, batch: Batch, agrees: Tensor, agrees_onward: Tensor) -> None:
        """What agreed in a batch: where slot 0 chose itself, and where its token was the clean stream's."""
        block = len(self._agreement)
        for slot, mean in enumerate(self._agreement):
            here = agrees[batch.noisy_slot == slot]
            mean.add(here.float(), here)
        rounds = _committed(batch, agrees, block)
        self._rounds.add(rounds, rounds > 0)
        forwards, _ = _runs(batch, agrees_onward | (batch.noisy_slot == 0), block)
        self._forwards.add(forwards, forwards > 0)

    def result(self) -> Drafts:
        return Drafts(
            agreement=tuple(mean.right for mean in self._agreement),
            tokens_a_round=self._rounds.loss,
            tokens_a_forward=self._forwards.loss,
        )


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

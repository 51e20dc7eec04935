"""Rows of ids to one packed batch of two streams: the clean rows and the noisy blocks that hang off them. Knows no model and no text."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Row:
    """A laid-out example: prompt, then middle. `ids[start:]` is the middle, the end id included where the middle is whole."""

    ids: tuple[int, ...]
    start: int
    kind: str = ""
    language: str = ""
    copied: frozenset[int] = frozenset()  # places of the middle that repeat what was to be rewritten: there is little to learn
    own: bool = False  # the middle is the model's own text: drafts learn to foresee it, the clean stream is not taught it


@dataclass(frozen=True, kw_only=True)
class NoiseRules:
    """How blocks are drawn. The defaults are what a run uses; an evaluation fixes `sizes` and masks everything."""

    mask_id: int
    specials: int
    end_id: int = 0
    sizes: tuple[int, ...] = (8, 8, 8, 8, 8, 8, 4, 6, 12, 16)  # mostly 8, as served
    slots_per_token: float = 0.5  # noisy slots a clean token, for short rows
    max_slots: int = 320
    fully_masked: float = 0.75  # as served; the rest have a random share masked
    chained: float = 0.6  # share of the noisy slots that the chain head tells the token before them
    along_middle: float = 0.5  # share of the anchors that lie along the middle
    slot_decay: float = 0.85  # weight of slot i is slot_decay ** i: a draft is used from the left
    rest_weight: float = 0.3  # causal loss outside the middle
    copied_weight: float = 0.4  # both losses, where a rewriting repeats


@dataclass(frozen=True, kw_only=True)
class Span:
    """Where a row's streams lie in the packed batch: `clean` tokens from `first`, then `blocks` blocks of `block` slots."""

    first: int
    clean: int
    blocks: int
    block: int

    @property
    def end(self) -> int:
        return self.first + self.clean + self.blocks * self.block


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A packed batch. T slots in all, C clean ones with a loss, M noisy ones with a loss."""

    spans: tuple[Span, ...]
    ids: Tensor  # [T]
    positions: Tensor  # [T]
    anchors: Tensor  # [blocks of all rows] index of the anchor in its row
    clean_at: Tensor  # [C] slot in T
    clean_target: Tensor  # [C]
    clean_weight: Tensor  # [C]
    noisy_at: Tensor  # [M] slot in T
    noisy_target: Tensor  # [M]
    noisy_weight: Tensor  # [M]
    noisy_slot: Tensor  # [M] place in the block
    noisy_full: Tensor  # [M] whether the block was fully masked
    noisy_twin: Tensor  # [M] index into the C clean ones: the clean slot that predicts the same token
    noisy_previous: Tensor  # [M] the text's token at the slot's own place, masked in its input or not
    noisy_chained: Tensor  # [M] whether its state goes through the chain head

    def to(self, device: str | torch.device) -> Batch:
        """The same batch on another device."""
        moved: dict[str, Any] = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **moved)


def pack(rows: Sequence[Row], rules: NoiseRules, rng: random.Random, length: int | None = None) -> Batch:
    """Draw noisy blocks for every row and lay everything out in one sequence.

    With `length`, every row is filled up to it and has the same blocks in number and size, for attention with a dense mask.
    """
    if length is not None:
        rules = replace(rules, sizes=(rng.choice(rules.sizes),))
    packing = _Packing(rules, rng, length)
    for row in rows:
        packing.add(row)
    return packing.finish()


def draw_anchors(row: Row, count: int, rules: NoiseRules, rng: random.Random) -> list[int]:
    """`count` anchors in order: the middle's first always, some more along the middle, the rest anywhere."""
    first = row.start - 1  # the last token of the prompt predicts the middle's first
    # What a rewriting repeats is drafted from the text itself; blocks hang where it begins to change, or anywhere if nothing does.
    middle = list(range(first + 1, len(row.ids) - 1))
    middle = [place for place in middle if place + 1 not in row.copied] or middle
    along = count if row.own else int(count * rules.along_middle)
    chosen = [first] + rng.sample(middle, min(len(middle), max(0, along - 1)))
    taken = set(chosen)
    # A part's edge is not predicted, so nothing hangs off the token before it.
    elsewhere = [place for place in range(1, first) if row.ids[place + 1] >= rules.specials] + middle
    elsewhere = [] if row.own else [place for place in elsewhere if place not in taken]
    return sorted(chosen + rng.sample(elsewhere, min(len(elsewhere), count - len(chosen))))


class _Packing:
    """The lists a batch is built from."""

    def __init__(self, rules: NoiseRules, rng: random.Random, length: int | None) -> None:
        self._rules, self._rng, self._length = rules, rng, length
        self._spans: list[Span] = []
        self._ids: list[int] = []
        self._positions: list[int] = []
        self._anchors: list[int] = []
        self._clean: list[tuple[int, int, float]] = []
        self._noisy: list[tuple[int, int, float, int, bool, int, int]] = []

    def add(self, row: Row) -> None:
        rules, rng = self._rules, self._rng
        first, length = len(self._ids), self._length or len(row.ids)
        block = rng.choice(rules.sizes)
        slots = min(int(length * rules.slots_per_token), rules.max_slots)
        anchors = draw_anchors(row, max(1, slots // block), rules, rng)
        if self._length is not None:
            assert len(row.ids) <= length
            anchors += rng.choices(anchors, k=max(1, slots // block) - len(anchors))
        # Whatever fills a row up lies after its end, where nothing of it looks.
        self._ids += [*row.ids, *[rules.mask_id] * (length - len(row.ids))]
        self._positions += range(length)
        twins: dict[int, int] = {}
        for place in range(len(row.ids) - 1):
            if place >= row.start - 1 or row.ids[place + 1] >= rules.specials:
                self._clean_loss(row, first, place, twins)
        for anchor in anchors:
            self._block(row, first, anchor, block, twins)
        self._anchors += anchors
        self._spans.append(Span(first=first, clean=length, blocks=len(anchors), block=block))

    def _clean_loss(self, row: Row, first: int, place: int, twins: dict[int, int]) -> int:
        """The index of the clean slot at `place` among those with a loss; it is added if it is not there."""
        if place not in twins:
            twins[place] = len(self._clean)
            weight = self._middle_weight(row, place + 1) if place >= row.start - 1 else self._rules.rest_weight
            self._clean.append((first + place, row.ids[place + 1], weight))
        return twins[place]

    def _middle_weight(self, row: Row, place: int) -> float:
        return 0.0 if row.own else self._copied(row, place)

    def _copied(self, row: Row, place: int) -> float:
        return self._rules.copied_weight if place in row.copied else 1.0

    def _block(self, row: Row, first: int, anchor: int, block: int, twins: dict[int, int]) -> None:
        rules, rng = self._rules, self._rng
        full = rng.random() < rules.fully_masked
        reach = _reach(row.ids, anchor, block, rules)
        share = 1.0 if full else rng.random()
        masked = [full or rng.random() < share for _ in range(block)] + [True]  # the token after the block is never seen
        if reach and not any(masked[1 : reach + 1]):
            masked[rng.randint(1, reach)] = True  # a block with nothing to predict teaches nothing
        for slot in range(block):
            place = anchor + slot
            # Beyond the text's reach there is nothing to predict and nothing to show: what is served there is masks.
            shown = slot == 0 or (not masked[slot] and slot <= reach)
            if slot < reach and masked[slot + 1]:
                twin = self._clean_loss(row, first, place, twins)
                weight = rules.slot_decay**slot * self._copied(row, place + 1)
                self._noisy.append((len(self._ids), row.ids[place + 1], weight, slot, full, twin, row.ids[place]))
            self._ids.append(row.ids[place] if shown else rules.mask_id)
            self._positions.append(place)

    def finish(self) -> Batch:
        clean_at, clean_target, clean_weight = zip(*self._clean, strict=True)
        at, target, weight, slot, full, twin, previous = zip(*self._noisy, strict=True)
        share = self._rules.chained
        # Serving knows the first slot's token before it asks the chain head; there it never is asked.
        chained = [self._rng.random() < share if share and place else False for place in slot]
        return Batch(
            spans=tuple(self._spans),
            ids=torch.tensor(self._ids),
            positions=torch.tensor(self._positions),
            anchors=torch.tensor(self._anchors),
            clean_at=torch.tensor(clean_at),
            clean_target=torch.tensor(clean_target),
            clean_weight=torch.tensor(clean_weight),
            noisy_at=torch.tensor(at),
            noisy_target=torch.tensor(target),
            noisy_weight=torch.tensor(weight),
            noisy_slot=torch.tensor(slot),
            noisy_full=torch.tensor(full),
            noisy_twin=torch.tensor(twin),
            noisy_previous=torch.tensor(previous),
            noisy_chained=torch.tensor(chained),
        )


def _reach(ids: tuple[int, ...], anchor: int, block: int, rules: NoiseRules) -> int:
    """How many tokens after the anchor are there to be predicted: up to the row's end, or to the next special token.

    The end id is a prediction like any other, but nothing follows it.
    """
    for count in range(block):
        place = anchor + count + 1
        if place >= len(ids):
            return count
        if ids[place] == rules.end_id:
            return count + 1
        if ids[place] < rules.specials:
            return count
    return block

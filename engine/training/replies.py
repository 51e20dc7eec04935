"""Many conversations answered at once by the base alone, one token a forward, with a cache of keys and values. Knows no adapter, no prompt.

A slot holds one conversation; when its answer has ended, the next one takes the slot while the others go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.base import Base, BaseLayer
from kernels.rotary import rotary_table, rotate


@dataclass(frozen=True, kw_only=True)
class ReplyRules:
    """How answers are drawn."""

    slots: int = 32
    capacity: int = 512  # tokens of a conversation with its answer
    longest: int = 160  # tokens of an answer
    temperature: float = 0.3  # 0: always the likeliest
    likeliest: int = 40  # ids that are drawn from


@dataclass
class _Slot:
    number: int = -1
    length: int = 0  # tokens in the cache
    answer: list[int] = field(default_factory=list)
    draws: torch.Generator = field(default_factory=torch.Generator)


class Replies:
    """Answers prompts of ids. The same number and prompt give the same answer, whatever is answered beside it, up to rounding."""

    def __init__(self, base: Base, end_id: int, rules: ReplyRules | None = None) -> None:
        self._base, self._end_id, self._rules = base, end_id, rules or ReplyRules()
        shape, rules_ = base.shape, self._rules
        self._cos, self._sin = rotary_table(rules_.capacity, shape.head_dim, shape.rope_theta)
        size = (len(base.layers), rules_.slots, shape.kv_heads, rules_.capacity, shape.head_dim)
        self._keys, self._values = (torch.zeros(size, dtype=base.embedding.dtype) for _ in range(2))

    @torch.inference_mode()
    def answer(self, prompts: Iterator[tuple[int, Sequence[int]]]) -> Iterator[tuple[int, list[int], bool]]:
        """(number, ids, whether it ended by itself) for each (number, prompt), in the order in which they end."""
        slots = [_Slot() for _ in range(self._rules.slots)]
        while True:
            for place, slot in enumerate(slots):
                if slot.number < 0 and (following := next(prompts, None)) is not None:
                    slots[place] = self._begin(place, *following)
            busy = [place for place, slot in enumerate(slots) if slot.number >= 0]
            if not busy:
                return
            for place in busy:
                slot = slots[place]
                ended = slot.answer[-1] == self._end_id
                if ended or len(slot.answer) >= self._rules.longest or slot.length >= self._rules.capacity:
                    yield slot.number, slot.answer[: -1 if ended else None], ended
                    slot.number = -1
            busy = [place for place in busy if slots[place].number >= 0]
            if busy:
                self._step(slots, busy)

    def _begin(self, place: int, number: int, prompt: Sequence[int]) -> _Slot:
        """Reads a prompt into a slot and draws the answer's first token."""
        count = len(prompt)
        assert count < self._rules.capacity
        slot = _Slot(number=number, length=count, draws=torch.Generator().manual_seed(number))
        causal = torch.ones(count, count, dtype=torch.bool).tril()
        states = self._forward(torch.tensor(prompt), torch.arange(count), torch.tensor([place]), causal[None])
        self._draw([slot], states[-1:])
        return slot

    def _step(self, slots: Sequence[_Slot], busy: Sequence[int]) -> None:
        """One more token for every busy slot."""
        held = [slots[place] for place in busy]
        positions = torch.tensor([slot.length for slot in held])
        seen = torch.arange(int(positions.max()) + 1) <= positions[:, None]
        states = self._forward(torch.tensor([slot.answer[-1] for slot in held]), positions, torch.tensor(busy), seen[:, None])
        for slot in held:
            slot.length += 1
        self._draw(held, states)

    def _forward(self, ids: Tensor, positions: Tensor, places: Tensor, seen: Tensor) -> Tensor:
        """States after the final norm, [rows, width]: equally many rows for each of `places`; `seen` [places, rows of one, length]."""
        x = self._base.embedding[ids]
        rotation = self._cos[positions], self._sin[positions]
        at = places.repeat_interleave(len(ids) // len(places)), positions
        # Query heads that share keys become rows of one head: 0.4 ms a layer against 2.3 ms with `enable_gqa` (16 slots, length 200, bf16,
        # torch 2.13, Zen 5 server core, 2026-11-30).
        groups = self._base.shape.heads // self._base.shape.kv_heads
        seen = seen[:, None].repeat(1, 1, groups, 1)
        for index, layer in enumerate(self._base.layers):
            x = x + self._attention(layer, index, x, rotation, at, places, seen)
            gate, up = functional.linear(self._norm(x, layer.mlp_norm), layer.maps["gu"]).chunk(2, dim=-1)
            x = x + functional.linear(functional.silu(gate) * up, layer.maps["dn"])
        return self._norm(x, self._base.norm)

    def _attention(
        self,
        layer: BaseLayer,
        index: int,
        x: Tensor,
        rotation: tuple[Tensor, Tensor],
        at: tuple[Tensor, Tensor],
        places: Tensor,
        seen: Tensor,
    ) -> Tensor:
        shape, count = self._base.shape, len(x) // len(places)
        rows = functional.linear(self._norm(x, layer.attn_norm), layer.maps["qkv"]).view(len(x), -1, shape.head_dim)
        qk, v = rows.split((shape.heads + shape.kv_heads, shape.kv_heads), dim=1)
        q, k = rotate(qk, *rotation).split((shape.heads, shape.kv_heads), dim=1)
        slots, positions = at
        self._keys[index, slots, :, positions], self._values[index, slots, :, positions] = k, v
        keys, values = (self._held(held[index], places)[:, :, : seen.shape[-1]] for held in (self._keys, self._values))
        # [places, kv_heads, group, count, head_dim]
        q = q.reshape(len(places), count, shape.kv_heads, -1, shape.head_dim).permute(0, 2, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q.flatten(2, 3), keys, values, attn_mask=seen)
        mixed = mixed.view(q.shape).permute(0, 3, 1, 2, 4).reshape(len(x), -1)
        return functional.linear(mixed, layer.maps["o"])

    def _held(self, layer: Tensor, places: Tensor) -> Tensor:
        """A layer's keys or values in some slots; a view, without a copy, where all are asked for."""
        return layer if len(places) == len(layer) else layer[places]

    def _draw(self, slots: Sequence[_Slot], states: Tensor) -> None:
        rules = self._rules
        best = (states @ self._base.embedding.T).float().topk(rules.likeliest if rules.temperature else 1, dim=-1)
        for slot, scores, ids in zip(slots, best.values, best.indices, strict=True):
            shares = functional.softmax(scores / (rules.temperature or 1.0), dim=-1)
            slot.answer.append(int(ids[torch.multinomial(shares, 1, generator=slot.draws)]))

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self._base.shape.norm_eps)

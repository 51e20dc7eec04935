"""Which ids are committed of what one forward says: the likeliest or a sampled one, within a grammar. Knows no rows and no text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec
import torch
from torch import Tensor

from engine.drafting import agreement
from engine.serving.requests import Sampling
from kernels.confidence import likeliest


class Boundary(Protocol):
    """What a grammar says at the commit frontier; `engine.serving.grammar` has one."""

    @property
    def ended(self) -> bool: ...

    def masked(self, logits: Tensor) -> Tensor: ...

    def take(self, index: int) -> int: ...

    def forced(self) -> list[int]: ...

    def held(self, draft: Sequence[int]) -> int: ...

    def certain(self) -> list[int]: ...


class Pick(msgspec.Struct, frozen=True):
    """A committed id; its log probability and the likeliest ids with theirs, where they are asked for."""

    index: int
    logprob: float = 0.0
    top: tuple[tuple[int, float], ...] = ()


class Chooser:
    """Commits ids from left to right, as far as a draft agrees with them, and the first that does not.

    Each id is chosen from the model's own distribution after the ids before it; a draft only decides how many are chosen at once. So
    texts are the same as token by token, sampled ones too: the noise of a place depends on the seed and the place alone.
    """

    def __init__(self, sampling: Sampling, end_id: int, seed: int, logprobs: int | None = None, boundary: Boundary | None = None) -> None:
        self._sampling, self._end_id, self._seed = sampling, end_id, seed
        self._logprobs, self._boundary = logprobs, boundary
        self._place = 0
        self._noise = torch.Generator()

    def choose(self, logits: Tensor, draft: Sequence[int], most: int) -> list[Pick]:
        """logits [len(draft) + 1 or more, vocab]: row i after i ids of the draft. At most `most` picks; the end is the last one."""
        if self._boundary is None and self._sampling.temperature == 0 and self._logprobs is None:
            return self._likeliest(logits[: len(draft) + 1], draft)[:most]
        picks: list[Pick] = []
        for place in range(min(len(draft) + 1, most)):
            picks.append(self._pick(logits[place]))
            index = picks[-1].index
            if index == self._end_id or draft[place : place + 1] != [index]:
                break
        return picks

    def forced(self) -> list[Pick]:
        """Ids that follow without a choice. They are committed."""
        ids = [] if self._boundary is None else self._boundary.forced()
        self._place += len(ids)
        return [Pick(index) for index in ids]

    def _likeliest(self, logits: Tensor, draft: Sequence[int]) -> list[Pick]:
        chosen: list[int] = likeliest(logits, 1)[1][:, 0].tolist()
        ids = chosen[: agreement(draft, chosen) + 1]
        whole = ids.index(self._end_id) + 1 if self._end_id in ids else len(ids)  # a draft may have the end in it
        return [Pick(index) for index in ids[:whole]]

    def _pick(self, logits: Tensor) -> Pick:
        """logits [vocab]."""
        allowed = logits if self._boundary is None else self._boundary.masked(logits)
        index = int(likeliest(allowed[None], 1)[1]) if self._sampling.temperature == 0 else self._sampled(allowed)
        if self._boundary is not None:
            index = self._boundary.take(index)
        self._place += 1
        if self._logprobs is None:
            return Pick(index)
        told = torch.log_softmax(allowed, dim=-1)  # within a grammar, of what it lets follow
        values, ids = told.topk(self._logprobs) if self._logprobs else (told[:0], told[:0])
        best = zip(ids.int().tolist(), values.tolist(), strict=True)
        return Pick(index, float(told[index]), tuple(pair for pair in best if pair[1] > -torch.inf))

    def _sampled(self, logits: Tensor) -> int:
        """The Gumbel-max trick: the best id after noise is distributed as the softmax is."""
        scaled = logits / self._sampling.temperature
        if self._sampling.top_p < 1:
            scaled = _nucleus(scaled, self._sampling.top_p)
        self._noise.manual_seed((self._seed * 1_000_003 + self._place) % (1 << 63))
        noise = torch.rand(len(scaled), generator=self._noise).clamp_(min=1e-20)
        return int((scaled - torch.log(-torch.log(noise))).argmax())


def _nucleus(logits: Tensor, share: float) -> Tensor:
    """Logits [vocab], −∞ but for the fewest likeliest ids whose probabilities add up to `share`."""
    values, ids = logits.sort(descending=True)
    probabilities = torch.softmax(values, dim=-1)
    kept = probabilities.cumsum(dim=-1) - probabilities < share  # the first always
    return torch.full_like(logits, -torch.inf).scatter(0, ids[kept], values[kept])

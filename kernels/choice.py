"""What each masked slot would be: the head's product, and of it the id, its probability, and how sure the model is. Knows no schedule."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from kernels.bits import pack, unpack
from kernels.noise import Noise, gumbel
from kernels.weight import Weight, product


class Choice(NamedTuple):
    """Per row; rows that were not listed hold anything. float32 but for the ids."""

    ids: Tensor  # int32, the best id, or with noise the drawn one
    confidence: Tensor  # the id's probability among those allowed
    entropy: Tensor  # of that distribution, in nats
    margin: Tensor  # the best id's probability less the second best's


class Listed(NamedTuple):
    """Which rows to choose for, by the first `total` entries of `rows`. Both int32 and on the device, so that no host need know."""

    rows: Tensor  # [at most so many]
    total: Tensor  # [1]


def allow_all_but(banned: Tensor, vocab: int) -> Tensor:
    """The bits of all ids but `banned`, as `choose` takes them: int32 [1, words]."""
    return pack(torch.ones(vocab, dtype=torch.bool, device=banned.device).index_fill(0, banned, False))[None]


def choose(hidden: Tensor, head: Weight, listed: Listed, allowed: Tensor | None = None, noise: Noise | None = None) -> Choice:
    """Choose for the listed rows of hidden [rows, width] under `head` [vocab, width]. The twin of `kernels.gpu.choice`.

    `allowed` [1 or rows, words] are the bits of the ids that may be chosen, at least one a row. Of equal logits the lowest id is best.
    Without noise the id is the best one. With it, an id is drawn from softmax(logits / temperature): the best of logits / temperature
    plus Gumbel noise. Probabilities are those at temperature 1 either way.
    """
    rows = listed.rows[: int(listed.total)].long()
    logits = product(hidden[rows], head).float()
    if allowed is not None:
        logits.masked_fill_(~unpack(allowed.expand(len(hidden), -1)[rows], head.out), -torch.inf)
    top, best = logits.max(dim=-1)
    second = logits.scatter(1, best[:, None], -torch.inf).amax(dim=-1)
    shifted = logits - top[:, None]
    mass = torch.exp(shifted).sum(dim=-1)
    entropy = torch.log(mass) - torch.where(shifted == -torch.inf, 0.0, torch.exp(shifted) * shifted).sum(dim=-1) / mass
    ids = best if noise is None else (logits / noise.temperature + gumbel(noise.state, rows, head.out)).argmax(dim=-1)
    confidence = torch.exp(shifted.gather(1, ids[:, None])[:, 0]) / mass
    found = Choice(ids.to(torch.int32), confidence, entropy, (1 - torch.exp(second - top)) / mass)
    return Choice(*(torch.zeros(len(hidden), dtype=one.dtype, device=one.device).index_copy(0, rows, one) for one in found))

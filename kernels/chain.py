"""The chain head: the ids of a block's slots chosen from left to right, each in sight of the one before it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from kernels.confidence import Best, likeliest, mass

# The ids among which a slot chooses, by what it says without knowledge of its neighbour. The right one is nearly always there, and
# ranking all ids anew would cost a second product with the whole head.
CANDIDATES = 16


def chain_ids(hidden: Tensor, logits: Tensor, first: int, embedding: Tensor, inward: Tensor, outward: Tensor) -> Best:
    """Ids and confidences of slots in a row, the id before the first of them being `first`.

    hidden [slots, width], float32 logits [slots, vocab] of the same slots, embedding [vocab, width], inward [inner, 2 · width], outward
    [width, inner], both float32. Slot i's hidden state becomes h + outward · silu(inward · [h ; n(e)]), e the embedding of the id chosen
    before it and n a normalisation to root mean square 1; its id is the best of the `CANDIDATES` that its own logits put first. The
    confidence counts the ids that were no candidates with the probability that the logits gave them.
    """
    width = hidden.shape[1]
    told, ids = likeliest(logits, min(CANDIDATES, logits.shape[1]))  # [slots, candidates]
    told = told - told[:, :1] - mass(logits, told[:, 0]).log()[:, None]
    others = (1 - told.exp().sum(dim=-1)).clamp(min=0.0)
    rows = embedding[ids].float()  # [slots, candidates, width]
    own = hidden.float() @ inward[:, :width].T  # [slots, inner]
    chosen, confidence = [], []
    for slot in range(len(hidden)):
        before = embedding[first].float()
        inner = own[slot] + inward[:, width:] @ functional.rms_norm(before, (width,), eps=1e-6)
        scores = told[slot] + rows[slot] @ (outward @ functional.silu(inner))
        place = int(scores.argmax())
        first = int(ids[slot, place])
        chosen.append(first)
        confidence.append(scores[place].exp() / (scores.exp().sum() + others[slot]))
    return Best(torch.tensor(chosen), torch.stack(confidence))

"""What a causal reading makes of a draft: as much of it as agrees is committed, and the block that hangs there is the next draft.

Knows ids, no model. Reads nothing back: the draft, the count of what is committed and the end of it all lie on the device.

    rows    anchor d1 … dn │ block at the anchor │ block at d1 │ … │ block at dn      slots = n + 1 rows each
    choice  what the model would write after each row; after a block's row s ≥ 1 the draft of the next forward
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from kernels.choice import Choice

# Where in `Text.told` numbers lie; the committed ids come behind them, and behind those their probabilities, as the bits of float32.
COUNT, FORWARDS, GOING, MOST, HEADER = 0, 1, 2, 3, 4


class Text(NamedTuple):
    """A text being written. All int32 and on the device."""

    clean: Tensor  # [slots + 1], the anchor, the draft behind it, and the mask's id, which is never chosen
    cached: Tensor  # [1], positions whose keys and values are those of what is committed
    left: Tensor  # [1], rows of the next forward to choose for: 0 once the text has ended, before that all
    told: Tensor  # [`told_size`], what the host reads

    @property
    def slots(self) -> int:
        return len(self.clean) - 1

    @property
    def room(self) -> int:
        """Ids that may be committed."""
        return (len(self.told) - HEADER) // 2


def told_size(room: int) -> int:
    return HEADER + 2 * room


def new_text(slots: int, room: int, mask_id: int, cached: Tensor) -> Text:
    """One that has ended, on the device of `cached` [1] int32, which it counts on in."""
    clean, left, told = (torch.zeros(size, dtype=torch.int32, device=cached.device) for size in (slots + 1, 1, told_size(room)))
    return Text(clean.fill_(mask_id), cached, left, told)


def begin(text: Text, anchor: int, draft: list[int], cached: int, most: int) -> None:
    """Start anew behind `cached` positions and the id `anchor`, with a first draft of slots − 1 ids at most. `most`: ids to be written."""
    assert len(draft) < text.slots and 0 < most <= text.room
    text.clean[:-1].copy_(text.clean[-1:].expand(text.slots))
    text.clean[: 1 + len(draft)].copy_(torch.tensor([anchor, *draft], dtype=torch.int32))
    text.cached.fill_(cached)
    text.left.fill_(text.slots * (text.slots + 1))
    text.told[:HEADER].copy_(torch.tensor([0, 0, 1, most], dtype=torch.int32))


def verify(text: Text, choice: Choice, ends: Tensor) -> None:
    """Commit the ids that agree and the first that does not, in place; nothing where the text has ended. The twin of `kernels.gpu.verify`.

    choice has a row a row of the forward; ends [vocab] int8 is 1 for the ids that end a text. It also ends with its `most`-th id.
    """
    told, slots = text.told, text.slots
    count, forwards, going, most = told[:HEADER].tolist()
    if not going:
        return
    chosen = choice.ids[:slots]
    agree = chosen[: slots - 1] == text.clean[1:slots]
    committed = int(agree.int().cumprod(dim=0).sum()) + 1
    ended = ends[chosen[:committed].long()].nonzero()
    if len(ended):
        committed = int(ended[0]) + 1
    committed = min(committed, most - count)
    going = not len(ended) and count + committed < most
    told[HEADER + count : HEADER + count + committed] = chosen[:committed]
    sure = told[HEADER + text.room :].view(torch.float32)
    sure[count : count + committed] = choice.confidence[:committed]
    told[:HEADER] = torch.tensor([count + committed, forwards + 1, going, most], dtype=torch.int32)
    block = slots * committed
    text.clean[:slots] = torch.cat((chosen[committed - 1 : committed], choice.ids[block + 1 : block + slots]))
    text.cached.add_(committed)
    text.left.mul_(int(going))

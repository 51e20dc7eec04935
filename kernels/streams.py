"""Attention of the new rows of several streams at once, each over its own cache. Knows no schedule."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from kernels.attention import block_attention
from kernels.bits import pack, unpack


class Cached(NamedTuple):
    """Keys and values of one layer. Each stream holds `lengths` committed positions, and behind them its new rows' own.

    With `pages` they lie in one memory for all streams, a page here and a page there: keys and values are [all pages, kv_heads, page,
    head_dim], and position p of a stream lies at p % page of its page p // page. A page is a multiple of 64 positions.
    """

    keys: Tensor  # [streams, kv_heads, capacity, head_dim], in the rows' dtype or float8_e4m3fn
    values: Tensor
    lengths: Tensor  # [streams] int32, on the device
    key_scale: float = 1.0  # what a stored key is to be multiplied with
    value_scale: float = 1.0
    pages: Tensor | None = None  # [streams, pages of a stream] int32, on the device

    @property
    def capacity(self) -> int:
        """Positions of a stream."""
        return self.keys.shape[2] if self.pages is None else self.pages.shape[1] * self.keys.shape[2]

    @property
    def page(self) -> int:
        """Positions of a page; 0 without pages."""
        return 0 if self.pages is None else self.keys.shape[2]

    def held(self, part: Tensor, stream: int, count: int) -> Tensor:
        """The first `count` positions of a stream in `part`, the keys or the values: [kv_heads, count, head_dim]."""
        if self.pages is None:
            return part[stream, :, :count]
        used = self.pages[stream, : -(-count // self.page)].long()
        return part[used].transpose(0, 1).flatten(1, 2)[:, :count]

    def write(self, part: Tensor, stream: int, start: int, rows: Tensor) -> None:
        """Put rows [kv_heads, count, head_dim] at positions `start`… of a stream."""
        if self.pages is None:
            part[stream, :, start : start + rows.shape[1]] = rows
            return
        positions = torch.arange(start, start + rows.shape[1], device=rows.device)
        part[self.pages[stream, positions // self.page].long(), :, positions % self.page] = rows.transpose(0, 1)


class Seen(NamedTuple):
    """Which of the new rows each one sees, as bits. Made once a forward (`seen_bits`), read in every layer."""

    words: Tensor  # int32 [rows, words] or [streams, rows, words]; a row's flags stand between 64 of True and 64 of False


def seen_bits(seen: Tensor) -> Seen:
    """seen bool [rows, rows], or [streams, rows, rows] where streams differ."""
    before, after = (torch.full((*seen.shape[:-1], 64), flag, dtype=torch.bool, device=seen.device) for flag in (True, False))
    return Seen(pack(torch.cat((before, seen, after), dim=-1)))


def attend(query: Tensor, cached: Cached, seen: Seen | None = None, live: Tensor | None = None) -> Tensor:
    """`block_attention` for each stream. The twin of `kernels.gpu.attention`.

    query [streams, rows, heads, head_dim]; without `seen` all new rows see each other; `live`: see `kernels.qkv`.
    Returns [streams, rows, heads · head_dim].
    """
    rows, found = query.shape[1], []
    for stream, length in enumerate(cached.lengths.tolist()):
        keys, values = (
            (cached.held(part, stream, length + rows).float() * scale).to(query.dtype)
            for part, scale in ((cached.keys, cached.key_scale), (cached.values, cached.value_scale))
        )
        found.append(block_attention(query[stream], keys, values, _flags(seen, stream, rows, query.device), length))
    return torch.stack(found)


def _flags(seen: Seen | None, stream: int, rows: int, device: torch.device) -> Tensor:
    if seen is None:
        return torch.ones(rows, rows, dtype=torch.bool, device=device)
    words = seen.words if seen.words.dim() == 2 else seen.words[stream]
    return unpack(words, 64 + rows)[:, 64:]

"""The decode loop where the model is on a device: launches of forwards, between which the host only listens. Knows ids and positions.

What it gives is what `engine.decode` gives, token for token: both equal greedy causal decoding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from engine import decode as host
from engine.cache import CacheSlot
from engine.decode import Decoded, Interrupt, Interrupted
from engine.drafting import Decoder, Limits, Source, ended_by, from_text
from engine.models.device import DeviceTransformer
from engine.repeats import Repeats
from engine.writer import Told, Writer

# Room is taken for so many ids at a time: a writer is made anew for another room.
_ROOM_STEP = 256
# Rules for where a text ends whose ids are kept.
_MOST_KNOWN = 8
_known: dict[Any, Tensor] = {}


def decode(
    decoder: Decoder,
    slot: CacheSlot,
    prompt: Sequence[int],
    limits: Limits,
    interrupted: Interrupted,
    sources: Sequence[Source] = (),
) -> Decoded:
    """`engine.decode.decode`; on the device where the model is a `DeviceTransformer` and nothing asks for the host between two forwards.

    That is so for text that leans towards another (`Source.favour`) and for text that is not verified. The interruption is asked before
    every launch, so it is seen a few forwards late, and `text_ends` when a launch has told what it wrote: forwards beyond the end cost time
    and change nothing. Of the sources only the first draft is taken.
    """
    model = decoder.transformer
    if not isinstance(model, DeviceTransformer) or not limits.verify or any(source.favour for source in sources):
        return host.decode(decoder, slot, prompt, limits, interrupted, sources)
    reason = _read(model, slot, prompt[:-1], interrupted)
    if reason:
        return Decoded([], [], 0, 0, reason)
    started = time.perf_counter()
    writer = model.writer(slot, decoder.banned, decoder.layout.mask_id, -(-limits.tokens // _ROOM_STEP) * _ROOM_STEP)
    draft = from_text((Repeats(prompt), *sources), decoder.layout.end_id, limits).draft
    ends = _ends(limits.line_ends, decoder.layout.end_id, len(model.embedding))
    writer.start(prompt[-1], draft.ids, len(slot.ids), limits.tokens, ends, limits.not_first)
    return _written(decoder, slot, prompt[-1], limits, interrupted, sources, writer)._replace(seconds=time.perf_counter() - started)


def _read(model: DeviceTransformer, slot: CacheSlot, ids: Sequence[int], interrupted: Interrupted) -> Interrupt | None:
    """Bring the slot to hold `ids`, of which it holds the first ones already."""
    while len(slot.ids) < len(ids):
        if reason := interrupted():
            return reason
        model.read(slot, ids[len(slot.ids) :])
    return None


def _written(
    decoder: Decoder, slot: CacheSlot, anchor: int, limits: Limits, interrupted: Interrupted, sources: Sequence[Source], writer: Writer
) -> Decoded:
    launches, start = writer.launches, len(slot.ids)
    ids: list[int] = []
    told: Told | None = None
    reason: Interrupt | None = None
    while True:
        while not reason and launches.flying < launches.ahead and not (reason := interrupted()):
            launches.launch()
        if reason and not launches.flying:
            forwards = told.forwards if told else 0
            return Decoded(ids, told.confidence if told else [], forwards, forwards, reason)
        told = Told(launches.landed())
        # What it read is committed, also where the text is found to have ended before.
        slot.commit([anchor, *told.ids][len(slot.ids) - start : len(told.ids)])
        for index in told.ids[len(ids) :]:
            ids.append(index)
            ended = ended_by(index, len(ids), decoder.layout.end_id, limits) or ("line" if limits.text_ends(ids) else None)
            if ended:
                return Decoded(ids, told.confidence[: len(ids)], told.forwards, told.forwards, ended)
            for source in sources:
                source.add(index)
        for source in sources:
            source.draft(0)  # that it was asked is how a listener knows of a forward's end


def _ends(line_ends: Callable[[int], bool], end_id: int, vocab: int) -> Tensor:
    """Whether each id ends a text, int8 [vocab]. Asked once for each rule."""
    key = line_ends, end_id, vocab
    if key not in _known:
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        ends = torch.tensor([line_ends(index) for index in range(vocab)], dtype=torch.int8)
        ends[end_id] = 1
        _known[key] = ends
    return _known[key]

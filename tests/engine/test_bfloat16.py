"""In bfloat16 verified and greedy decoding may part at ties only, and rarely: rows round differently in products of other shapes."""

from __future__ import annotations

import pytest
import torch
from holes import holes
from test_decode import both_ways, fresh_slot, nearest, never

from engine.api import EngineConfig
from engine.canvas import clean_and_blocks
from engine.decode import prefill
from engine.engine import LocalEngine

HOLES = 100
# Each logit is rounded once to bfloat16, and stems from activations that were: a few of its own steps.
TIE = 4 * 2**-8


@pytest.fixture(scope="module")
def rounded() -> LocalEngine:
    return LocalEngine.load(EngineConfig(dtype="bfloat16", threads=1))


def test_only_ties_part_verified_from_greedy(rounded: LocalEngine) -> None:
    compared = parted = 0
    for request in holes(HOLES, multiline=True):
        verified, greedy = both_ways(rounded, request)
        same = next((i for i, (one, other) in enumerate(zip(verified.ids, greedy.ids, strict=False)) if one != other), None)
        compared += len(greedy.ids) if same is None else same + 1
        if same is not None:
            parted += 1
            best, second = best_two(rounded, [*rounded.prompt_ids(nearest(request)), *greedy.ids[:same]])
            assert best - second <= TIE * abs(best), request.prefix[-60:]
    print(f"{parted} of {compared} tokens parted")
    assert parted < 0.005 * compared


@torch.inference_mode()
def best_two(engine: LocalEngine, ids: list[int]) -> tuple[float, float]:
    """The two highest logits for the token after `ids`."""
    slot, transformer = fresh_slot(engine), engine.decoder.transformer
    prefill(engine.decoder, slot, ids[:-1], never)
    logits = transformer.head(transformer.forward(clean_and_blocks(ids[-1:], len(slot.ids)), slot)).float()[0]
    logits[engine.decoder.banned] = -torch.inf
    best, second = logits.topk(2).values.tolist()
    return best, second

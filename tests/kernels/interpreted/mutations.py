"""Kernels with one thing wrong: a test of the others must fail for each, or it proves nothing."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import attention
import choice
import commit
import layer
import pytest
import torch
import verify


class Mutant(NamedTuple):
    """`old` in the module's text becomes `new`; `test` with `arguments` must notice."""

    module: str
    old: str
    new: str
    test: Callable[..., None]
    arguments: tuple[Any, ...] = ()


CHOICE, DRAWN = choice.test_the_best_id_and_how_sure_it_is, choice.test_what_is_drawn_is_what_the_twin_draws
COMMIT, SEEN, CHUNKS = (
    commit.test_commits_what_the_rule_says,
    attention.test_what_is_seen_is_mixed,
    attention.test_any_number_of_chunks_gives_the_same,
)
QKV, PROJECTION = layer.test_queries_and_the_cache, layer.test_projection
PAGES = attention.test_pages_are_read_as_one_piece_is
IDLE, VERIFY = layer.test_nothing_is_done_where_nothing_lives, verify.test_commits_what_agrees_until_the_end

MUTANTS = [
    Mutant("choice", "best = tl.min(tl.where(", "best = tl.max(tl.where(", choice.test_of_equal_logits_the_lowest_allowed_id_is_best),
    Mutant("choice", "stored[:, None], vocab), axis=0)\n    second", "stored[:, None], 0), axis=0)\n    second", CHOICE, choice.CASES[1]),
    Mutant("choice", "allowed + row[None, :] * allowed_stride", "allowed + row[None, :] * 0", CHOICE, choice.CASES[2]),
    Mutant("choice", "tl.where(tile == first, seconds, tops)", "tops", CHOICE, choice.CASES[1]),
    Mutant("choice", "factor * (spreads + moved * masses)", "factor * spreads", CHOICE, choice.CASES[1]),
    Mutant("choice", "logits = row_scaled(logits, scale, stored, KIND)", "", CHOICE, choice.CASES[5]),
    Mutant("choice", "_gumbel(noise, row, n,", "_gumbel(noise, entry, n,", DRAWN, (0.3,)),
    Mutant("choice", "tl.exp(said - top) / mass", "1.0 / mass", DRAWN, (1.7,)),
    Mutant("commit", "(rank + 2)", "(rank + 1)", COMMIT, (40, 32, commit.Rule(factor=0.9))),
    Mutant("commit", "(confidence >= threshold)", "(confidence > threshold)", COMMIT, (40, 32, commit.Rule(threshold=0.75))),
    Mutant("commit", "axis=0) - 1\n    again", "axis=0)\n    again", COMMIT, (40, 32, commit.Rule(keep=1.1))),
    Mutant("commit", "place = found + tl.cumsum", "place = tl.cumsum", commit.test_lists_masked_slots_in_order, (65, 32, 0.5)),
    Mutant("attention", "head[:, None] * query_head", "kv_head * query_head", SEEN, attention.CASES[4]),
    Mutant("attention", "(own + 64) % 32", "(own + 65) % 32", SEEN, attention.CASES[3]),
    Mutant("attention", "seen + stream * seen_stream", "seen", SEEN, (*attention.CASES[3][:5], [65, 20], *attention.CASES[3][6:])),
    Mutant("attention", "mixed * shrink[:, None])", "mixed)", CHUNKS, (1,)),
    Mutant("attention", "there = position < cached + rows", "there = position <= cached + rows", SEEN, attention.CASES[4]),
    Mutant("attention", "share = tl.exp2(", "share = tl.exp(", CHUNKS, (200,)),
    Mutant("attention", "mask=used, other=0.0", "mask=(chunk < chunks)[:, None], other=0.0", CHUNKS, (200,)),
    Mutant("qkv", "left * c - right * s", "left * c + right * s", QKV, layer.LAYERS[1]),
    Mutant("qkv", "tl.load(lengths + stream)", "tl.load(lengths)", QKV, layer.LAYERS[1]),
    Mutant("qkv", "(head - HEADS) % KV_HEADS", "0", QKV, layer.LAYERS[1]),
    Mutant("qkv", "(head >= HEADS).to(tl.int32)", "0", QKV, layer.LAYERS[2]),
    Mutant("mlp", "tl.sigmoid(gate) * up", "up", layer.test_gate_and_up, layer.PRODUCTS[1]),
    Mutant("mlp", "squares / width", "squares / TILE_K", layer.test_gate_and_up, layer.PRODUCTS[1]),
    Mutant("projection", "tl.static_range(SHARES)", "tl.static_range(1)", PROJECTION, (*layer.PRODUCTS[3], 50)),
    Mutant("projection", "tl.minimum(first + share, into)", "into", PROJECTION, (*layer.PRODUCTS[3], 50)),
    Mutant("qkv", "    if idle(live):\n        return\n", "", IDLE, ("qkv",)),
    Mutant("mlp", "    if idle(live):\n        return\n", "", IDLE, ("gate_up",)),
    Mutant("attention", "start // PAGE", "start // PAGE * 0", PAGES, ([0, 70, 250], torch.bfloat16)),
    Mutant("attention", "position % PAGE", "position", PAGES, ([0, 70, 250], torch.bfloat16)),
    Mutant("qkv", "stream * page_stream + position", "position", layer.test_pages_are_written_where_the_table_says),
    Mutant("verify", "tl.minimum(first_other, first_end)", "first_other", VERIFY, (5, 1.0, 1.0)),
    Mutant("verify", "tl.where(chosen == draft, SLOTS, slot)", "tl.where(chosen == draft, SLOTS, slots - 1)", VERIFY, (5, 0.7, 0.0)),
    Mutant("verify", "slots * committed + slot", "slots * committed + slot - 1", VERIFY, (5, 0.7, 0.0)),
    Mutant("verify", ", most - count)\n", ", most)\n", VERIFY, (8, 1.0, 0.0)),
    Mutant("product", "low_scale, low.dtype", "high_scale, low.dtype", PROJECTION, (*layer.PRODUCTS[6], 1)),
    Mutant("product", "tl.dot(w.to(a.dtype), a, sums)", "tl.dot(w.to(a.dtype), a)", PROJECTION, (*layer.PRODUCTS[1], 1)),
]


def loaded(mutant: Mutant, folder: Path) -> ModuleType:
    text = inspect.getsource(importlib.import_module(f"kernels.gpu.{mutant.module}"))
    assert text.count(mutant.old) == 1, f"{mutant.old!r} is {text.count(mutant.old)} times in {mutant.module}"
    path = folder / f"mutant_{mutant.module}.py"
    path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.module}: {mutant.old[:30]}")
def test_a_wrong_kernel_is_caught(mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded(mutant, tmp_path)
    if mutant.module == "product":
        monkeypatch.setattr("kernels.gpu.projection.product", module.product)
    for user in (attention, choice, commit, layer, verify):
        for name, own in vars(module).items():
            if getattr(own, "__module__", None) == module.__name__ and hasattr(user, name):
                monkeypatch.setattr(user, name, own)
    with pytest.raises(AssertionError):
        mutant.test(*mutant.arguments)

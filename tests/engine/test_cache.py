"""Which slot a request gets, and what is kept in it."""

from __future__ import annotations

import torch

from engine.cache import PrefixCache
from engine.config import DenseConfig

CONFIG = DenseConfig(
    layers=1, width=4, heads=1, kv_heads=1, head_dim=4, mlp=4, vocab=9, rope_theta=1e4, norm_eps=1e-5, max_positions=64
)  # fmt: skip


def cache(slots: int) -> PrefixCache:
    return PrefixCache(CONFIG, slots=slots, capacity=32, dtype=torch.float32)


def fill(prefix_cache: PrefixCache, ids: list[int]) -> int:
    """What a request for `ids` finds; afterwards all of them are in its slot."""
    slot = prefix_cache.match(ids)
    found = len(slot.ids)
    assert slot.ids == ids[:found]
    slot.commit(ids[found:])
    return found


def test_a_growing_prefix_is_found_whole() -> None:
    prefix_cache = cache(2)
    assert [fill(prefix_cache, list(range(length))) for length in (4, 5, 9)] == [0, 4, 5]


def test_a_changed_tail_keeps_the_run_before_it() -> None:
    prefix_cache = cache(1)
    fill(prefix_cache, [1, 2, 3, 4, 5])
    assert fill(prefix_cache, [1, 2, 3, 9]) == 3
    assert fill(prefix_cache, [1, 2, 3, 4, 5]) == 3  # what was given up is not found again


def test_another_place_does_not_cost_the_first_one_its_slot() -> None:
    prefix_cache = cache(2)
    here, there = [1, 2, 3, 4, 5, 6], [1, 7, 7, 7, 7, 7]
    assert [fill(prefix_cache, ids) for ids in (here, there, here, there)] == [0, 0, 6, 6]


def test_a_tail_that_never_serves_again_is_no_loss() -> None:
    """The head of a rewriting's prompt is found again, however long the rest of it was."""
    prefix_cache = cache(3)
    head = [1, 2, 3]
    assert len(prefix_cache.match([*head, *[4] * 9], len(head)).ids) == 0
    prefix_cache.match([*head, *[4] * 9], len(head)).commit([*head, *[4] * 9])
    assert prefix_cache.match([*head, *[5] * 9], len(head)).ids == head


def test_the_least_recently_used_slot_is_given_up() -> None:
    prefix_cache = cache(2)
    first, second, third = [1] * 6, [2] * 6, [3] * 6
    fill(prefix_cache, first)
    fill(prefix_cache, second)
    fill(prefix_cache, first)
    assert fill(prefix_cache, third) == 0
    assert fill(prefix_cache, first) == 6
    assert fill(prefix_cache, second) == 0


def test_written_rows_come_back_in_place() -> None:
    slot = cache(1).match([])
    rows = torch.arange(8.0).view(2, 1, 4)
    slot.write(0, rows, rows * 10)
    slot.commit([7, 8])
    keys, values = slot.write(0, rows + 100, rows + 200)
    assert torch.equal(keys[0, :2], rows[:, 0]) and torch.equal(keys[0, 2:4], rows[:, 0] + 100)
    assert torch.equal(values[0, :2], rows[:, 0] * 10) and torch.equal(values[0, 2:4], rows[:, 0] + 200)
    assert torch.isfinite(keys).all() and torch.isfinite(values).all()

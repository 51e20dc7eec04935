"""Pages of a pool: taken, given back and copied; and many sequences read in one forward of the graph as each is alone."""

from __future__ import annotations

import random

import pytest
import torch

from engine.cache import CacheSlot
from engine.canvas import clean_and_blocks
from engine.config import DenseConfig
from engine.models.dense import LayerWeights
from engine.models.graph import GraphTransformer
from engine.pages import PagePool, PooledSlot

CONFIG = DenseConfig(
    layers=2, width=64, heads=4, kv_heads=2, head_dim=16, mlp=96, vocab=50, rope_theta=1e4, norm_eps=1e-5, max_positions=1024
)  # fmt: skip


@pytest.fixture(scope="module")
def model() -> GraphTransformer:
    torch.manual_seed(0)

    def weight(out: int, into: int) -> torch.Tensor:
        return torch.randn(out, into) * into**-0.5

    c = CONFIG
    embedding = torch.randn(c.vocab, c.width)
    graph = GraphTransformer(c, embedding, torch.ones(c.width), embedding)
    for _ in range(c.layers):
        qkv, o = weight((c.heads + 2 * c.kv_heads) * c.head_dim, c.width), weight(c.width, c.heads * c.head_dim)
        norm, gate_up, down = torch.ones(c.width), weight(2 * c.mlp, c.width), weight(c.width, c.mlp)
        graph.add_layer(LayerWeights(attention_norm=norm, qkv=qkv, o=o, mlp_norm=norm, gate_up=gate_up, down=down))
    return graph


def read(model: GraphTransformer, slot: CacheSlot, ids: list[int]) -> CacheSlot:
    for start in range(0, len(ids), 64):
        chunk = ids[start : start + 64]
        model.forward(clean_and_blocks(chunk, start), slot)
        slot.commit(chunk)
    return slot


def test_many_in_one_forward_are_each_as_they_are_alone(model: GraphTransformer) -> None:
    rng, pool = random.Random(0), PagePool(CONFIG, torch.float32, 4096, 32)
    batch, alone = [], []
    for number in range(12):
        ids = [rng.randrange(50) for _ in range(rng.randrange(0, 200))]
        new = [rng.randrange(50) for _ in range(rng.randrange(1, 60))]
        anchors = [len(new) - 1] if number % 2 else []
        rows = clean_and_blocks(new, len(ids), anchors, 6, 3)
        batch.append((rows, read(model, PooledSlot(pool, 384), ids)))
        alone.append(model.forward(rows, read(model, CacheSlot(CONFIG, 384, torch.float32), ids)))
    for together, single in zip(model.forward_many(batch), alone, strict=True):
        assert torch.equal(together, single)


def test_a_copied_run_and_a_resized_slot_go_on_as_the_first_would(model: GraphTransformer) -> None:
    pool = PagePool(CONFIG, torch.float32, 2048, 8)
    first = read(model, PooledSlot(pool, 256), list(range(50)) * 3)
    second = PooledSlot(pool, 128)
    second.copy(first, 100)
    second.resize(512)
    rows = clean_and_blocks([7, 8, 9], 100)
    expected = model.forward(rows, read(model, CacheSlot(CONFIG, 512, torch.float32), (list(range(50)) * 3)[:100]))
    assert second.ids == first.ids[:100] and torch.equal(model.forward(rows, second), expected)


def test_pages_are_given_back() -> None:
    pool = PagePool(CONFIG, torch.float32, 512, 4)
    for _ in range(100):
        slots = [PooledSlot(pool, 128) for _ in range(4)]
        for slot in slots:
            slot.pages(32, 32)
        assert len({page for slot in slots for page in slot.table(4)}) == 16
        slots[0].resize(1)
        for slot in slots:
            slot.release()
    assert sorted(pool.take(20)) == list(range(20))

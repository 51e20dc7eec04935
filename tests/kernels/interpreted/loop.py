"""The engine's loop on the kernels: it writes what it writes on the twins, and after the end of a text nothing changes any more."""

from __future__ import annotations

import pytest
import torch
from interpreter import CHIP, fresh

import kernels.ops
from engine import on_device
from engine.cache import CacheSlot
from engine.config import DenseConfig, InfillLayout
from engine.decode import Decoder, Limits
from engine.models.dense import LayerWeights
from engine.models.device import DeviceTransformer
from kernels.weight import Kind

VOCAB, END, MASK = 83, 0, 82
CONFIG = DenseConfig(
    layers=2, width=64, heads=4, kv_heads=2, head_dim=16, mlp=64, vocab=VOCAB, rope_theta=1e4, norm_eps=1e-5, max_positions=512,
    qkv_bias=True,
)  # fmt: skip
LAYOUT = InfillLayout(path_id=1, suffix_id=2, prefix_id=3, end_id=END, mask_id=MASK, context=200, block=8)


def decoder(generator: torch.Generator, kind: Kind) -> Decoder:
    c = CONFIG

    def random(out: int, into: int) -> torch.Tensor:
        return torch.randn(out, into, generator=generator) * 2 * into**-0.5

    model = DeviceTransformer(c, torch.randn(VOCAB, c.width, generator=generator), torch.ones(c.width), kind=kind)
    for _ in range(c.layers):
        rows = (c.heads + 2 * c.kv_heads) * c.head_dim
        model.add_layer(
            LayerWeights(
                attention_norm=torch.rand(c.width, generator=generator) + 0.5,
                qkv=random(rows, c.width),
                o=random(c.width, c.heads * c.head_dim),
                mlp_norm=torch.rand(c.width, generator=generator) + 0.5,
                gate_up=random(2 * c.mlp, c.width),
                down=random(c.width, c.mlp),
                qkv_bias=torch.randn(rows, generator=generator),
            )
        )
    return Decoder(model, LAYOUT, torch.tensor([1, 2, 3, MASK]))


@pytest.mark.parametrize(("kind", "unread"), [("plain", 20), ("int8", 3)])
def test_the_loop_writes_what_it_writes_on_the_twins(kind: Kind, unread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = int(torch.randint(1 << 30, (), generator=fresh("loop")))
    prompt = torch.randint(4, MASK, (unread,), generator=torch.Generator().manual_seed(seed)).tolist()
    rule = Limits(tokens=3, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
    found, slots, models = [], [], []
    for chip in (None, CHIP):
        monkeypatch.setattr(kernels.ops, "gpu_of", lambda device, chip=chip: chip)
        one = decoder(torch.Generator().manual_seed(seed), kind)
        slot = CacheSlot(CONFIG, 128, torch.float32)
        with torch.inference_mode():
            found.append(on_device.decode(one, slot, prompt, rule, lambda: None))
        slots.append(slot)
        models.append(one.transformer)
    assert found[0].ids == found[1].ids and found[0].ended == found[1].ended and found[0].forwards == found[1].forwards
    assert found[0].confidence == pytest.approx(found[1].confidence, abs=1e-4)
    memory = models[1]._memories[slots[1]]  # type: ignore[attr-defined]
    before = [part.clone() for part in (*memory.held, memory.lengths, *memory.writer.text)]
    with torch.inference_mode():
        memory.writer.launches.launch()
    assert all(torch.equal(one, other) for one, other in zip(before, (*memory.held, memory.lengths, *memory.writer.text), strict=True))

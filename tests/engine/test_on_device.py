"""The decode loop of a device, on the CPU with the torch twins: its text is that of greedy causal decoding and of the host's loop."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
import torch
from holes import holes
from test_decode import StopAfter, fresh_slot, nearest, never

from engine import on_device
from engine.api import EngineConfig, InfillRequest, StopFlag
from engine.cache import CacheSlot
from engine.checkpoints.adapter import Adapter
from engine.checkpoints.catalog import find
from engine.checkpoints.gguf import GGUFFile
from engine.checkpoints.load import merged_embedding, merged_layers
from engine.config import DenseConfig, InfillLayout
from engine.decode import Decoded, decode, decode_causally
from engine.dedent import ended
from engine.drafting import Decoder, Limits
from engine.engine import LocalEngine
from engine.follow import Follow
from engine.listener import Listener
from engine.models.dense import DenseTransformer, LayerWeights
from engine.models.device import CHUNKS, DeviceTransformer
from engine.models.fastest import gpu_for
from kernels.launch import gpu_of
from kernels.weight import Kind

VOCAB, END, MASK = 61, 0, 60
LAYOUT = InfillLayout(path_id=1, suffix_id=2, prefix_id=3, end_id=END, mask_id=MASK, context=300, block=8)
BANNED = torch.tensor([1, 2, 3, MASK])


def config(qkv_bias: bool = False, qk_norm: bool = False) -> DenseConfig:
    return DenseConfig(
        layers=2, width=32, heads=4, kv_heads=2, head_dim=16, mlp=48, vocab=VOCAB, rope_theta=1e4, norm_eps=1e-5, max_positions=1024,
        qkv_bias=qkv_bias, qk_norm=qk_norm,
    )  # fmt: skip


def gain(size: int) -> torch.Tensor:
    return torch.rand(size) + 0.5


def random_layer(c: DenseConfig) -> LayerWeights:
    def random(out: int, into: int) -> torch.Tensor:
        return torch.randn(out, into) * 2 * into**-0.5

    rows = (c.heads + 2 * c.kv_heads) * c.head_dim
    return LayerWeights(
        attention_norm=gain(c.width),
        qkv=random(rows, c.width),
        o=random(c.width, c.heads * c.head_dim),
        mlp_norm=gain(c.width),
        gate_up=random(2 * c.mlp, c.width),
        down=random(c.width, c.mlp),
        qkv_bias=torch.randn(rows) if c.qkv_bias else None,
        q_norm=gain(c.head_dim) if c.qk_norm else None,
        k_norm=gain(c.head_dim) if c.qk_norm else None,
    )


def pair(seed: int, c: DenseConfig, kind: Kind = "plain") -> tuple[Decoder, Decoder]:
    """One model of random weights, for a device and as the CPU has it."""
    torch.manual_seed(seed)
    embedding, norm = torch.randn(c.vocab, c.width), gain(c.width)
    device, dense = DeviceTransformer(c, embedding, norm, kind=kind), DenseTransformer(c, embedding, norm)
    for _ in range(c.layers):
        layer = random_layer(c)
        device.add_layer(layer)
        dense.add_layer(layer)
    return Decoder(device, LAYOUT, BANNED), Decoder(dense, LAYOUT, BANNED)


def limits(tokens: int, line_ends: Callable[[int], bool] = lambda index: False, **more: object) -> Limits:
    return Limits(tokens=tokens, line_ends=line_ends, text_ends=lambda ids: False, verify=True)._replace(**more)  # type: ignore[arg-type]


def on_device_and_greedily(decoder: Decoder, prompt: Sequence[int], rule: Limits) -> tuple[Decoded, Decoded]:
    slot = CacheSlot(decoder.transformer.config, 512, torch.float32)
    with torch.inference_mode():
        written = on_device.decode(decoder, slot, prompt, rule, never)
        text = [*prompt, *written.ids]
        assert slot.ids[: len(text)] == text[: len(slot.ids)] and len(slot.ids) >= len(text) - 1
        return written, decode_causally(decoder, CacheSlot(decoder.transformer.config, 512, torch.float32), prompt, rule)


def assert_same(written: Decoded, other: Decoded) -> None:
    assert written.ids == other.ids
    assert written.ended == other.ended
    assert written.confidence == pytest.approx(other.confidence, abs=1e-4)


@pytest.mark.parametrize("shape", [{}, {"qkv_bias": True}, {"qk_norm": True}], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_text_of_random_models_is_greedy_and_the_hosts(seed: int, shape: dict[str, bool]) -> None:
    device, dense = pair(seed, config(**shape))
    prompt = torch.randint(4, MASK, (20 + 60 * seed,)).tolist()
    rule = limits(40, lambda index: index in (7, 8))
    written, greedy = on_device_and_greedily(device, prompt, rule)
    assert_same(written, greedy)
    with torch.inference_mode():
        assert_same(written, decode(dense, CacheSlot(dense.transformer.config, 512, torch.float32), prompt, rule, never))
        assert_same(written, decode(device, CacheSlot(dense.transformer.config, 512, torch.float32), prompt, rule, never))


@pytest.mark.parametrize("kind", ["int8", "fp8"])
def test_narrow_weights_write_what_they_would_write_greedily(kind: Kind) -> None:
    device, _ = pair(3, config(), kind)
    assert_same(*on_device_and_greedily(device, list(range(10, 50)), limits(30)))


def test_a_first_draft_from_text_is_taken() -> None:
    """What the host knows of the text beforehand is verified at once."""
    device, _ = pair(5, config())
    prompt = torch.randint(4, MASK, (40,)).tolist()
    _, greedy = on_device_and_greedily(device, prompt, limits(7))
    slot = CacheSlot(device.transformer.config, 512, torch.float32)
    with torch.inference_mode():
        known = on_device.decode(device, slot, prompt, limits(7), never, [Follow(greedy.ids)])
    assert_same(known, greedy)
    assert known.forwards == 1


@pytest.mark.parametrize("more", [0, 1, 7, 8, 31, 33, 129, 200])
def test_prompts_of_any_length_are_read(more: int) -> None:
    device, _ = pair(more, config())
    torch.manual_seed(more)
    slot = CacheSlot(device.transformer.config, 512, torch.float32)
    prompt = torch.randint(4, MASK, (9,)).tolist()
    rule = limits(5)
    with torch.inference_mode():
        on_device.decode(device, slot, prompt, rule, never)
        longer = [*prompt, *torch.randint(4, MASK, (more,)).tolist()]
        slot.truncate(len(prompt) - 1)
        written = on_device.decode(device, slot, longer, rule, never)
    assert_same(written, on_device_and_greedily(device, longer, rule)[1])
    assert set(device.transformer._memories[slot].readers) <= set(CHUNKS)  # type: ignore[attr-defined]


def test_rules_for_the_end_are_kept() -> None:
    """The first id that is not wanted, an end by the text, and the most ids: all as the host's loop has them."""
    device, dense = pair(1, config())
    prompt = torch.randint(4, MASK, (30,)).tolist()
    plain = on_device_and_greedily(device, prompt, limits(12))[0].ids
    assert len(plain) == 12
    for rule in (
        limits(12, not_first=[plain[0]]),
        limits(12, text_ends=lambda ids: len(ids) > 4),
        limits(1),
        limits(12, lambda index: index == plain[3]),
    ):
        slots = [CacheSlot(device.transformer.config, 512, torch.float32) for _ in range(2)]
        with torch.inference_mode():
            assert_same(on_device.decode(device, slots[0], prompt, rule, never), decode(dense, slots[1], prompt, rule, never))
            # The memory is used again; nothing of the rule before is left.
            slots[0].truncate(len(prompt) - 1)
            assert on_device.decode(device, slots[0], prompt, limits(12), never).ids == plain


def test_whatever_launch_a_stop_comes_before_the_text_is_a_start_and_the_cache_is_good() -> None:
    device, _ = pair(2, config())
    prompt = torch.randint(4, MASK, (300,)).tolist()
    whole = on_device_and_greedily(device, prompt, limits(20))[1].ids
    slot = CacheSlot(device.transformer.config, 512, torch.float32)
    lengths = set()
    for patience in range(12):
        stop = StopAfter(patience)
        with torch.inference_mode():
            written = on_device.decode(device, slot, prompt, limits(20), lambda stop=stop: "stopped" if stop.is_set() else None)
        assert written.ids == whole[: len(written.ids)] and written.ended == "stopped"
        assert len(written.confidence) == len(written.ids)
        lengths.add(len(written.ids))
        slot.truncate(len(prompt) - 1)
    assert len(lengths) > 3 and 0 in lengths
    with torch.inference_mode():
        assert on_device.decode(device, slot, prompt, limits(20), never).ids == whole


def test_a_listener_hears_the_text_grow() -> None:
    device, _ = pair(4, config())
    heard: list[list[int]] = []
    slot = CacheSlot(device.transformer.config, 512, torch.float32)
    with torch.inference_mode():
        written = on_device.decode(device, slot, list(range(10, 40)), limits(20), never, [Listener(lambda ids: heard.append(list(ids)))])
    assert len(heard) == written.forwards - 1 and all(ids == written.ids[: len(ids)] for ids in heard)
    assert all(len(before) < len(after) for before, after in itertools.pairwise(heard))


@pytest.mark.parametrize("favour", [0.0, 1000.0])
def test_what_needs_the_host_goes_the_hosts_way(favour: float) -> None:
    device, dense = pair(6, config())
    prompt, text = list(range(10, 40)), [*range(20, 44), END]
    rules = limits(30) if favour else limits(30, verify=False)
    found = []
    for decoder in (device, dense):
        slot = CacheSlot(decoder.transformer.config, 512, torch.float32)
        with torch.inference_mode():
            found.append(on_device.decode(decoder, slot, prompt, rules, never, [Follow(text, favour)] if favour else []))
    assert_same(*found)
    assert (found[0].ids == text) == bool(favour)


def test_a_slot_that_grows_keeps_what_it_holds() -> None:
    device, _ = pair(7, config())
    prompt = torch.randint(4, MASK, (100,)).tolist()
    whole = on_device_and_greedily(device, prompt, limits(10))[1].ids
    slot = CacheSlot(device.transformer.config, 128, torch.float32)
    with torch.inference_mode():
        on_device.decode(device, slot, prompt, limits(3), never)
        slot.resize(400)
        slot.truncate(len(prompt) - 1)
        assert on_device.decode(device, slot, prompt, limits(10), never).ids == whole


@pytest.fixture(scope="session")
def on_device_engine(engine: LocalEngine) -> Decoder:
    """The default model in float32, for a device."""
    files = find("quicksilver-135m")
    file, adapter = GGUFFile(files.gguf), Adapter(files.adapter)
    model = DeviceTransformer(file.config, merged_embedding(file, adapter, torch.float32), file.tensor("output_norm.weight"))
    for layer in merged_layers(file, adapter, torch.float32):
        model.add_layer(layer)
    return engine.decoder._replace(transformer=model)


@pytest.mark.parametrize("part", range(2))
def test_the_default_models_text_is_greedy_and_the_hosts(engine: LocalEngine, on_device_engine: Decoder, part: int) -> None:
    """Token for token, and by fewer forwards than tokens."""
    forwards = tokens = 0
    for request in itertools.islice(holes(20, multiline=True), part, None, 2):
        ids = engine.prompt_ids(nearest(request))
        rule = limits(8)
        slots = [fresh_slot(engine) for _ in range(3)]
        with torch.inference_mode():
            written = on_device.decode(on_device_engine, slots[0], ids, rule, never)
            assert_same(written, decode(engine.decoder, slots[1], ids, rule, never))
            assert_same(written, decode_causally(engine.decoder, slots[2], ids, rule))
        forwards, tokens = forwards + written.forwards, tokens + len(written.ids)
    assert forwards < 0.75 * tokens


def test_an_engine_on_a_device_writes_what_another_writes(
    engine: LocalEngine, on_device_engine: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the whole engine, lines and blocks, typed on key by key."""
    requests = [
        InfillRequest(prefix=request.prefix[-300:] + typed, suffix=request.suffix[:100], path=request.path, **fields)
        for request in itertools.islice(holes(8), 5, 8)
        for typed, fields in (("", {"max_tokens": 12}), ("x", {"multiline": True, "max_tokens": 12, "dedent": 4}))
    ]
    expected = [engine.infill(request, StopFlag()) for request in requests]
    monkeypatch.setattr(engine, "decoder", on_device_engine)
    monkeypatch.setattr(engine._cache, "_slots", [])
    found = [engine.infill(request, StopFlag()) for request in requests]
    assert [draft.text for draft in found] == [draft.text for draft in expected]
    assert [draft.ended for draft in found] == [draft.ended for draft in expected]
    block = found[1].text
    assert ended(block, 4) is None


def test_a_gpu_is_taken_where_it_takes_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gpu_for("auto") is None or torch.cuda.is_available()
    chip = SimpleNamespace(name="a GPU", major=8, minor=0, multi_processor_count=108)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: chip)
    gpu_of.cache_clear()
    assert gpu_for("auto") == gpu_for("bfloat16") == torch.device("cuda", 1)
    assert gpu_for("float32") is None and gpu_for("int8") is None
    gpu_of.cache_clear()
    chip.major = 7
    assert gpu_for("auto") is None
    gpu_of.cache_clear()


def test_the_engine_loads_onto_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU stands for one: the twins in bfloat16."""
    monkeypatch.setattr("engine.engine.gpu_for", lambda dtype: torch.device("cpu"))
    loaded = LocalEngine.load(EngineConfig(threads=1))
    assert isinstance(loaded.decoder.transformer, DeviceTransformer) and loaded.decoder.transformer.dtype == torch.bfloat16
    draft = loaded.infill(
        InfillRequest(prefix="def add(left, right):\n    return left + ", suffix="\n", path="a.py", max_tokens=6), StopFlag()
    )
    assert "right" in draft.text and draft.forwards <= draft.tokens


def test_what_fails_on_a_gpu_is_said_and_the_cpu_computes(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(model: DeviceTransformer, mask_id: int) -> None:
        raise RuntimeError("Failed to find C compiler")

    monkeypatch.setattr("engine.engine.gpu_for", lambda dtype: torch.device("cpu"))
    monkeypatch.setattr(DeviceTransformer, "try_out", broken)
    monkeypatch.setattr("engine.engine.fastest_dtype", lambda: torch.float32)
    with caplog.at_level("WARNING"):
        loaded = LocalEngine.load(EngineConfig(threads=1))
    assert isinstance(loaded.decoder.transformer, DenseTransformer)
    said = "the GPU cannot be used (RuntimeError: Failed to find C compiler): the CPU computes"
    assert [record.getMessage() for record in caplog.records] == [said]

"""The run on another machine, at a tiny setting on the CPU: what is packed, that it trains, that its adapter joins; and what it imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from tiny import write_corpus, write_gguf

from engine.checkpoints.adapter import Adapter
from engine.training import pack
from engine.training.base_file import read_base
from engine.training.gpu import GpuRules, train_on_gpu
from engine.training.mixture import Sources
from engine.training.parts import LARGEST_PART, dequantised, read_manifest, read_parts_base, read_tensors, write_tensors

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    base = write_gguf(folder / "base.gguf")
    pack.pack_run(base, Sources(data=(write_corpus(folder / "corpus", files=60),)), rows=60, seed=0, folder=folder / "parts")
    return folder / "parts"


def test_the_base_arrives_as_it_was(parts: Path) -> None:
    ours, meant = read_parts_base(parts, read_manifest(parts)), read_base(parts.parent / "base.gguf")[0]
    assert torch.equal(ours.embedding, meant.embedding)
    for one, other in zip(ours.layers, meant.layers, strict=True):
        assert all(torch.equal(one.maps[name], other.maps[name]) for name in other.maps)


@pytest.mark.parametrize("kind", [GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0])
def test_stored_blocks_are_read_as_the_format_says(kind: GGMLQuantizationType) -> None:
    stored = quantize(torch.randn(6, 96).numpy(), kind)
    torch.testing.assert_close(dequantised(torch.from_numpy(stored), kind.name), torch.from_numpy(dequantize(stored, kind)))


def test_large_tensors_are_cut_and_joined(tmp_path: Path) -> None:
    tensors = {"large": torch.randn(700, 256), "small": torch.randn(3)}
    names = write_tensors(tmp_path, "t", tensors.items(), 300_000)
    assert len(names) == 4 and all((tmp_path / name).stat().st_size <= 300_000 for name in names)
    joined = read_tensors(tmp_path, names)
    assert all(torch.equal(joined[name], value) for name, value in tensors.items())


def test_it_trains_and_its_adapter_joins(parts: Path, tmp_path: Path) -> None:
    assert all(file.stat().st_size <= LARGEST_PART for file in parts.iterdir())
    train_on_gpu(parts, tmp_path / "out", GpuRules(steps=3, slots=1200, workers=1, compiled=False), device="cpu")
    pack.join(parts.parent / "base.gguf", tmp_path / "out", tmp_path / "adapter.safetensors", "tiny")
    adapter = Adapter(tmp_path / "adapter.safetensors")
    assert adapter.delta(1, "dn").abs().max() > 0


def test_missing_parts_are_named(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text((parts / "manifest.json").read_text())
    with pytest.raises(FileNotFoundError, match=r"base-00\.safetensors"):
        read_manifest(tmp_path)


def test_it_needs_nothing_but_torch_numpy_and_safetensors() -> None:
    script = (
        "import sys\n"
        "for name in ('msgspec', 'gguf', 'tokenizers', 'rich', 'pygls', 'kernels'): sys.modules[name] = None\n"
        "import engine.training.gpu"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)

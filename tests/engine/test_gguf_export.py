"""A model as a GGUF file: read back it is the merged one, to within what its kind of storage rounds away."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from engine.api import CheckpointInvalid
from engine.cache import CacheSlot
from engine.canvas import clean_and_blocks
from engine.checkpoints import catalog
from engine.checkpoints.gguf import GGUFFile
from engine.checkpoints.gguf_export import TYPES, export_gguf
from engine.checkpoints.load import load_checkpoint
from engine.training.base import fresh_adapter
from engine.training.export import export_adapter
from mercury_lsp import cli, export

sys.path.append(str(Path(__file__).parents[1] / "training"))
import tiny

# How far a value read back may be from what it was, in shares of its block's largest one: half a step of 127, of 15 over twice the range,
# a whole one of 8 (the range is lopsided), and what half-float scales add.
_LOST = {"f32": 0.0, "f16": 5e-4, "q8_0": 0.005, "q4_1": 0.07, "q4_0": 0.13}
_SPECIALS = len(tiny.tokenizer().special_ids)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The tiny base and an adapter that changes every map."""
    adapter, generator = fresh_adapter(tiny.base(), seed=0), torch.Generator().manual_seed(1)
    for name, tensor in adapter.items():
        if name.endswith(".B"):
            adapter[name] = 0.2 * torch.randn(tensor.shape, generator=generator)
    adapter["special"] += 0.5
    path = tmp_path / "adapter.safetensors"
    export_adapter(path, adapter, tiny.SHAPE, tiny.LAYOUT, name="tiny", base="tiny", positions=0)
    return tiny.write_gguf(tmp_path / "base.gguf"), path


def nothing(folder: Path, base: Path) -> Path:
    """An adapter that leaves `base` as it is."""
    adapter = fresh_adapter(tiny.base(), seed=0) | {"special": GGUFFile(base).tensor("token_embd.weight")[:_SPECIALS]}
    path = folder / "nothing.safetensors"
    export_adapter(path, adapter, tiny.SHAPE, tiny.LAYOUT, name="tiny", base="tiny", positions=0)
    return path


def hidden(base: Path, adapter: Path) -> torch.Tensor:
    """What the model makes of a text that has every special id in it."""
    transformer = load_checkpoint(base, adapter, torch.float32).transformer
    slot = CacheSlot(transformer.config, 128, transformer.dtype)
    with torch.inference_mode():
        return transformer.forward(clean_and_blocks(range(2 * _SPECIALS), 0), slot)[: 2 * _SPECIALS]


def test_the_file_alone_computes_what_base_and_adapter_compute(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.gguf"
    export_gguf(*files, out, "f32", "tiny")
    wanted, found = hidden(*files), hidden(out, nothing(tmp_path, out))
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    assert (hidden(files[0], nothing(tmp_path, files[0])) - wanted).abs().max() > 0.1


@pytest.mark.parametrize("kind", TYPES)
def test_every_tensor_is_read_back_to_within_its_rounding(files: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    export_gguf(*files, tmp_path / "exact.gguf", "f32", "tiny")
    export_gguf(*files, tmp_path / "out.gguf", kind, "tiny")
    exact, rounded = GGUFFile(tmp_path / "exact.gguf"), GGUFFile(tmp_path / "out.gguf")
    assert rounded.config == exact.config == GGUFFile(files[0]).config
    for name in exact.names:
        wanted, found = exact.tensor(name), rounded.tensor(name)
        block = wanted.abs().reshape(-1, 32 if wanted.shape[-1] % 32 == 0 else wanted.shape[-1]).amax(1, keepdim=True)
        lost = (found - wanted).abs().reshape(len(block), -1) / block
        assert lost.max() <= _LOST[kind], name
    whole = [name for name in exact.names if not torch.equal(exact.tensor(name), rounded.tensor(name))]
    assert bool(whole) == (kind != "f32")


def test_the_tokenizer_goes_along_and_the_text_ends_where_the_middle_does(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.gguf"
    export_gguf(*files, out, "q8_0", "tiny")
    assert GGUFFile(out).tokenizer_tables == GGUFFile(files[0]).tokenizer_tables


def test_nothing_is_left_where_the_base_is_none(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_bytes(b"no model")
    with pytest.raises(CheckpointInvalid):
        export_gguf(*files, tmp_path / "out.gguf", "q8_0", "tiny")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter.safetensors", "base.gguf"]


def test_the_command(files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(catalog, "find", lambda name: catalog.Files(gguf=files[0], adapter=files[1]))
    out = tmp_path / "out.gguf"
    assert cli.main(["export", "--out", str(out), "--type", "q4_0"]) == 0
    assert out.stat().st_size < files[0].stat().st_size
    assert f"wrote {out}" in capsys.readouterr().err
    files[1].unlink()
    assert cli.main(["export", "--out", str(out)]) == 1
    assert "not a readable adapter" in capsys.readouterr().err


def test_the_command_offers_what_can_be_written() -> None:
    assert set(export.TYPES) == set(TYPES)

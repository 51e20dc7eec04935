"""The catalogue: where a model's files lie, and what is said when they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.api import CheckpointInvalid, EngineConfig, ModelMissing, SettingInvalid
from engine.checkpoints import catalog


def test_the_pulled_model_is_the_pinned_one() -> None:
    model = catalog.lookup(catalog.DEFAULT)
    files = catalog.find(catalog.DEFAULT)
    assert catalog.matches(files.gguf, model.base)
    assert files.adapter.is_file()


def test_the_default_of_the_settings_is_known() -> None:
    assert catalog.lookup(EngineConfig().model).name == catalog.DEFAULT


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SettingInvalid, match=r"quicksilver-9b: not known; known are: .*quicksilver-135m"):
        catalog.find("quicksilver-9b")


def test_a_missing_model_names_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path))
    with pytest.raises(ModelMissing, match=r"is not there; run: mercury-lsp pull quicksilver-135m$"):
        catalog.find(catalog.DEFAULT)


def test_a_model_of_another_size_names_the_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path))
    path = catalog.place(catalog.lookup(catalog.DEFAULT)).gguf
    path.parent.mkdir()
    path.write_bytes(b"GGUF")
    with pytest.raises(CheckpointInvalid, match=r"has 4 bytes, expected 98362432; run: mercury-lsp pull"):
        catalog.find(catalog.DEFAULT)


def test_the_cache_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(catalog.CACHE_VARIABLE, "~/elsewhere")
    assert catalog.cache_dir() == Path.home() / "elsewhere"
    monkeypatch.setenv(catalog.CACHE_VARIABLE, "")
    assert catalog.cache_dir().name == "mercury-lsp"

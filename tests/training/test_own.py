"""The model's own text as rows: it is what decoding gives, drafts learn it, the clean stream does not."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny import NOISE, base, rows, write_corpus, write_gguf

from engine.api import SettingInvalid
from engine.cache import CacheSlot
from engine.checkpoints.load import load_checkpoint
from engine.decode import decode_causally
from engine.drafting import Decoder, Limits
from engine.training.base import fresh_adapter
from engine.training.blocks import pack
from engine.training.corpus import read_corpus
from engine.training.export import export_adapter
from engine.training.infill import InfillRows, RowRules
from engine.training.own import OwnRows, write_file, write_rows
from engine.training.run import default_layout


def test_a_row_is_what_greedy_decoding_writes(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    adapter = {name: torch.randn(value.shape, generator=generator) * 0.2 for name, value in fresh_adapter(base(), 0).items()}
    export_adapter(tmp_path / "a.safetensors", adapter, base().shape, default_layout(128), name="tiny", base="tiny", positions=0)
    checkpoint = load_checkpoint(write_gguf(tmp_path / "base.gguf"), tmp_path / "a.safetensors", torch.float32)
    corpus = read_corpus([write_corpus(tmp_path / "corpus")], held_out=False)
    source = InfillRows(corpus, checkpoint.tokenizer, checkpoint.layout, RowRules(contexts=((128, 1.0),)))
    write_file(tmp_path / "own.jsonl", write_rows(checkpoint, source, 4, seed=0))
    drawer = OwnRows(tmp_path / "own.jsonl")
    row = drawer.row(random.Random(0))
    banned = torch.tensor([index for index in checkpoint.tokenizer.special_ids if index != 0])
    slot = CacheSlot(checkpoint.transformer.config, 1024, torch.float32)
    limits = Limits(tokens=48, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
    with torch.inference_mode():
        decoder = Decoder(checkpoint.transformer, checkpoint.layout, banned, checkpoint.chain)
        greedy = decode_causally(decoder, slot, row.ids[: row.start], limits)
    assert list(row.ids[row.start :]) == greedy.ids and row.own


def test_drafts_learn_it_and_the_clean_stream_does_not() -> None:
    (plain,) = rows(60)
    batch = pack([replace(plain, own=True)], replace(NOISE, sizes=(4,)), random.Random(0))
    middle = batch.clean_at >= plain.start - 1
    assert middle.any() and not batch.clean_weight[middle].any() and batch.clean_weight[~middle].all()
    assert all(int(place) >= plain.start - 1 for place in batch.anchors)
    assert batch.noisy_weight.all()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text('{"ids": [1, 2], "start"')
    with pytest.raises(SettingInvalid, match=r"own\.jsonl: not a file of the model's own text"):
        OwnRows(tmp_path / "own.jsonl")

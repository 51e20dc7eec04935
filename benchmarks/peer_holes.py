"""Holes of several lines in held-out files, with the greedy text of the unrounded weights. Knows no contender."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import torch

from benchmarks import held_out
from benchmarks.writers import Goal, Ours
from engine.api import EngineConfig, InfillRequest
from engine.engine import LocalEngine
from engine.training.corpus import read_corpus
from mercury_lsp.context import near_prefix, near_suffix

_LONG = 220  # characters of what was cut: some six lines
_EACH = 24  # holes looked at in every language, before those that do not do are left out


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as ids, and what float32 writes after it, up to the last goal: verified text, which is greedy text."""

    path: str
    prompt: list[int]
    ids: list[int]


def drawn(data: Path, least: int, seed: int) -> Iterator[InfillRequest]:
    """Requests for holes where some lines were cut, at a line's first character, all of different places."""
    corpus = read_corpus([data], held_out=True, whole=True)
    for stretch in held_out.draw_stretches(corpus, held_out.languages_of(corpus), _EACH, _LONG, seed):
        text = stretch.file.text
        if text[stretch.start : stretch.end].count("\n") >= least:
            yield InfillRequest(
                prefix=near_prefix(text[: stretch.start]),
                suffix=near_suffix(text[stretch.end :]),
                path=stretch.file.path,
                multiline=True,
            )


def references(data: Path, goal: Goal, engine: LocalEngine, *, count: int, prompt: int, seed: int) -> list[Reference]:
    """`count` holes whose prompt has at least `prompt` ids and whose greedy text reaches the goal; the loaded engine looks for them."""
    quick, exact = Ours("quick", engine, verify=True), Ours("exact", _exact(), verify=True)
    found: list[Reference] = []
    for request in drawn(data, goal.lines - 1, seed):
        ids = engine.prompt_ids(request)
        if len(ids) < prompt:
            continue
        quick.warm(ids)
        if not goal.finished(quick.write(ids, goal).ids):
            continue
        exact.warm(ids)
        written = exact.write(ids, goal).ids
        if goal.finished(written):
            found.append(Reference(path=request.path, prompt=ids, ids=written))
            print(f"{len(found)} of {count} holes", end="\r", file=sys.stderr, flush=True)
        if len(found) == count:
            break
    return found


def _exact() -> LocalEngine:
    """The same weights, unrounded."""
    return LocalEngine.load(EngineConfig(dtype="float32", threads=torch.get_num_threads()))

"""Which rows a run is fed, and in what shares. Knows no row's layout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.config import InfillLayout
from engine.tokenizer import TextTokenizer
from engine.training.chat import ChatRows
from engine.training.corpus import read_corpus
from engine.training.data import Drawer, Rows
from engine.training.edit_cases import read_cases
from engine.training.edit_rows import EditRows
from engine.training.infill import InfillRows
from engine.training.instructions import InstructionRows
from engine.training.own import OwnRows
from engine.training.syntax import LANGUAGES

# Of the rows. Edits in a third of them, for 1.4M positions, did not teach a model of this size to edit (2026-11-30); holes are what it
# is for.
_INFILL, _OWN, _EDIT, _INSTRUCTION, _CHAT = 0.50, 0.10, 0.20, 0.15, 0.05


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where the text comes from. Without a file of a kind there are no rows of it."""

    data: tuple[Path, ...]
    own: Path | None = None
    edits: Path | None = None
    chat: Path | None = None


def mixed_rows(sources: Sources, tokenizer: TextTokenizer, layout: InfillLayout, seed: int) -> Rows:
    """Rows of all layouts. Raises `SettingInvalid` where the folders hold nothing."""
    corpus = read_corpus(sources.data, held_out=False)
    drawers: list[tuple[float, Drawer]] = [(_INFILL, InfillRows(corpus, tokenizer, layout))]
    if any(file.language in LANGUAGES for file in corpus.files):
        drawers.append((_INSTRUCTION, InstructionRows(corpus, tokenizer, layout)))
    if sources.edits:
        drawers.append((_EDIT, EditRows(corpus, read_cases(sources.edits), tokenizer, layout)))
    if sources.chat:
        drawers.append((_CHAT, ChatRows(sources.chat, tokenizer, layout, corpus)))
    if sources.own:
        drawers.append((_OWN, OwnRows(sources.own)))
    return Rows(drawers, seed)

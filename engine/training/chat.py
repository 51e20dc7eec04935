"""Draws rows of conversations: those of a file, and some about functions of a corpus. Knows no model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.api import SettingInvalid, Turn
from engine.config import InfillLayout
from engine.layout import chat_ids
from engine.tokenizer import TextTokenizer
from engine.training.blocks import Row
from engine.training.corpus import Corpus
from engine.training.explanations import explanation
from engine.training.syntax import LANGUAGES, Source

_LARGEST_FILE = 60_000  # characters
_EXPLAINED = 0.25  # share of the rows that are about a function
_WITH_SYSTEM = 0.2
_SYSTEM = ("You are a helpful assistant.", "You are a helpful coding assistant.", "Answer briefly.")
_TRIES = 40


class Conversation(msgspec.Struct, frozen=True):
    """A line of the file: the prompt's number, and the turns, the assistant's last."""

    number: int
    turns: tuple[Turn, ...]


def read_conversations(path: Path) -> list[Conversation]:
    """The file's conversations; none where there is no file. A last line that was cut short is passed over."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=Conversation) for line in lines]


class ChatRows:
    """Draws rows of kind "chat" and "chat/explain". The same generator gives the same rows."""

    def __init__(self, path: Path, tokenizer: TextTokenizer, layout: InfillLayout, corpus: Corpus | None = None) -> None:
        """Raises `SettingInvalid` where the file holds no conversation."""
        self._conversations = [conversation.turns for conversation in read_conversations(path)]
        if not self._conversations:
            raise SettingInvalid(f"{path}: holds no conversations; `python -m engine.training.chat_data` writes them")
        self._tokenizer, self._layout = tokenizer, layout
        files = corpus.files if corpus else ()
        usable = Corpus(tuple(file for file in files if file.language in LANGUAGES and len(file.text) <= _LARGEST_FILE))
        self._drawers, self._weights = usable.by_language(), usable.weights()

    def row(self, rng: random.Random) -> Row:
        """One row that fits the layout's context."""
        while True:
            explained = self._explained(rng) if self._weights and rng.random() < _EXPLAINED else None
            row = explained or self.lay_out(rng.choice(self._conversations), rng)
            if row is not None:
                return row

    def lay_out(self, turns: Sequence[Turn], rng: random.Random, kind: str = "chat", language: str = "") -> Row | None:
        """The row of a conversation up to one of the assistant's answers, or None where it is longer than the context."""
        last = rng.randrange(1, len(turns), 2)
        system = (Turn("system", rng.choice(_SYSTEM)),) if rng.random() < _WITH_SYSTEM else ()
        prompt = chat_ids(self._tokenizer, self._layout, [*system, *turns[:last]])
        ids = [*prompt, *self._tokenizer.encode(turns[last].text), self._layout.end_id]
        return Row(ids=tuple(ids), start=len(prompt), kind=kind, language=language) if len(ids) <= self._layout.context else None

    def _explained(self, rng: random.Random) -> Row | None:
        for _ in range(_TRIES):
            language = rng.choices(list(self._weights), weights=list(self._weights.values()))[0]
            file = self._drawers[language].draw(rng)
            turns = explanation(Source(file.text, file.language, file.path), rng)
            row = self.lay_out(turns, rng, "chat/explain", file.language) if turns else None
            if row is not None:
                return row
        return None

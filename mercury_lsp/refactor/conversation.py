"""Asks the model about a selection: answers as they grow, questions that follow, code taken from an answer. Knows no protocol."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field

from engine.api import Turn
from engine.instructions import about

_MOST = 20  # conversations that are kept
_LONGEST_CODE = 2_400  # characters: some 700 tokens, which leaves the smallest layout room for the answer
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)


@dataclass
class Conversation:
    """Questions and answers about one selection."""

    key: str
    code: str
    language: str
    turns: list[Turn] = field(default_factory=list)
    growing: str = ""  # the answer that is being written

    def asked(self, question: str) -> tuple[Turn, ...]:
        """The turns with a new question."""
        text = about(question, self.code[:_LONGEST_CODE], self.language) if not self.turns else question
        return (*self.turns, Turn("user", text))

    def answered(self, turns: tuple[Turn, ...], answer: str) -> None:
        self.turns = [*turns, Turn("assistant", answer)]
        self.growing = ""

    def without_oldest(self) -> bool:
        """Leave out the oldest question but the first, with its answer; False where there is none to leave out."""
        if len(self.turns) < 4:
            return False
        del self.turns[2:4]
        return True

    def blocks(self) -> list[str]:
        """The code blocks of the last answer."""
        answers = [turn.text for turn in self.turns if turn.role == "assistant"]
        return [match[1].rstrip("\n") for match in _FENCE.finditer(answers[-1] + "\n")] if answers else []

    def text(self) -> str:
        """As a document, the answer that is being written with it."""
        parts = [f"## {turn.text}" if turn.role == "user" else turn.text for turn in self.turns]
        return "\n\n".join([*parts, self.growing] if self.growing else parts) + "\n"


class Conversations:
    """The last ones, by their keys."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Conversation] = OrderedDict()
        self._count = 0

    def begin(self, code: str, language: str) -> Conversation:
        self._count += 1
        conversation = Conversation(str(self._count), code, language)
        self._kept[conversation.key] = conversation
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return conversation

    def find(self, key: str) -> Conversation | None:
        return self._kept.get(key)

"""From committed ids to text that may be sent: whole characters, and nothing of a stop string. Knows no model."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from engine.tokenizer import TextTokenizer


class Outlet:
    """Text goes out as soon as it can no longer be the beginning of a stop string."""

    def __init__(self, tokenizer: TextTokenizer, stops: Sequence[str]) -> None:
        self.stopped = False
        self._tokenizer = tokenizer
        self._stops = [stop for stop in stops if stop]
        self._characters = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""

    def push(self, ids: Sequence[int]) -> str:
        """The text that `ids` let go out. Nothing comes after a stop string."""
        if self.stopped:
            return ""
        return self._let_out(self._held + self._characters.decode(self._tokenizer.to_bytes(ids)), final=False)

    def close(self) -> str:
        """What was held back. A character that is not whole is left out."""
        return "" if self.stopped else self._let_out(self._held, final=True)

    def peek(self, ids: Sequence[int]) -> str:
        """What is held back and what `ids` would add to it, as it would be read now. Changes nothing."""
        unfinished, _ = self._characters.getstate()
        text = self._held + (bytes(unfinished) + self._tokenizer.to_bytes(ids)).decode(errors="ignore")
        ends = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        return text[: min(ends)] if ends else text

    def _let_out(self, text: str, *, final: bool) -> str:
        ends = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if ends:
            self.stopped = True
            return text[: min(ends)]
        keep = 0 if final else max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that `stop` begins with."""
    return next((length for length in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:length])), 0)

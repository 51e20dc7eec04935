"""Writes conversations that the base model itself answered, one a line: `python -m engine.training.chat_data --base GGUF --out FILE`.

What is there already is kept; the same command goes on behind it. Knows no adapter and no row.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import torch

from engine.api import Turn
from engine.layout import chat_ids
from engine.tokenizer import TextTokenizer
from engine.training.base_file import read_base
from engine.training.chat import Conversation, read_conversations
from engine.training.chat_prompts import prompts
from engine.training.guard import quotes_evaluation_set
from engine.training.replies import Replies, ReplyRules
from engine.training.run import CHAT_IDS, default_layout

# Said while the base answers and left out of the file: without it, none of 20 answers to "What is …?" ended within the limit of 160 tokens
# (the default base, temperature 0.5, 2026-11-30).
_BRIEFLY = Turn("system", "You are a helpful assistant. Answer briefly, in one to three sentences.")
_SPARE = 3  # prompts a conversation that is asked for: not every answer is kept
_SELF = ("smollm", "hugging face", "as an ai", "language model")  # what the base says of itself is not true of us
_ENDS = (".", "!", "?", ")", "`", '"', "'", ":", "}", ";")
_ITEM = re.compile(r"^\s*(?:\d+[.)]|[-*])\s+")
_WORDS, _DISTINCT = 4, 0.85  # share of the runs of four words that must be distinct


def is_clean(answer: str) -> bool:
    """Whether an answer is whole, free of loops, and says nothing of who gave it."""
    text, words = answer.strip(), answer.split()
    whole = text.endswith(_ENDS) or len(words) <= _WORDS or _ITEM.match(text.rpartition("\n")[2])
    if not text or not whole or text.count("```") % 2:
        return False
    if any(name in text.lower() for name in _SELF) or quotes_evaluation_set("", text) or "�" in text:
        return False
    runs = Counter(tuple(words[first : first + _WORDS]) for first in range(len(words) - _WORDS + 1))
    prose = "\n".join(text.split("```")[::2])  # code may say the same twice
    lines = [line for line in (_ITEM.sub("", line).strip(" *") for line in prose.split("\n")) if len(line) > 2]
    return (not runs or len(runs) / sum(runs.values()) >= _DISTINCT) and len(set(lines)) == len(lines)


def _behind_the_last_line(path: Path) -> BinaryIO:
    """The file, open to be added to, without a last line that was cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab+")
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)
    return file


class _Asking:
    """Hands prompts to the base, and a second turn to those whose first answer was clean."""

    def __init__(self, asked: Sequence[tuple[str, ...]], first: int, tokenizer: TextTokenizer) -> None:
        self._asked, self._next, self._tokenizer = asked, first, tokenizer
        self._open: dict[int, list[Turn]] = {}
        self._again: list[int] = []

    def __iter__(self) -> Iterator[tuple[int, list[int]]]:
        return self

    def __next__(self) -> tuple[int, list[int]]:
        if self._again:
            number = self._again.pop()
        elif self._next < len(self._asked):
            number, self._next = self._next, self._next + 1
            self._open[number] = []
        else:
            raise StopIteration
        turns = self._open[number]
        turns.append(Turn("user", self._asked[number][len(turns) // 2]))
        return number, chat_ids(self._tokenizer, default_layout(0), [_BRIEFLY, *turns])

    def answered(self, number: int, ids: Sequence[int], ended: bool) -> Conversation | None:
        """The conversation, once it is whole and clean."""
        text = self._tokenizer.decode(ids)
        turns = self._open[number]
        if not ended or not is_clean(text):
            del self._open[number]
            return None
        turns.append(Turn("assistant", text))
        if len(turns) < 2 * len(self._asked[number]):
            self._again.append(number)
            return None
        return Conversation(number, tuple(self._open.pop(number)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.training.chat_data", description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1500, help="conversations in the file when it is done")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=ReplyRules().temperature)
    options = parser.parse_args(arguments)
    base, tokenizer = read_base(options.base)
    kept = read_conversations(options.out)
    done, started, tokens, tried = len(kept), time.monotonic(), 0, 0
    asking = _Asking(prompts(_SPARE * options.count, options.seed), max((each.number for each in kept), default=-1) + 1, tokenizer)
    replies = Replies(base, CHAT_IDS.close, ReplyRules(temperature=options.temperature))
    with _behind_the_last_line(options.out) as file:
        for number, ids, ended in replies.answer(asking):
            tokens, tried = tokens + len(ids), tried + 1
            conversation = asking.answered(number, ids, ended)
            if conversation is not None:
                file.write(msgspec.json.encode(conversation) + b"\n")
                file.flush()
                done += 1
            if tried % 50 == 0 or done >= options.count:
                rate = tokens / (time.monotonic() - started)
                print(f"{done} conversations, {tried} answers, {rate:.0f} tokens a second", flush=True)
            if done >= options.count:
                break
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main())

"""Lines as tokens, and which of them gave way to which. Knows no syntax and no document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from mercury_lsp.nextedit.moment import Intention, Text, line_span

_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?|[ \t]+|\n|.", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*\Z")
_MOST = 1_500  # tokens that are compared
_LONGEST = 200  # characters of a name: what is longer is data


class Renamed(NamedTuple):
    """A name that became another; where it stands now, and where it stood when the intention was undone."""

    old: str
    new: str
    start: int
    end: int
    before: int


def word_span(text: str, start: int, end: int) -> tuple[int, int]:
    """`[start, end)` with the rest of the words that it cuts."""
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def is_name(token: str) -> bool:
    return len(token) <= _LONGEST and _NAME.match(token) is not None


def renamed(text: Text, intention: Intention) -> Iterator[Renamed]:
    """The names that an intention put in the place of others, one for one."""
    first, last = line_span(text.text, intention.start, intention.end)
    head, tail = text.text[first : intention.start], text.text[intention.end : last]
    old, new = tokens(head + intention.old + tail), tokens(text.text[first:last])
    if len(old) > _MOST or len(new) > _MOST:
        return
    for low, high, new_low, new_high in replaced(old, new):
        if high - low == new_high - new_low == 1 and is_name(old[low]) and is_name(new[new_low]):
            start = first + sum(map(len, new[:new_low]))
            yield Renamed(old[low], new[new_low], start, start + len(new[new_low]), first + sum(map(len, old[:low])))


def replaced(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(first, last, first new, last new) of each run of tokens that differs."""
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(low, high, new_low, new_high) for tag, low, high, new_low, new_high in opcodes if tag != "equal"]

"""Text from elsewhere that bears on a hole: the file's head, and definitions in sibling files of names used near it. Knows no token."""

from __future__ import annotations

import random
import re
from collections import defaultdict

from engine.api import Related
from engine.training.corpus import Corpus, SourceFile

_DEFINITION = re.compile(
    r"^[ \t]*(?:export\s+|default\s+|public\s+|pub\s+|static\s+|async\s+|abstract\s+)*"
    r"(?:def|class|function|func|fn|struct|interface|type|enum|trait)\s+(?:\([^)\n]*\)\s*)?([A-Za-z_]\w{3,})",
    re.MULTILINE,
)
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_NEAR = 800  # characters before the hole in which names are looked for
_RARE = 3  # names defined more often than this say little


class RelatedText:
    """Finds related pieces. The definitions of a repository are indexed when it is first asked about."""

    def __init__(self, corpus: Corpus) -> None:
        self._repos = corpus.by_repo()
        self._index: dict[str, dict[str, list[tuple[SourceFile, int]]]] = {}

    def pieces(self, file: SourceFile, start: int, window: int, room: int, rng: random.Random) -> tuple[Related, ...]:
        """Pieces for a hole at `start` that together hold about `room` characters, most relevant last.

        `window` is about how many characters of the prefix will be seen: the head is sent only where it lies outside.
        """
        definitions = self._definitions(file, start, room, rng)
        room -= sum(len(piece.text) + len(piece.path) for piece in definitions)
        head = _whole_lines(file.text[: start - window], 0, min(room - len(file.path), 600)) if start > window + 100 else ""
        return ((Related(file.path, head),) if head else ()) + definitions

    def _definitions(self, file: SourceFile, start: int, room: int, rng: random.Random) -> tuple[Related, ...]:
        index = self._of(file.repo)
        names = dict.fromkeys(reversed(_NAME.findall(file.text[max(0, start - _NEAR) : start])))  # the nearest first
        found: list[Related] = []
        for name in names:
            elsewhere = [place for place in index.get(name, ()) if place[0] is not file]
            if not elsewhere or len(elsewhere) > _RARE:
                continue
            other, first = rng.choice(elsewhere)
            text = _whole_lines(other.text, first, min(room // 2, room - len(other.path)))
            if text:
                found.append(Related(other.path, text))
                room -= len(text) + len(other.path)
            if len(found) == 2 or room < 80:
                break
        return tuple(reversed(found))

    def _of(self, repo: str) -> dict[str, list[tuple[SourceFile, int]]]:
        if repo not in self._index:
            index: defaultdict[str, list[tuple[SourceFile, int]]] = defaultdict(list)
            for file in self._repos.get(repo, ()):
                for match in _DEFINITION.finditer(file.text):
                    index[match[1]].append((file, match.start()))
            self._index[repo] = dict(index)
        return self._index[repo]


def _whole_lines(text: str, start: int, room: int) -> str:
    """The lines from `start` on that fit whole into `room` characters, without blank ones at the end."""
    if room <= 0:
        return ""
    piece = text[start : start + room]
    if start + room < len(text):
        piece = piece[: piece.rfind("\n") + 1]
    return piece.rstrip()

"""Folders of source files to a frozen corpus, split in two by content. Knows no token and no hole."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path, PurePosixPath

from engine.training.guard import quotes_evaluation_set

_LANGUAGES = {
    "py": "python", "pyi": "python",
    "ts": "typescript", "tsx": "typescript", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "go": "go", "rs": "rust", "java": "java",
    "c": "c", "h": "c", "cc": "c++", "cpp": "c++", "cxx": "c++", "hpp": "c++", "hh": "c++",
    "lua": "lua", "sh": "shell", "bash": "shell", "html": "html", "css": "css", "scss": "css",
    "json": "json", "yml": "yaml", "yaml": "yaml",
    "toml": "toml", "md": "markdown", "sql": "sql", "rb": "ruby", "php": "php", "cs": "c#",
}  # fmt: skip
SUFFIXES = tuple(_LANGUAGES)  # of the files that are read
# Share of rows, before those absent from the corpus are left out.
_WEIGHTS = {
    "python": 0.50, "typescript": 0.10, "javascript": 0.06, "go": 0.055, "rust": 0.055, "java": 0.05, "c": 0.03, "c++": 0.03, "lua": 0.02,
    "shell": 0.015, "html": 0.015, "css": 0.01, "json": 0.01, "yaml": 0.01, "toml": 0.005, "markdown": 0.02, "sql": 0.005, "ruby": 0.01,
    "php": 0.005, "c#": 0.005,
}  # fmt: skip
_LARGEST = 400_000  # bytes
_LONGEST_LINE = 160  # on average over the file: above it text is generated or packed
_FILE_WEIGHT = 40_000  # characters beyond which a file is not drawn more often
_HELD_OUT = 64  # one file in so many never trains


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One file. `path` is relative to its repository, with forward slashes."""

    repo: str
    path: str
    language: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """Files, and how they are drawn: a language by its share, a repository by the root of its size, a file by its size."""

    files: tuple[SourceFile, ...]

    def by_language(self) -> dict[str, Drawer]:
        """A drawer of files for every language that is there."""
        groups: defaultdict[str, list[SourceFile]] = defaultdict(list)
        for file in self.files:
            groups[file.language].append(file)
        return {language: Drawer(files) for language, files in sorted(groups.items())}

    def by_repo(self) -> dict[str, list[SourceFile]]:
        """The files of each repository."""
        groups: defaultdict[str, list[SourceFile]] = defaultdict(list)
        for file in self.files:
            groups[file.repo].append(file)
        return dict(groups)

    def weights(self) -> dict[str, float]:
        """The share of each language that is there."""
        return shares(file.language for file in self.files)


class Drawer:
    """Draws files of one language."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        repos: defaultdict[str, list[SourceFile]] = defaultdict(list)
        for file in files:
            repos[file.repo].append(file)
        self._groups = list(repos.values())
        self._files = [list(accumulate(min(len(file.text), _FILE_WEIGHT) for file in group)) for group in self._groups]
        self._repos = list(accumulate(weights[-1] ** 0.5 for weights in self._files))

    def draw(self, rng: random.Random) -> SourceFile:
        place = rng.choices(range(len(self._groups)), cum_weights=self._repos)[0]
        return rng.choices(self._groups[place], cum_weights=self._files[place])[0]


def read_corpus(folders: Sequence[Path], *, held_out: bool, whole: bool = False) -> Corpus:
    """The training files of `folders`, or the held-out ones; with `whole`, all of them (folders set apart as a whole).

    A folder holds one folder a repository. Copies of a file are kept once; the split goes by content, so that a copy falls on the
    same side. Files that quote public evaluation sets are left out on both sides.
    """
    seen: set[bytes] = set()
    files = []
    for file in _walk(folders):
        digest = digest_of(file.text)
        if digest in seen:
            continue
        seen.add(digest)
        if (whole or is_held_out(digest) == held_out) and not quotes_evaluation_set(file.path, file.text):
            files.append(file)
    return Corpus(tuple(files))


def shares(languages: Iterable[str]) -> dict[str, float]:
    """The share of rows of each of these languages."""
    return {language: _WEIGHTS[language] for language in sorted(set(languages))}


def language_of(name: str) -> str | None:
    """The language of the file of this name, or None where it is none of ours."""
    return _LANGUAGES.get(PurePosixPath(name).suffix[1:].lower())


def digest_of(text: str) -> bytes:
    """What tells copies: white space does not count."""
    return hashlib.sha256("".join(text.split()).encode()).digest()


def is_held_out(digest: bytes) -> bool:
    """Whether the file of this digest is kept from training."""
    return int.from_bytes(digest[:4], "big") % _HELD_OUT == 0


def _walk(folders: Sequence[Path]) -> Iterator[SourceFile]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            language = language_of(path.name)
            inside = path.relative_to(folder).parts
            if language is None or len(inside) < 2 or not path.is_file() or path.stat().st_size > _LARGEST:
                continue
            text = _text(path)
            if text is not None:
                yield SourceFile(repo=inside[0], path="/".join(inside[1:]), language=language, text=text)


def _text(path: Path) -> str | None:
    """The file's text with `\\n` only, or None where it is not worth reading."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.count("\n") + 1
    return text if len(text) >= 120 and len(text) / lines <= _LONGEST_LINE else None

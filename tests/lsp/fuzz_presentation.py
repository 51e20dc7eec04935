"""Presentation at every character of real source files, with what comes later in the file, as it is or damaged, as drafts.

Not a test: `python tests/lsp/fuzz_presentation.py FOLDER [FILES]` takes so many files (200) in eight languages from a folder of
repositories, and runs for half an hour. The suite has a sample of the same.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from test_present import damaged, violation

from mercury_lsp import syntax

_SUFFIXES = ("py", "ts", "js", "go", "rs", "java", "c", "lua")
_SIZES = range(800, 6_000)  # bytes


def files(folder: Path, count: int) -> Iterator[tuple[Path, str, str]]:
    for suffix in _SUFFIXES:
        paths = sorted(path for path in folder.glob(f"**/*.{suffix}") if path.stat().st_size in _SIZES)
        for path in random.Random(1).sample(paths, min(len(paths), count // len(_SUFFIXES))):
            yield path, path.read_bytes().decode("utf-8", "ignore").replace("\r", ""), syntax.language_of("", path.name)


def main(folder: Path, count: int) -> int:
    """1 where something was wrong."""
    rng = random.Random(1)
    faults = cases = 0
    began = time.monotonic()
    for number, (path, text, language) in enumerate(files(folder, count), 1):
        for offset in range(len(text) + 1):
            later = offset + rng.choice([0, 0, rng.randrange(200)])
            gone = rng.choice([0, rng.randrange(1, 80)])
            draft = damaged(text[later : later + rng.randrange(1, 300)], rng)
            cases += 1
            if (wrong := violation(text[:offset] + text[offset + gone :], language, offset, draft)) is not None:
                faults += 1
                print(f"{path}:{offset}: {wrong}: {gone} characters gone, draft {draft!r}", flush=True)
        if number % 10 == 0:
            print(f"{number} files, {cases} cases, {faults} faults, {time.monotonic() - began:.0f} s", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200))

"""Presentation at every character of real source files, with what comes later in the file, as it is or damaged, as drafts.

Not a test: `python tests/lsp/fuzz_presentation.py FOLDER [--files 200] [--done FILE] [--results FILE]` takes so many files in eight
languages from a folder of repositories, and runs for half an hour. Files that are in DONE without a fault are not tried again, so that it
may be ended at any time and taken up again; the sum of all is added to RESULTS. The suite has a sample of the same.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from test_present import damaged, violation

from benchmarks import record
from mercury_lsp.languages import language_of
from mercury_lsp.syntax import FIRST_PARSE, Tree

_SUFFIXES = ("py", "ts", "js", "go", "rs", "java", "c", "lua")
_SIZES = range(800, 6_000)  # bytes
_TOLD = 3.0  # seconds of processor time a case may take before it is told like a fault


def files(folder: Path, count: int) -> list[Path]:
    """As many of each language, more of the others where one has too few. A file that comes to the folder displaces few of them."""
    found = []
    for suffix in _SUFFIXES:
        paths = [path for path in folder.glob(f"**/*.{suffix}") if path.is_file() and path.stat().st_size in _SIZES]
        found.append(sorted(paths, key=lambda path: _digest(str(path.relative_to(folder)).encode())))
    in_turns = itertools.chain.from_iterable(itertools.zip_longest(*found))
    return list(itertools.islice((path for path in in_turns if path is not None), count))


def tried(text: str, language: str, seed: str) -> Iterator[tuple[int, str]]:
    """(offset, what is wrong) for one draft at each character of a text."""
    rng = random.Random(seed)
    whole = Tree.parse(text, language)
    for offset in range(len(text) + 1):
        later = offset + rng.choice([0, 0, rng.randrange(200)])
        gone = min(rng.choice([0, rng.randrange(1, 80)]), len(text) - offset)
        draft = damaged(text[later : later + rng.randrange(1, 300)], rng)
        began = time.process_time()
        try:
            shorter = text[:offset] + text[offset + gone :]
            tree = whole and whole.edit(offset, offset + gone, offset, shorter, budget=FIRST_PARSE)
            wrong = violation(shorter, language, offset, draft, tree)
        except Exception as error:  # the very thing that is looked for
            wrong = f"{type(error).__name__}: {error}"
        if wrong is None and time.process_time() - began > _TOLD:
            wrong = f"took {time.process_time() - began:.1f} s"
        if wrong is not None:
            yield offset, f"{wrong}: {gone} characters gone, draft {draft!r}"


def main(folder: Path, count: int, done: Path, results: Path) -> int:
    """1 where something was wrong."""
    origin = record.origin()
    known = {row["sha256"]: row for row in _rows(done) if not row["faults"]}
    chosen = files(folder, count)
    for number, path in enumerate(chosen, 1):
        raw = path.read_bytes()
        name, key = str(path.relative_to(folder)), _digest(raw)
        if key not in known:
            text, began = raw.decode("utf-8", "ignore").replace("\r", ""), time.monotonic()
            language = language_of("", path.name)
            faults = [f"{name}:{offset}: {what}" for offset, what in tried(text, language, key)]
            row = {"file": name, "sha256": key, "language": language, "cases": len(text) + 1, "faults": faults}
            known[key] = row | {"seconds": round(time.monotonic() - began, 1)}
            done.parent.mkdir(parents=True, exist_ok=True)
            with done.open("a", encoding="utf-8") as out:
                out.write(json.dumps(known[key]) + "\n")
            for fault in faults:
                print(fault, flush=True)
        if number % 10 == 0 or number == len(chosen):
            print(_summed([known[_digest(each.read_bytes())] for each in chosen[:number]]), flush=True)
    rows = [known[_digest(path.read_bytes())] for path in chosen]
    record.append(results, {**origin, "what": "presentation", **_summed(rows)})
    return int(any(row["faults"] for row in rows))


def _summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "files": len(rows),
        "repositories": sorted({row["file"].partition("/")[0] for row in rows}),
        "languages": sorted({row["language"] for row in rows}),
        "cases": sum(row["cases"] for row in rows),
        "faults": sum(len(row["faults"]) for row in rows),
        "seconds": round(sum(row["seconds"] for row in rows)),
    }


def _rows(done: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.read_text(encoding="utf-8").splitlines()] if done.is_file() else []


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--done", type=Path, default=Path(__file__).resolve().parents[2] / "build" / "fuzz_presentation.jsonl")
    parser.add_argument("--results", type=Path, default=record.RESULTS / "presentation.jsonl")
    args = parser.parse_args()
    sys.exit(main(args.folder, args.files, args.done, args.results))

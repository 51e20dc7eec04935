"""Commits of a git repository to windows of the files they changed. Knows nothing of what is worth learning.

Reads through the `git` command, a stream at a time; the repository may be bare and is not written to.
"""

from __future__ import annotations

import logging
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.training.corpus import digest_of, is_held_out
from engine.training.edit_cases import Change

_log = logging.getLogger(__name__)

CONTEXT = 40  # unchanged lines around a change
_MOST_LINES = 6_000  # of a commit's diff: a larger one is skipped
_LONGEST_LINE = 200  # characters
_JOINED = 2  # unchanged lines that do not part two changes
_PATCH = (
    *("--patch", f"-U{CONTEXT}", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=M"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--format=%x00%H %s"),
)
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, kw_only=True)
class Window:
    """Some lines of a file before a commit, and the changes it made in them."""

    path: str
    lines: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, kw_only=True)
class Commit:
    """A commit that changed files. Files added, removed or renamed are not in it."""

    name: str
    subject: str
    windows: tuple[Window, ...]


def draw_commits(git_dir: Path, count: int, rng: random.Random) -> list[str]:
    """The names of up to `count` commits, merges left out, in random order."""
    names = _git(git_dir, "rev-list", "--no-merges", "HEAD").split()
    return rng.sample(names, min(count, len(names)))


def read_commits(git_dir: Path, names: Sequence[str], suffixes: Sequence[str]) -> Iterator[Commit]:
    """The commits of these names, as far as they changed files with these suffixes.

    One that git cannot show, because the repository lacks a part of it, is left out with a warning.
    """
    left = list(names)
    while left:
        last = left[0]
        patch = _Patches(git_dir, left, suffixes)
        for name, lines in patch:
            last = name
            if 1 < len(lines) <= _MOST_LINES:
                yield _commit(lines)
        if not patch.fault:
            return
        _log.warning("%s: %s left out: %s", git_dir, last, patch.fault)
        left = left[left.index(last) + 1 :]


class _Patches:
    """What git says of some commits, name and lines each. Where it dies, `fault` says why, and the last name has no lines."""

    def __init__(self, git_dir: Path, names: Sequence[str], suffixes: Sequence[str]) -> None:
        self.fault = ""
        self._asked = "\n".join([*names, "--", *(f"*.{suffix}" for suffix in suffixes), ""]).encode()
        self._command = ["git", "-c", "core.quotepath=off", "--git-dir", str(git_dir), "log", "--no-walk=unsorted", "--stdin", *_PATCH]

    def __iter__(self) -> Iterator[tuple[str, list[bytes]]]:
        with (
            tempfile.TemporaryFile() as said,
            subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said) as process,
        ):
            assert process.stdin and process.stdout
            # git reads all names before it writes anything, so this cannot block.
            process.stdin.write(self._asked)
            process.stdin.close()
            lines: list[bytes] = []
            try:
                for line in process.stdout:
                    if line.startswith(b"\0") and lines:
                        yield _name(lines), lines
                        lines = []
                    if len(lines) <= _MOST_LINES:
                        lines.append(line)
                if process.wait():
                    said.seek(0)
                    self.fault = said.read().decode(errors="replace").strip() or f"git ended with {process.returncode}"
                if lines:
                    yield _name(lines), [] if self.fault else lines
            finally:
                process.kill()


def _name(lines: Sequence[bytes]) -> str:
    return lines[0][1:].partition(b" ")[0].decode()


def held_out_paths(git_dir: Path, paths: Sequence[str]) -> set[str]:
    """Those of `paths` whose text, as it stands at HEAD, is kept from training by content."""
    command = ["git", "--git-dir", str(git_dir), "cat-file", "--batch"]
    asked = "".join(f"HEAD:{path}\n" for path in paths).encode()
    answer = subprocess.run(command, input=asked, capture_output=True, check=True).stdout
    held, at = set(), 0
    for path in paths:
        end = answer.index(b"\n", at)
        head = answer[at:end].split()
        at = end + 1
        if len(head) == 3 and head[1] == b"blob":
            size = int(head[2])
            if is_held_out(digest_of(answer[at : at + size].decode(errors="replace"))):
                held.add(path)
            at += size + 1
    return held


def _git(git_dir: Path, *arguments: str) -> str:
    return subprocess.run(["git", "--git-dir", str(git_dir), *arguments], capture_output=True, check=True, text=True).stdout


def _commit(lines: Sequence[bytes]) -> Commit:
    name, _, subject = lines[0][1:].decode(errors="replace").rstrip("\n").partition(" ")
    windows: list[Window] = []
    path = ""
    hunk: list[bytes] = []
    for line in [*lines[1:], b"diff --git "]:
        opens = line.startswith(b"diff --git ") or _HUNK.match(line) is not None
        if opens and hunk:
            window = _window(path, hunk)
            windows += [window] if window else []
            hunk = []
        if line.startswith(b"diff --git "):
            path = ""
        elif line.startswith(b"+++ b/") and not path:
            path = line[6:].decode(errors="replace").rstrip("\n\t")
        elif path and not opens and line[:1] in (b" ", b"+", b"-"):
            hunk.append(line)
    return Commit(name=name, subject=subject, windows=tuple(windows))


def _window(path: str, hunk: Sequence[bytes]) -> Window | None:
    """None where a line is overlong or no valid text."""
    try:
        signed = [line.decode().rstrip("\r\n") for line in hunk]
    except UnicodeDecodeError:
        return None
    if max(map(len, signed)) > _LONGEST_LINE or any("\r" in line for line in signed):
        return None
    old = tuple(line[1:] for line in signed if line[0] != "+")
    return Window(path=path, lines=old, changes=tuple(_changes(signed, old)))


def _changes(signed: Sequence[str], old: Sequence[str]) -> Iterator[Change]:
    at, first, quiet = 0, -1, 0
    lines: list[str] = []
    for line in [*signed, *[" "] * (_JOINED + 1)]:
        if line[0] == " ":
            quiet += 1
            if first >= 0 and quiet > _JOINED:
                last = at - _JOINED
                yield Change(first, last, tuple(lines[: len(lines) - _JOINED]))
                first, lines = -1, []
            elif first >= 0:
                lines.append(line[1:])
            at += 1
            continue
        if first < 0:
            first, lines = at, []
        quiet = 0
        if line[0] == "+":
            lines.append(line[1:])
        else:
            at += 1

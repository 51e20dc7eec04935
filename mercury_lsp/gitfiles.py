"""Where git keeps what it ignores, besides `.gitignore`: `info/exclude` and `core.excludesFile`. Reads git's files and runs no git.

Of git's configuration it does not know `includeIf`, values from the environment, and a system file elsewhere than in /etc.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mercury_lsp.files import Fresh, stamp

_SECTION = re.compile(r"\s*\[([^\]]*)\](.*)")
_ENTRY = re.compile(r"\s*([\w-]+)\s*=(.*)")
_KEYS = ("core.excludesfile", "include.path")
_INCLUDES = 10  # deep, as git has it


class GitFiles:
    """Remembers what it read, by file."""

    def __init__(self) -> None:
        self._pointer = Fresh(lambda lines: lines[0].strip() if lines else "")
        self._entries = Fresh(_entries)

    def ignore_files(self, top: Path) -> list[Path]:
        """Of the repository with the work tree `top`, the weightier first; none where there is no repository."""
        git = self._folder(top)
        return [] if git is None else [git / "info" / "exclude", top / self._excludes_file(git)]

    def _folder(self, top: Path) -> Path | None:
        """The repository's own folder; the main one, where several work trees share it."""
        git = top / ".git"
        if not stamp(git):
            return None
        to = self._pointer(git)  # it is a file in a submodule, and in a work tree besides the main one
        if to.startswith("gitdir: "):
            git = top / to.removeprefix("gitdir: ")
        return git / self._pointer(git / "commondir")

    def _excludes_file(self, git: Path) -> Path:
        home = _expanded("~")
        ours = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
        found = ours / "ignore"
        for config in (Path("/etc/gitconfig"), ours / "config", home / ".gitconfig", git / "config"):
            for value in self._values(config):
                found = value
        return found

    def _values(self, config: Path, depth: int = 0) -> Iterator[Path]:
        """`core.excludesFile`, as often as it is set; the last one holds."""
        for key, value in self._entries(config):
            if key == "core.excludesfile":
                yield _expanded(value)
            elif depth < _INCLUDES:
                yield from self._values(config.parent / _expanded(value), depth + 1)


def _expanded(path: str) -> Path:
    return Path(os.path.expanduser(path))  # noqa: PTH111  # `Path.expanduser` raises for an unknown user


def _entries(lines: list[str]) -> list[tuple[str, str]]:
    """The entries of a configuration file that matter here, with lower-case keys."""
    found = []
    section = ""
    for line in lines:
        if header := _SECTION.match(line):
            section, line = header[1].strip().lower(), header[2]
        if entry := _ENTRY.match(line):
            key = f"{section}.{entry[1].lower()}"
            if key in _KEYS:
                found.append((key, _value(entry[2])))
    return found


def _value(text: str) -> str:
    """Quotes go, a backslash makes the next character plain, a comment ends it."""
    value, quoted = "", False
    characters = iter(text)
    for character in characters:
        if character == "\\":
            value += next(characters, "")
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            value += character
    return value.strip()

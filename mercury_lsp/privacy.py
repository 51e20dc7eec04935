"""Which files never enter a prompt: secrets by name, and what `.gitignore` and `.mercuryignore` name. Reads no file but those.

A verdict is kept until one of the ignore files that could change it does; asking again costs one `stat` for each of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_IGNORE_FILES = (".gitignore", ".mercuryignore")
_SECRETS = """
.env*
*.env
*.pem
*.key
*.p12
*.pfx
*.ppk
*.jks
*.keystore
*.kdbx
*.gpg
*.asc
id_rsa*
id_dsa*
id_ecdsa*
id_ed25519*
.netrc
_netrc
.pgpass
.npmrc
.pypirc
.htpasswd
.git-credentials
.vault-token
credentials
credentials.csv
credentials.enc
credentials.ini
credentials.json
credentials.properties
credentials.toml
credentials.xml
credentials.y*ml
secrets.json
secrets.toml
secrets.y*ml
*.tfvars
*.tfstate
.ssh/
.aws/
.gnupg/
.kube/
"""


class Privacy:
    """Remembers ignore files by folder, and verdicts by path."""

    def __init__(self) -> None:
        self._secrets: GitIgnoreSpec | None = None
        self._specs: dict[Path, tuple[int, GitIgnoreSpec]] = {}
        self._verdicts: dict[str, tuple[tuple[int, ...], bool]] = {}

    def hides(self, path: str) -> bool:
        """Whether the file at `path` must stay out of prompts."""
        file = Path(path)
        folders = _folders(file)
        stamps = tuple(_stamp(folder / name) for folder in folders for name in _IGNORE_FILES)
        known = self._verdicts.get(path)
        if known is None or known[0] != stamps:
            known = (stamps, self._judge(file, folders))
            self._verdicts[path] = known
        return known[1]

    def _judge(self, file: Path, folders: list[Path]) -> bool:
        if self._is_secret(file) or self._is_secret(Path(os.path.realpath(file))):
            return True
        return any(self._ignored(file, folders, name) for name in _IGNORE_FILES)

    def _is_secret(self, file: Path) -> bool:
        if self._secrets is None:
            self._secrets = _rules(_SECRETS.split())
        return self._secrets.match_file(file.as_posix().lstrip("/").lower())

    def _ignored(self, file: Path, folders: list[Path], name: str) -> bool:
        """As git decides: the nearest file's last matching line wins, but nothing in an ignored folder comes back."""
        top = folders[-1]
        steps = file.relative_to(top).parts
        for depth in range(1, len(steps) + 1):
            target = top.joinpath(*steps[:depth])
            ending = "" if depth == len(steps) else "/"
            for folder in folders[len(steps) - depth :]:  # nearest first
                verdict = self._spec(folder / name).check_file(target.relative_to(folder).as_posix() + ending).include
                if verdict is not None:
                    if verdict:
                        return True
                    break
        return False

    def _spec(self, path: Path) -> GitIgnoreSpec:
        stamp = _stamp(path)
        known = self._specs.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, _rules(_lines(path) if stamp else ()))
            self._specs[path] = known
        return known[1]


def _folders(file: Path) -> list[Path]:
    """The file's folders, nearest first, up to the top of its repository, or to the root where there is none."""
    folders: list[Path] = []
    for folder in file.parents:
        folders.append(folder)
        if (folder / ".git").exists():
            break
    return folders


def _rules(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # 30 ms, which `initialize` need not wait for

    return GitIgnoreSpec.from_lines(lines)


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []

"""Append-only results: one JSON object a line, with what is needed to read it next year. Knows no figure."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from engine import machine
from mercury_lsp import __version__

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
_VERSIONS = ("torch", "numpy", "tokenizers", "tree-sitter", "rapidfuzz")


class Commit(msgspec.Struct, frozen=True):
    """`changed`: the tree had changes that are in no commit."""

    id: str
    changed: bool


def append(path: Path, row: dict[str, Any]) -> None:
    """Add a line. Earlier ones are never touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(row) + b"\n")


def origin() -> dict[str, Any]:
    """When, on what and with what. Ask before measuring: the load is that of the others."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {"cpu": _cpu(), "load": round(os.getloadavg()[0], 2), **msgspec.to_builtins(machine.look())},
        "versions": {"mercury-lsp": __version__, "python": platform.python_version(), **_versions()},
    }


def commit() -> Commit | None:
    """None outside of a repository."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return Commit(head, bool(_git("status", "--porcelain")))
    except (OSError, subprocess.CalledProcessError):
        return None


def digest(path: Path) -> str:
    """The first twelve digits of a file's sha256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in _VERSIONS}

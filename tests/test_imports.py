"""The direction of imports: mercury_lsp → engine → kernels, never back; and the handshake loads no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("mercury_lsp", "engine", "kernels")

# What a package may never import, anywhere in its files. `kernels` knows tensors only, `engine` no LSP, `mercury_lsp` no tensor.
LSP = {"pygls", "lsprotocol", "tree_sitter"}
FORBIDDEN = {
    "kernels": {"engine", "mercury_lsp", "tokenizers", *LSP},
    "engine": {"mercury_lsp", *LSP},
    "mercury_lsp": {"kernels", "torch", "numpy", "openvino", "safetensors", "tokenizers", "gguf", "triton"},
}
# Training makes its examples out of files' syntax trees.
ALLOWED = {"engine/training": {"tree_sitter"}}
EVERYWHERE = {"transformers", "accelerate"}  # a second and a half of start-up, and it takes our `kernels` for another package

# What may not be loaded once the module named has been imported: the handshake must be answered long before torch is there.
HEAVY = {"torch", "numpy", "openvino", "tokenizers", "safetensors", "gguf", "triton", "starlette", "uvicorn", "llguidance"}


def files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def imported(source: str) -> Iterator[str]:
    """The top-level names of all absolute imports, those inside functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def wrong(package: str, source: str) -> set[str]:
    return set(imported(source)) & (FORBIDDEN[package] | EVERYWHERE)


def test_there_are_files() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in files()} == set(PACKAGES)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    inside = path.relative_to(ROOT)
    allowed = ALLOWED.get("/".join(inside.parts[:2]), set())
    assert wrong(inside.parts[0], path.read_text("utf-8")) - allowed == set()


def test_the_rule_sees_what_it_forbids() -> None:
    assert wrong("kernels", "def f():\n    from engine.api import Draft\n") == {"engine"}
    assert wrong("engine", "import os, mercury_lsp.server as s") == {"mercury_lsp"}
    assert wrong("mercury_lsp", "import torch.nn.functional as F\nfrom engine.api import Draft\n") == {"torch"}
    assert wrong("engine", "import torch\nfrom kernels import gemm\n") == set()


@pytest.mark.parametrize("module", ["engine.api", "engine.checkpoints.catalog", "mercury_lsp.cli", "mercury_lsp.server"])
def test_the_handshake_loads_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(set(sys.modules) & {HEAVY!r}))"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []

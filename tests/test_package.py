"""What is shipped: the declared dependencies are those that are imported, and the tree keeps its own promises."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import tomllib
from pathlib import Path

from test_imports import PACKAGES, files, imported

import mercury_lsp
from engine.checkpoints import catalog

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# Declared and used without an import statement: run as a program, imported by name, or needed for its message types alone.
WITHOUT_IMPORT = re.compile(r"pip|tree-sitter-.+")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[^\w.-]", requirement, maxsplit=1)[0]) for requirement in requirements}


def used() -> set[str]:
    names = {name for path in files() for name in imported(path.read_text("utf-8"))}
    distributions = importlib.metadata.packages_distributions()
    # What belongs to an extra need not be installed.
    foreign = names - set(sys.stdlib_module_names) - set(PACKAGES)
    return {normal(distribution) for name in foreign for distribution in distributions.get(name, [name])}


def test_what_is_imported_is_declared() -> None:
    extras = PROJECT["optional-dependencies"]
    assert used() <= declared([*PROJECT["dependencies"], *extras["gpu"], *extras["cluster"]])


def test_what_is_declared_is_imported() -> None:
    surplus = declared(PROJECT["dependencies"]) - used()
    assert {name for name in surplus if not WITHOUT_IMPORT.fullmatch(name)} == set()


def test_the_version_is_in_the_changelog() -> None:
    assert f"## {mercury_lsp.__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


PERMISSIVE = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "PSF-2.0", "Unlicense", "Zlib"}


def test_every_adapter_has_its_card_and_names_the_text_it_learnt_from() -> None:
    for model in catalog.MODELS:
        adapter = catalog.place(model).adapter
        assert adapter.is_file() and adapter.stat().st_size < 40e6
        assert "| licence | Apache-2.0 |" in (adapter.parent / "README.md").read_text("utf-8")
        data = json.loads((adapter.parent / "data.json").read_text("utf-8"))
        assert all(set(source["licence"].split(" OR ")) <= PERMISSIVE for source in data["trained"])
        assert not {source["name"] for source in data["trained"]} & {source["name"] for source in data["held_out"]}


def test_no_test_folder_hides_a_package() -> None:
    """`tests/engine` with an `__init__.py` would be found as `engine` while the tests run."""
    assert list((ROOT / "tests").rglob("__init__.py")) == []

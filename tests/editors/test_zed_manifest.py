"""What the Zed extension declares. The extension itself is not run here: its crate is in no registry that the tests reach."""

from __future__ import annotations

import tomllib

from neovim import ROOT

from mercury_lsp import __version__

FOLDER = ROOT / "editors" / "zed"
MANIFEST = tomllib.loads((FOLDER / "extension.toml").read_text("utf-8"))
CRATE = tomllib.loads((FOLDER / "Cargo.toml").read_text("utf-8"))


def test_it_has_what_zed_requires() -> None:
    assert MANIFEST["schema_version"] == 1
    assert all(isinstance(MANIFEST[key], str) for key in ("id", "name", "version", "description"))
    assert MANIFEST["authors"] and all(isinstance(author, str) for author in MANIFEST["authors"])
    assert CRATE["lib"]["crate-type"] == ["cdylib"] and "zed_extension_api" in CRATE["dependencies"]


def test_its_versions_are_the_servers() -> None:
    assert MANIFEST["version"] == CRATE["package"]["version"] == __version__


def test_the_server_is_named_as_the_settings_name_it() -> None:
    (server,) = MANIFEST["language_servers"].items()
    assert server[0] == "mercury-lsp" and "Python" in server[1]["languages"]
    assert '"lsp": {' in (FOLDER / "README.md").read_text("utf-8")

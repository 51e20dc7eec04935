"""What the extension declares: stable API only, few settings, and the same defaults as the server's."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
from neovim import ROOT

from mercury_lsp import __version__
from mercury_lsp.refactor import service as refactor
from mercury_lsp.settings import SECTION, Settings

FOLDER = ROOT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text("utf-8"))
CONTRIBUTES = MANIFEST["contributes"]
SOURCES = {path.name: path.read_text("utf-8") for path in (FOLDER / "src").glob("*.ts")}
PROPERTIES = CONTRIBUTES["configuration"]["properties"]


def test_no_proposed_api() -> None:
    """The tests' editor lets every extension use it; the one of the users throws."""
    assert "enabledApiProposals" not in MANIFEST
    assert not re.search(r"handleDid|handleEndOfLifetime|isInlineEdit|vscode\.proposed", "".join(SOURCES.values()))


def test_it_is_checked_against_the_oldest_editor_that_it_claims_to_run_in() -> None:
    assert "^" + MANIFEST["devDependencies"]["@types/vscode"] == MANIFEST["engines"]["vscode"]


def test_few_settings_with_the_servers_defaults() -> None:
    assert len(PROPERTIES) <= 12
    for field in msgspec.structs.fields(Settings):
        declared = PROPERTIES.get(f"{SECTION}.{field.encode_name}")
        if declared is not None:
            default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
            assert declared["default"] == default, field.name


def test_every_command_is_registered_and_every_key_leads_to_one() -> None:
    code = "".join(SOURCES.values())
    commands = {command["command"] for command in CONTRIBUTES["commands"]}
    assert all(f"'{command}'" in code for command in commands if not command.startswith("mercury.run."))
    assert all(key["command"] in commands or key["command"].startswith("editor.action.") for key in CONTRIBUTES["keybindings"])
    assert all(
        step["media"]["markdown"] and (FOLDER / step["media"]["markdown"]).is_file() for step in CONTRIBUTES["walkthroughs"][0]["steps"]
    )


def test_the_palette_has_what_the_server_offers() -> None:
    palette = {command["command"] for command in CONTRIBUTES["commands"] if command["command"].startswith("mercury.run.")}
    with_a_button = {"mercury.applyAnswer"}  # beside the answer
    assert palette == {name.replace("mercury.", "mercury.run.") for name in refactor.TITLES.keys() - with_a_button}


def test_nothing_of_a_workspace_that_is_not_trusted_names_a_program() -> None:
    untrusted = MANIFEST["capabilities"]["untrustedWorkspaces"]
    assert untrusted["supported"] == "limited"
    assert {"mercury.server.path", "mercury.engine.url"} <= set(untrusted["restrictedConfigurations"])


def test_its_version_is_the_servers() -> None:
    assert MANIFEST["version"] == __version__

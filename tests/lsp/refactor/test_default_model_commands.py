"""Every command with the default model: it is answered, what is applied parses, and the rest of the file is as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from lsp_client import Process, process
from refactor_client import FULL, Editor

from mercury_lsp.syntax import Tree

SOURCE = '''import os


def average(values):
    """Add up."""
    total = 0
    for value in values:
        total = total + value
    return total / len(values)


def largest(values):
    pass


def show(values):
    # Print the average of the values.
    print(largest(values))
'''
PLACES = {
    "extractFunction": "    total = 0\n    for value in values:\n        total = total + value",
    "extractVariable": "len(values)",
    "completeBody": "    pass",
    "writeDocstring": "def largest(values):",
    "simplify": "    total = 0\n    for value in values:\n        total = total + value",
    "rewrite": "    print(largest(values))",
    "redenoise": "total / len(values)",
    "addTypes": "def average(values):",
    "commentToCode": "# Print the average",
    "fix": "import os",
    "generateTest": "def average(values):",
    "ask": "    return total / len(values)",
}


@pytest.fixture(scope="module")
def client() -> Iterator[Process]:
    with process() as client:
        client.capabilities = dict(FULL)
        client.initialize()
        yield client


@pytest.mark.parametrize("name", PLACES)
def test_a_command_with_the_default_model(client: Process, name: str) -> None:
    part = PLACES[name]
    client.messages[:] = [message for message in client.messages if "method" not in message]
    opened = Editor(client, SOURCE.replace(part, f"«{part}»", 1), "python", f"file:///project/{name}.py")
    more: dict[str, Any] = {"instruction": "print it twice"} if name == "rewrite" else {}
    more |= {"message": "'os' imported but unused"} if name == "fix" else {}
    result = opened.run(f"mercury.{name}", **more)
    print(name, result, opened.created, opened.text if opened.text != SOURCE else "")
    if name == "ask":
        assert result.get("answer") or "not trained" in result["message"]
        return
    assert result["applied"] or (result["message"] and "it failed" not in result["message"] and opened.text == SOURCE)
    for text in (opened.text, *opened.created.values()):
        tree = Tree.parse(text, "python")
        assert tree is not None and len(tree.faults() or ()) == 0
    if name in ("extractFunction", "extractVariable", "fix"):
        assert result["applied"]

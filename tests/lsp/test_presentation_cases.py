"""The shared cases: a document with a cursor and a raw draft in, the document after accepting out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mercury_lsp import popup, present, syntax

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("presentation.json").read_text(encoding="utf-8"))


def accepted(case: dict[str, Any]) -> str | None:
    """The document after the suggestion, None where nothing is shown; CRLF as an editor does it."""
    crlf = "\r\n" in case["before"]
    left, right = case["before"].replace("\r\n", "\n").split("‸")
    line, column = left.count("\n"), len(left.rpartition("\n")[2])
    language = syntax.language_of(case["language"], "")
    item = present.item(left + right, line, column, case["draft"], language=language)
    if item is None:
        return None
    if "selected" in case:
        start = column - len(case["selected"]["replaces"])
        if not popup.extends(item, popup.Selected(start, column, case["selected"]["text"]), column):
            return None
    lines = (left + right).split("\n")
    lines[item.line] = lines[item.line][: item.start] + item.insert_text + lines[item.line][item.end :]
    return "\n".join(lines).replace("\n", "\r\n" if crlf else "\n")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert accepted(case) in case["after"], case["why"]

"""Suggestions as ordinary completion items: who gets them, and what becomes of the text when one is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from lsp_client import CURSOR, URI, Client, cut, scripted, utf16_length

WITHOUT_GHOST_TEXT = {"textDocument": {"completion": {}}, "workspace": {"configuration": True}}
WITH_GHOST_TEXT = {"textDocument": {"completion": {}, "inlineCompletion": {}}}


def complete(client: Client, marked: str) -> list[dict[str, Any]]:
    text, line, character = cut(marked)
    client.open(text)
    place = {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}, "context": {"triggerKind": 1}}
    result = client.call("textDocument/completion", place)
    assert result["isIncomplete"] is True
    items: list[dict[str, Any]] = result["items"]
    return items


def accept(marked: str, item: dict[str, Any]) -> str:
    text, line, character = cut(marked)
    edit = item["textEdit"]
    assert edit["range"]["start"]["line"] == edit["range"]["end"]["line"] == line
    assert edit["range"]["end"]["character"] == character
    lines = text.split("\n")
    start = edit["range"]["start"]["character"]
    units = lines[line].encode("utf-16-le")
    lines[line] = units[: 2 * start].decode("utf-16-le") + edit["newText"] + units[2 * character :].decode("utf-16-le")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("marked", "draft", "label", "after"),
    [
        (f"def add(a, b):\n    retu{CURSOR}\n", "rn a + b", "return a + b", "def add(a, b):\n    return a + b\n"),
        (f"if a:\n    {CURSOR}\n", "b = a\n    return b", "b = a…", "if a:\n    b = a\n    return b\n"),
        (f"s = '😀' + na{CURSOR}\n", "me", "name", "s = '😀' + name\n"),
        (f"print({CURSOR})\n", "größe, end='')", "größe, end=''", "print(größe, end='')\n"),
        (f"\ufeffimp{CURSOR}\n", "ort os", "import os", "\ufeffimport os\n"),
    ],
    ids=["word", "lines", "emoji", "closed-bracket", "byte-order-mark"],
)
def test_an_item_is_what_the_ghost_text_would_be(marked: str, draft: str, label: str, after: str) -> None:
    with scripted(draft) as client:
        client.capabilities = WITHOUT_GHOST_TEXT
        assert client.initialize()["capabilities"]["completionProvider"] == {}
        (item,) = complete(client, marked)
        assert item["label"] == label
        assert accept(marked, item) == after


def test_it_is_marked_and_sorted_behind_the_others() -> None:
    with scripted("rn a") as client:
        client.capabilities = WITHOUT_GHOST_TEXT
        client.initialize()
        (item,) = complete(client, f"retu{CURSOR}")
        assert item["sortText"] > "zzzz" and "preselect" not in item
        assert item["detail"] == "mercury-lsp" and item["labelDetails"] == {"description": "mercury"}
        assert item["filterText"].startswith("retu")  # clients show what has the typed word in it
        assert utf16_length(item["label"]) <= 61


@pytest.mark.parametrize(
    ("capabilities", "options", "offered"),
    [
        (WITHOUT_GHOST_TEXT, {}, True),
        (WITHOUT_GHOST_TEXT, {"completionItems": False}, False),
        (WITH_GHOST_TEXT, {}, False),
        (WITH_GHOST_TEXT, {"completionItems": True}, True),
        ({}, {}, False),
    ],
    ids=["no-ghost-text", "not-wanted", "ghost-text", "wanted", "no-menu"],
)
def test_who_is_offered_items(capabilities: dict[str, Any], options: dict[str, Any], offered: bool) -> None:
    with scripted() as client:
        client.capabilities = capabilities
        assert ("completionProvider" in client.initialize(options)["capabilities"]) is offered


def test_the_configuration_switches_them_off() -> None:
    with scripted("rn a") as client:
        client.capabilities, client.configuration = WITHOUT_GHOST_TEXT, {"completionItems": False}
        client.initialize()
        assert complete(client, f"retu{CURSOR}") == []


def test_no_items_where_there_is_nothing_to_suggest() -> None:
    with scripted() as client:
        client.capabilities = WITHOUT_GHOST_TEXT
        client.initialize()
        assert complete(client, f"retu{CURSOR}") == []

"""What a user sees of a refactoring before it is made: the text while it is written, and a large change to be confirmed."""

from __future__ import annotations

from typing import Any

import pytest
from refactor_client import FULL, Told, editor

REGION = "def f(a):\n    return [a]\n"
NEW = "def f(a):\n    return (a,)"


def able(*, canvas: bool = False, annotations: bool = False) -> dict[str, Any]:
    workspace = {"workspaceEdit": {**FULL["workspace"]["workspaceEdit"], **({"changeAnnotationSupport": {}} if annotations else {})}}
    return {**FULL, "workspace": {**FULL["workspace"], **workspace}, "experimental": {"mercuryCanvas": True} if canvas else {}}


def test_a_rewriting_is_shown_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercury_lsp.refactor.canvas._REFRESH_SECONDS", 0.0)
    with editor("x = '😀'\n«" + REGION + "»", engine=Told(rewrite=[NEW]), capabilities=able(canvas=True)) as opened:
        opened.run("mercury.rewrite", instruction="use a tuple")
        assert opened.text == f"x = '😀'\n{NEW}\n"
        *views, last = opened.client.received("mercury/canvas")
    whole = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 14}}
    assert all(view["range"] == whole and view["textDocument"] == {"uri": opened.uri, "version": 1} for view in [*views, last])
    assert len(views) > 2 and last["canvas"] is None
    assert all(NEW.startswith(view["canvas"]["settled"]) and REGION.endswith(view["canvas"]["draft"] + "\n") for view in views)


def test_it_is_taken_away_where_nothing_comes_of_it() -> None:
    with editor("«" + REGION + "»", engine=Told(rewrite=["def f(a:\n"] * 9), capabilities=able(canvas=True)) as opened:
        assert opened.run("mercury.rewrite", instruction="break it")["applied"] is False
        assert opened.client.received("mercury/canvas")[-1]["canvas"] is None


def test_only_to_who_draws_it() -> None:
    with editor("«" + REGION + "»", engine=Told(rewrite=[NEW])) as opened:
        opened.run("mercury.rewrite", instruction="use a tuple")
        assert opened.client.received("mercury/canvas") == []


LONG = "\n".join(["def f(a):", *(f"    a.append({number})" for number in range(24)), "    return a"])
SHORTER = "def f(a):\n    a.extend(range(24))\n    return a"


@pytest.mark.parametrize("settings, large", [({}, True), ({"previewLines": 100}, False), ({"previewLines": 0}, True)])
def test_a_large_change_is_to_be_confirmed(settings: dict[str, Any], large: bool) -> None:
    told = Told(rewrite=[SHORTER])
    with editor(f"«{LONG}»\n", engine=told, capabilities=able(annotations=True), initializationOptions=settings) as opened:
        opened.run("mercury.rewrite", instruction="use extend")
        assert opened.text == SHORTER + "\n"
        (sent,) = opened.client.received("workspace/applyEdit")
    (edit,) = sent["edit"]["documentChanges"][0]["edits"]
    if large:
        assert sent["edit"]["changeAnnotations"] == {edit["annotationId"]: {"label": "Rewrite the selection", "needsConfirmation": True}}
    else:
        assert "annotationId" not in edit and "changeAnnotations" not in sent["edit"]


def test_a_code_action_too_and_a_file_that_is_made() -> None:
    capabilities = able(annotations=True)
    with editor(f"# Use extend.\n«{LONG}»\n", engine=Told(rewrite=[SHORTER]), capabilities=capabilities) as opened:
        assert "changeAnnotations" in opened.choose("Rewrite: Use extend.")["edit"]
    told = Told(infill=["assert f(1) == 1"] * 9)
    with editor("def f«»(a):\n    return a\n", engine=told, capabilities=capabilities, initializationOptions={"previewLines": 0}) as opened:
        made, written = opened.choose("Generate a test of `f` beside the file")["edit"]["documentChanges"]
        assert made["kind"] == "create" and made["annotationId"] == written["edits"][0]["annotationId"]


def test_a_small_change_is_not() -> None:
    with editor("«" + REGION + "»", engine=Told(rewrite=[NEW]), capabilities=able(annotations=True)) as opened:
        opened.run("mercury.rewrite", instruction="use a tuple")
        assert "changeAnnotations" not in opened.client.received("workspace/applyEdit")[0]["edit"]


def test_nothing_to_confirm_for_who_cannot_ask() -> None:
    with editor(f"«{LONG}»\n", engine=Told(rewrite=[SHORTER])) as opened:
        opened.run("mercury.rewrite", instruction="use extend")
        assert "changeAnnotations" not in opened.client.received("workspace/applyEdit")[0]["edit"]
        assert opened.text == SHORTER + "\n"

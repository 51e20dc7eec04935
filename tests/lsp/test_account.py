"""What the server says became of its suggestions, by what an editor did with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsp_client import Client, in_process

from engine.checkpoints.catalog import CACHE_VARIABLE
from engine.scripted import ScriptedEngine
from mercury_lsp import cli
from mercury_lsp.account import Account


def scripted(*drafts: str) -> ScriptedEngine:
    return ScriptedEngine(list(drafts))


def write(client: Client, text: str) -> list[dict[str, object]]:
    """The document becomes `text`, its last line is where the cursor stands, and the editor asks."""
    client.change({"text": text})
    lines = text.split("\n")
    return client.items(len(lines) - 1, len(lines[-1]), kind=2)


def figures(drafts: Sequence[str], *texts: str, accept: bool = False, part: int = 0) -> dict[str, object]:
    with in_process(lambda _: scripted(*drafts)) as client:
        client.initialize()
        client.open("")
        items = [item for text in texts for item in write(client, text)]
        if part:
            client.notify("textDocument/didPartiallyAcceptCompletion", {"item": items[-1], "acceptedLength": part})
        if accept:
            command = items[-1]["command"]
            assert isinstance(command, dict)
            client.call("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})
        found = client.call("mercury/stats")
        assert isinstance(found, dict)
        return found


def test_accepted() -> None:
    found = figures(["total"], "return ", accept=True)
    assert (found["suggestions"], found["accepted"], found["rejected"], found["characters"]) == (1, 1, 0, 5)
    assert found["accepted_ms"] and found["answer_ms"] and not found["rejected_ms"]


def test_typed_through_to_the_end() -> None:
    found = figures(["total"], "return ", "return tot", "return total")
    assert (found["asks"], found["reused"]) == (3, 1)  # at its end the engine is asked anew
    assert (found["suggestions"], found["typed"], found["rejected"]) == (1, 1, 0)
    assert found["typed_ms"] and not found["rejected_ms"]


def test_rejected_by_typing_something_else() -> None:
    found = figures(["total", "other"], "return ", "return x")
    assert (found["suggestions"], found["rejected"], found["typed"], found["accepted"]) == (2, 1, 0, 0)
    assert found["rejected_ms"] and not found["typed_ms"]


def test_taken_in_parts() -> None:
    found = figures(["total + 1"], "return ", part=5)
    assert (found["partly"], found["accepted"], found["characters"]) == (1, 0, 5)
    assert found["partly_ms"] and not found["accepted_ms"]


def test_an_acceptance_of_something_never_shown_counts_for_nothing() -> None:
    account = Account()
    account.accepted("7")
    account.accepted_part("7", 3)
    assert account.figures().accepted == account.figures().partly == account.figures().characters == 0


@pytest.mark.parametrize("wanted", [True, False])
def test_kept_in_a_file_only_where_the_user_wants_that(
    wanted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    for _ in range(2):
        with in_process(lambda _: scripted("total")) as client:
            client.initialize({"stats": wanted})
            client.open("")
            write(client, "return ")
    code = cli.main(["stats", "--json"])
    out = capsys.readouterr()
    if not wanted:
        assert code == 1 and "mercury.stats" in out.err and not list(tmp_path.iterdir())
        return
    assert code == 0 and json.loads(out.out)["suggestions"] == 2
    assert cli.main(["stats"]) == 0 and "accepted" in capsys.readouterr().out

"""`mercury-lsp context`, as it is typed: what the model would get, to the letter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsp_client import ROOT

from engine.api import EngineConfig, InfillRequest, Related
from engine.checkpoints.adapter import Adapter
from engine.checkpoints.catalog import DEFAULT, find
from engine.checkpoints.gguf import GGUFFile
from engine.engine import LocalEngine
from engine.prompt import prompt_parts
from engine.tokenizer import TextTokenizer

BILL = "def bill(items):\n    return shop.total("
MAIN = "import shop\n" + "before = before\n" * 400 + BILL + "\n" + "after = after\n" * 400
PLACE = "main.py:403:23"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.py").write_text(MAIN)
    Path("shop.py").write_text("def total(items):\n    return sum(items)\n")
    Path("private.py").write_text("def items(): ...\n")
    Path(".mercuryignore").write_text("private.py\nsecret/\n")
    Path("secret").mkdir()
    Path("secret/a.py").write_text("def items(): ...\n")
    Path("script.json").write_text("[]")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "-m", "mercury_lsp", "context", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)


def shown(*arguments: str) -> dict[str, str]:
    """What was printed, by the words of its headings; of several related pieces the first."""
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    parts = done.stdout.removeprefix("── ").split("\n── ")
    headed = [part.partition(" ──\n") for part in parts]
    return {heading.partition(" ·")[0]: text.removesuffix("\n") for heading, _, text in reversed(headed)}


def test_the_parts_of_a_prompt_and_what_is_left_out() -> None:
    parts = shown(PLACE)
    assert list(parts)[::-1] == ["path", "related", "suffix", "prefix", "left out"]
    assert parts["path"] == "main.py"
    assert parts["related"] == "shop.py\ndef total(items):\n    return sum(items)"
    assert parts["prefix"].endswith(f"before = before\n{BILL}") and parts["suffix"].startswith("\nafter = after\n")
    before, after = MAIN.index(BILL) + len(BILL) - len(parts["prefix"]), len(MAIN.partition(BILL)[2]) - len(parts["suffix"])
    assert parts["left out"].split("\n") == [
        f"no room: {before:,} characters of the file before the prefix",
        f"no room: {after:,} characters of the file after the suffix",
        "ignored, or named like a secret: private.py, secret",
    ]


def test_an_engine_that_cuts_for_itself_gets_everything() -> None:
    parts = shown(PLACE, "--model", "scripted:script.json")
    assert MAIN.startswith(parts["prefix"] + parts["suffix"]) and len(parts["prefix"] + parts["suffix"]) > 8_000
    assert "before the prefix" not in parts["left out"]


def test_a_file_that_stays_out_of_prompts() -> None:
    done = run("private.py:1:1")
    assert (done.returncode, done.stdout) == (0, "nothing: private.py is ignored, or its name tells of a secret\n")


@pytest.mark.parametrize(("arguments", "said"), [(["main.py"], "FILE:LINE:COL"), (["main.py:1:1", "--model", "other"], "other")])
def test_what_cannot_be_shown(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == "" and said in done.stderr.splitlines()[-1]


def test_no_weights_are_loaded() -> None:
    imported = run(PLACE).stderr
    assert "engine.prompt" in imported and "engine.models" not in imported


def test_the_parts_are_what_the_engine_sees() -> None:
    request = InfillRequest(prefix="x = " * 400, suffix="é\n" * 200, path="a.py", related=(Related("b.py", "def f(): ..."),) * 3)
    parts = prompt_parts(EngineConfig(), request)
    tokenizer, layout = TextTokenizer(GGUFFile(find(DEFAULT).gguf).tokenizer_tables), Adapter(find(DEFAULT).adapter).layout
    ids = LocalEngine.prompt_ids(SimpleNamespace(tokenizer=tokenizer, layout=layout), request)  # type: ignore[arg-type]
    assert sum(part.tokens or 0 for part in parts) == len(ids)
    assert "".join(part.text for part in parts) == tokenizer.decode(ids)
    assert [part.name for part in parts] == ["path", "related", "related", "related", "suffix", "prefix"]

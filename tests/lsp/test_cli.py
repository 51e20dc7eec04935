"""`mercury-lsp complete`, as it is typed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from lsp_client import ROOT

from mercury_lsp import __version__
from mercury_lsp.complete import BadPlace, read_place

TEXT = 'def add(a, b):\n    retu\n\n\nprint("😀")\n'


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sums.py").write_text(TEXT, encoding="utf-8")
    Path("script.json").write_text(json.dumps(["rn a + b\n\n\nadd(1, 2)"]))


def run(*arguments: str, model: str | None = "scripted:script.json", **environment: str) -> subprocess.CompletedProcess[str]:
    chosen = ["--model", model] if model else []
    command = [sys.executable, "-m", "mercury_lsp", *arguments, *chosen]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", **environment}
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)


def test_the_neighbourhood_and_the_figures() -> None:
    done = run("complete", "sums.py:2:9")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [" 1 │ def add(a, b):", "+2 │     return a + b"]
    assert re.fullmatch(r"\d+ ms · \d+ denoise steps · \d+ forwards · \d+ tokens · confidence [01]\.\d\d", lines[-1])


def test_json() -> None:
    done = run("complete", "--json", "sums.py:2:9")
    assert list(json.loads(done.stdout)) == ["text", "latency_ms", "denoise_steps", "forwards", "tokens", "confidence", "model"]
    assert json.loads(done.stdout)["text"] == "rn a + b" and json.loads(done.stdout)["model"] == "scripted:script.json"


def test_no_suggestion() -> None:
    Path("script.json").write_text("[]")
    done = run("complete", "sums.py:2:9")
    assert done.returncode == 0 and "no suggestion" in done.stdout
    assert json.loads(run("complete", "sums.py:2:9", "--json").stdout)["text"] == ""


def test_options_before_and_after_the_place() -> None:
    assert run("--model", "scripted:script.json", "complete", "sums.py:2:9", "--deadline", "50", "--multiline", model=None).returncode == 0
    assert run("complete", "sums.py:2:9", "--deadline", "0").returncode == 2


def test_no_colours_in_a_pipe() -> None:
    assert "\x1b" not in run("complete", "sums.py:2:9").stdout
    assert "\x1b" in run("complete", "sums.py:2:9", FORCE_COLOR="1").stdout


def test_long_lines_are_not_wrapped() -> None:
    Path("sums.py").write_text("x = '" + "y" * 300 + "'\nretu")
    assert "y" * 300 in run("complete", "sums.py:2:5").stdout


@pytest.mark.parametrize(
    ("place", "cursor"),
    [
        ("sums.py:1:1", (0, 0)),
        ("sums.py:2:9", (1, 8)),
        ("sums.py:5:8", (4, 7)),
        ("sums.py:5:11", (4, 10)),
        ("sums.py:6:1", (5, 0)),
        ("crlf.py:2:2", (1, 1)),
        ("bom.py:1:2", (0, 1)),
        ("C:\\x.py:1:2", (0, 1)),
    ],
)
def test_places(place: str, cursor: tuple[int, int]) -> None:
    Path("crlf.py").write_bytes(b"a\r\nb\r\n")
    Path("bom.py").write_bytes(b"\xef\xbb\xbfab")
    Path("C:\\x.py").write_text("ab")
    snapshot = read_place(place)
    assert (snapshot.line, snapshot.column) == cursor


def test_a_bom_and_carriage_returns_are_left_out() -> None:
    Path("x.py").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    assert read_place("x.py:2:2").text == "a\nb\n"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("none.py:1:1", "No such file"),
        (".:1:1", "directory"),
        ("sums.py", "FILE:LINE:COL"),
        ("sums.py:1", "FILE:LINE:COL"),
        ("sums.py:1:x", "FILE:LINE:COL"),
        ("sums.py:-1:1", "FILE:LINE:COL"),
        ("sums.py:0:1", "lines 1 to 6"),
        ("sums.py:7:1", "lines 1 to 6"),
        ("sums.py:99999999999999999999:1", "FILE:LINE:COL"),
        ("sums.py:2:0", "columns 1 to 9"),
        ("sums.py:2:10", "columns 1 to 9"),
        ("sums.py:5:13", "columns 1 to 11"),
        ("binary:1:1", "binary"),
        ("latin.py:1:1", "not UTF-8 at byte 1"),
    ],
)
def test_bad_places(place: str, said: str) -> None:
    Path("binary").write_bytes(b"ab\0c")
    Path("latin.py").write_bytes("né".encode("latin-1"))
    with pytest.raises(BadPlace, match=said) as raised:
        read_place(place)
    assert "\n" not in str(raised.value)


def test_a_bad_place_is_one_line_and_2() -> None:
    done = run("complete", "none.py:1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("model", ["scripted:none.json", "no-such-model"])
def test_a_missing_model_is_one_line_and_1(model: str) -> None:
    done = run("complete", "sums.py:2:9", model=model)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert model.removeprefix("scripted:") in done.stderr


def test_version() -> None:
    assert run("--version", model=None).stdout == f"mercury-lsp {__version__}\n"

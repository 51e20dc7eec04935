"""The server with the default model in it: every key is answered with something valid, and memory stays small."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from lsp_client import Process, accept, process, utf16_length

MIB = 2**20
TYPED = '''def greet(name: str) -> str:
    """Return a greeting for `name`, with a 👋."""
    return f"Hello, {name}! 👋"


for name in ["Ada", "名前"]:
    print(greet(name))
'''


@pytest.fixture(scope="module")
def client() -> Iterator[Process]:
    with process() as client:
        client.initialize({"deadlineMs": 500, "minConfidence": 0})
        client.open("")
        client.items(0, 0)  # waits for the model
        yield client


def test_keystroke_by_keystroke(client: Process) -> None:
    shown = 0
    for end in range(len(TYPED) + 1):
        text = TYPED[:end]
        client.change({"text": text})
        lines = text.split("\n")
        items = client.items(len(lines) - 1, utf16_length(lines[-1]), kind=2)
        for item in items:
            assert accept(text, item).startswith(text) and accept(text, item) != text
        shown += len(items)
    assert shown > len(TYPED) / 4
    assert client.received("window/showMessage") == client.received("window/logMessage") == []


def test_memory(client: Process) -> None:
    """Its peak; where it stands in /proc."""
    status = Path(f"/proc/{client.child.pid}/status").read_text()
    (peak,) = (int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))
    assert peak < 900 * MIB, status


def test_idle(client: Process) -> None:
    """Two seconds without any work, once the last draft is finished and the model's threads have spun down."""
    server = psutil.Process(client.child.pid)

    def used() -> float:
        return sum(server.cpu_times()[:2])

    patience = time.monotonic() + 30
    before, now = -1.0, used()
    while now != before and time.monotonic() < patience:
        time.sleep(2)
        before, now = now, used()
    assert now == before

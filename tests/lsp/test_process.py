"""The server as a process: how soon it answers, what it costs while nothing happens, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from lsp_client import ROOT, URI, Process, process, within

from mercury_lsp import stdio

HEAVY = ["torch", "numpy", "tokenizers", "safetensors", "gguf", "tree_sitter", "rich", "pathspec"]


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(["a + b", "c + d"]))
    return f"scripted:{path}"


def test_initialize_is_answered_within_700_ms(script: str) -> None:
    """Of processor time, which on an idle machine is all there is; a busy one cannot make this fail."""
    taken = []
    for _ in range(5):
        with process("--model", script) as client:
            client.call("initialize", {"capabilities": {}})
            taken.append(sum(psutil.Process(client.child.pid).cpu_times()[:2]))
    assert min(taken) < 0.7


def test_nothing_heavy_is_loaded_for_the_handshake() -> None:
    """A server that has answered `initialize` in a process that then tells what it has imported."""
    code = """
import asyncio, io, json, sys
from engine.api import load_engine
from mercury_lsp import server
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
sent = io.BytesIO()
asyncio.run(server.build(load_engine).serve(io.BytesIO(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body)), sent))
assert b"inlineCompletionProvider" in sent.getvalue(), sent.getvalue()
print(json.dumps(sorted(name.partition(".")[0] for name in sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = json.loads(told.stdout)
    assert "pygls" in loaded
    assert [name for name in HEAVY if name in loaded] == []


def test_a_session_from_end_to_end(script: str) -> None:
    with process("--stdio", "--model", script) as client:
        client.initialize()
        client.open("x = ")
        assert client.items(0, 4)[0]["insertText"] == "x = a + b"
        client.call("shutdown")
        client.notify("exit")
        assert client.exit_code() == 0
        assert client.child.stderr is not None and client.child.stderr.read() == b""


def test_exit_without_shutdown(script: str) -> None:
    with process("--model", script) as client:
        client.initialize()
        client.notify("exit")
        assert client.exit_code() == 1


@pytest.mark.parametrize("early", [True, False])
def test_it_ends_when_its_input_does(script: str, early: bool) -> None:
    with process("--model", script) as client:
        if not early:
            client.initialize()
        client.hang_up()
        assert client.exit_code() == 1


@pytest.mark.parametrize("length", ["much", "-5", "999999999999999", "99999999999999999999", "9" * 5000])
def test_it_ends_when_its_input_is_no_protocol(script: str, length: str) -> None:
    with process("--model", script) as client:
        client.initialize()
        client._writer.write(f"Content-Length: {length}\r\n\r\n{{}}".encode())
        client._writer.flush()
        assert client.exit_code() == 1
        (said,) = [message["message"] for message in client.received("window/logMessage")]
        assert said.startswith("cannot read any further: Content-Length is ") and len(said) < 150
        assert client.child.stderr is not None and client.child.stderr.read() == b""


def test_a_promised_body_takes_no_memory(script: str) -> None:
    with process("--model", script) as client:
        client.initialize()
        before = psutil.Process(client.child.pid).memory_info()
        client._writer.write(b"Content-Length: 1000000000\r\n\r\n" + b" " * 4_000_000)
        client._writer.flush()
        after = psutil.Process(client.child.pid).memory_info()
        assert after.vms - before.vms < 100e6
        client.hang_up()
        assert client.exit_code() == 1


def test_it_ends_with_its_parent(script: str) -> None:
    parent = subprocess.Popen(["sleep", "60"])
    with process("--model", script) as client:
        client.initialize(processId=parent.pid)
        client.open("x = ")
        assert len(client.items(0, 4)) == 1
        parent.kill()
        parent.wait()
        assert client.exit_code() == 1


@pytest.mark.parametrize("number", [None, 0, -1, "x", 2**22 + 1])
def test_a_parent_that_is_not_there_is_not_missed(script: str, number: object) -> None:
    with process("--model", script) as client:
        client.initialize(processId=number)
        client.open("x = ")
        assert len(client.items(0, 4)) == 1


def test_a_client_that_stops_reading_and_dies(script: str) -> None:
    """The answer meets a closed pipe, while the input stays open."""
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    command = [sys.executable, "-m", "mercury_lsp", "--model", script]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    server.stdout.close()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    server.stdin.flush()
    try:
        assert server.wait(30) == 1
    finally:
        server.kill()
        server.stdin.close()


@pytest.mark.parametrize("end", ["input", "parent"])
def test_a_client_that_does_not_read(script: str, end: str) -> None:
    """Its pipe is full, and the server has more to say than it takes."""
    parent = subprocess.Popen(["sleep", "60"])
    command = [sys.executable, "-m", "mercury_lsp", "--model", script]
    server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None

    def send(number: int, method: str, params: object) -> None:
        assert server.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    try:
        send(0, "initialize", {"processId": parent.pid, "capabilities": {}})
        for number in range(3000):
            send(number, "no/such", None)
        server.stdin.flush()
        time.sleep(1)  # a server that stops at the full pipe has done so by now
        if end == "input":
            server.stdin.close()
        else:
            parent.kill()
        assert server.wait(30) == 1
    finally:
        parent.kill()
        parent.wait()
        server.kill()
        server.stdin.close()
        server.wait()


def test_what_lies_unread_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "_UNREAD_MAX", 1 << 20)
    to_client, from_server = os.pipe()

    async def write() -> float:
        gone = asyncio.Event()
        writer = stdio.Writer(stream, gone.set)
        for _ in range(20):
            assert not gone.is_set()
            writer.write(bytes(1 << 16))
            if gone.is_set():
                break
        assert gone.is_set()
        writer.close()
        began = time.monotonic()
        await writer.wait_closed()
        return time.monotonic() - began

    with os.fdopen(from_server, "wb") as stream:
        assert asyncio.run(write()) < 10
        os.close(to_client)  # frees the thread


def busy_seconds(client: Process) -> float:
    return sum(psutil.Process(client.child.pid).cpu_times()[:2])


def test_an_idle_server_costs_nothing(script: str) -> None:
    with process("--model", script) as client:
        client.initialize(processId=os.getpid())
        client.open("x = ")
        client.items(0, 4)
        time.sleep(0.5)
        before = busy_seconds(client)
        switches = psutil.Process(client.child.pid).num_ctx_switches()
        time.sleep(2)
        assert busy_seconds(client) == before
        assert psutil.Process(client.child.pid).num_ctx_switches() == switches  # it did not even wake up


def test_what_an_engine_prints_does_not_reach_the_client(tmp_path: Path) -> None:
    """A stand-in for a library that prints; everything goes through the same file descriptors."""
    code = (
        "import os, asyncio; from mercury_lsp import server, stdio; from engine.scripted import ScriptedEngine\n"
        "streams = stdio.claim_stdio()\n"
        "def load(_): print('hello'); os.system('echo world; cat'); return ScriptedEngine(['a + b'])\n"
        "os._exit(asyncio.run(server.build(load).serve(*streams)))"
    )
    client = Process(python=("-c", code))
    try:
        client.initialize()
        client.open("x = ")
        assert len(client.items(0, 4)) == 1
        client.notify("exit")
        assert client.exit_code() == 1
        assert client.child.stderr is not None and b"world" in client.child.stderr.read()
    finally:
        client.child.kill()


def test_a_missing_script_is_told(tmp_path: Path) -> None:
    with process("--model", f"scripted:{tmp_path / 'none.json'}") as client:
        client.initialize()
        assert "none.json" in client.notified("window/showMessage")["message"]
        client.open("x = ")
        assert client.items(0, 4) == []


def test_two_clients_are_apart(script: str) -> None:
    with process("--model", script) as one, process("--model", script) as two:
        for client in (one, two):
            client.initialize()
            client.open("x = ", uri=URI)
            assert client.items(0, 4)[0]["insertText"] == "x = a + b"
        one.hang_up()
        assert within(lambda: one.child.poll() is not None)
        assert two.items(0, 4)[0]["insertText"] == "x = a + b"

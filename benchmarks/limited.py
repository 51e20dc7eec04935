"""Runs a Python program that nobody has read, in a process with limits. Knows no model and no benchmark.

Limits of CPU time, memory, file size and processes, a folder that is gone afterwards, an empty environment; no network: a network
namespace of its own where the system grants one, and an audit hook that refuses sockets everywhere. This holds programs that go wrong, not
ones that are out to break free. POSIX only. The second half runs in the child, on the standard library alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

Verdict = Literal["passed", "failed", "timeout"]


class Limits(NamedTuple):
    """CPU time in seconds; the clock allows three times as much and a second to start. Memory is address space in bytes."""

    cpu_seconds: int = 5
    memory: int = 1 << 30
    file_size: int = 1 << 20


def verdict_of(program: str, limits: Limits = Limits()) -> Verdict:  # noqa: B008 (a frozen value)
    """Run `program` to its end. It has passed only where its last line was reached: to exit, even with 0, is to fail."""
    token = secrets.token_hex(16)
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), token, *map(str, limits)]
    with tempfile.TemporaryDirectory(prefix="limited-", ignore_cleanup_errors=True) as folder:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={},
            start_new_session=True,
        )
        try:
            said, _ = child.communicate(program.encode("utf-8", "replace"), timeout=1 + 3 * limits.cpu_seconds)
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            _end(child)
    if child.returncode == -signal.SIGXCPU:
        return "timeout"
    return "passed" if said.decode("ascii", "replace") == token else "failed"


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started in its session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


# ------------------------------------------------------------------------------------------------ in the child

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000


def _child(token: str, cpu_seconds: int, memory: int, file_size: int) -> NoReturn:
    source = sys.stdin.buffer.read().decode()
    answer = _silenced()
    _leave_network()
    _limit(cpu_seconds, memory, file_size)
    exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
    os.write(answer, token.encode())
    os._exit(0)


def _silenced() -> int:
    """Send what the program prints nowhere; the descriptor that still leads to the parent."""
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return answer


def _leave_network() -> None:
    with contextlib.suppress(OSError, AttributeError):  # no Linux
        ctypes.CDLL(None).unshare(_NEW_USER | _NEW_NET)  # a result other than 0: not granted, the hook is left

    def refuse(event: str, _: tuple[object, ...]) -> None:
        if event.startswith("socket."):
            raise PermissionError("no network here")

    sys.addaudithook(refuse)


def _limit(cpu_seconds: int, memory: int, file_size: int) -> None:
    limits = {
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_FSIZE: (file_size, file_size),
        resource.RLIMIT_NOFILE: (64, 64),
        resource.RLIMIT_NPROC: (0, 0),  # no effect for root
        resource.RLIMIT_CORE: (0, 0),
    }
    for kind, (soft, hard) in limits.items():
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(kind, (soft, hard))


if __name__ == "__main__":
    _child(sys.argv[1], *map(int, sys.argv[2:]))

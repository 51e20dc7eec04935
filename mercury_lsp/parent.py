"""Tells when the process that started us is gone, without waking up to look where the system can say so. Knows no protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable

_POLL_SECONDS = 10.0
_PID_MAX = 2**31 - 1  # what the calls below take; no system has larger ones


def watch(pid: int, gone: Callable[[], None]) -> None:
    """Call `gone` on the running loop when process `pid` ends.

    A process that is not there to begin with is not watched: a server in a container gets the id its client has outside of it.
    """
    if pid > _PID_MAX:
        return
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":
        threading.Thread(target=_wait_windows, args=(pid, loop, gone), name="parent", daemon=True).start()
        return
    if sys.platform == "linux":
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except OSError:  # an old kernel, or a sandbox without the call
            pass
        else:

            def ended() -> None:
                loop.remove_reader(descriptor)
                os.close(descriptor)
                gone()

            loop.add_reader(descriptor, ended)
            return
    if _alive(pid):
        _poll(pid, loop, gone)


def _poll(pid: int, loop: asyncio.AbstractEventLoop, gone: Callable[[], None]) -> None:
    if _alive(pid):
        loop.call_later(_POLL_SECONDS, _poll, pid, loop, gone)
    else:
        gone()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _wait_windows(pid: int, loop: asyncio.AbstractEventLoop, gone: Callable[[], None]) -> None:
    if sys.platform == "win32":
        import ctypes

        synchronize, forever = 0x00100000, 0xFFFFFFFF
        handle = ctypes.windll.kernel32.OpenProcess(synchronize, False, pid)
        if not handle:
            return
        ctypes.windll.kernel32.WaitForSingleObject(handle, forever)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(gone)

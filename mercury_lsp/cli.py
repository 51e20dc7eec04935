"""The `mercury-lsp` command: the server, and the sub-commands by name, with streams that can be used. Knows no argument.

Imports next to nothing, so that an interrupt finds things in order from the first moment; a command's own imports come when it is chosen.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Returns 0 when done, 1 where it could not be done, 2 for a bad argument. An interrupt is the process's end: 130 in a shell."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # At once and without a traceback, also from within an import. What has to clean up says so.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _make_output_safe()
    try:
        try:
            from mercury_lsp import arguments

            args = arguments.parser().parse_args(argv)
            if args.command is None:
                return _serve(args)
            module = getattr(args, "module", args.command)
            code: int = importlib.import_module(f"mercury_lsp.{module}").run(args)
            return code
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if error.filename else ""
        print(f"mercury-lsp: {where}{error.strerror or error}", file=sys.stderr)
        return 1


def _serve(args: argparse.Namespace) -> int:
    import asyncio

    from engine.api import load_engine
    from mercury_lsp import server, stdio

    reader, writer = stdio.claim_stdio()
    code = asyncio.run(server.build(load_engine, {"model": args.model}).serve(reader, writer))
    # Not `sys.exit`: the engine's thread may be in the middle of a denoise step, and is not waited for.
    sys.stderr.flush()
    os._exit(code)


def _make_output_safe() -> None:
    """Have streams that can be written to: a closed one leads nowhere, and what one cannot encode it replaces."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the descriptor, too: the next file that is opened must not take its place
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """What is still buffered must not fail once more when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

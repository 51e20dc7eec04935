"""The `mercury-lsp` command: the server, and the sub-commands by name. Imports what a command needs when it is chosen."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from mercury_lsp import __version__, train


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    if args.command is None:
        return _serve(args)
    code: int = importlib.import_module(f"mercury_lsp.{args.command}").run(args)
    return code


def _serve(args: argparse.Namespace) -> int:
    import asyncio

    from engine.api import load_engine
    from mercury_lsp import server, stdio

    reader, writer = stdio.claim_stdio()
    try:
        code = asyncio.run(server.build(load_engine, {"model": args.model}).serve(reader, writer))
    except KeyboardInterrupt:
        code = 130
    # Not `sys.exit`: the engine's thread may be in the middle of a denoise step, and is not waited for.
    sys.stderr.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mercury-lsp",
        description="A language server whose completions come from a diffusion language model. Without a command it serves over stdio.",
    )
    parser.add_argument("--version", action="version", version=f"mercury-lsp {__version__}")
    parser.add_argument("--stdio", action="store_true", help="serve over stdio, which is what it does anyway")
    model = "the model to use, or scripted:FILE for a stand-in"
    parser.add_argument("--model", metavar="NAME", help=f"{model}; weighs more than the client's setting")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    complete = commands.add_parser("complete", help="show a suggestion in a file")
    complete.add_argument("place", metavar="FILE:LINE:COL", help="where to suggest; line and column count from 1, as editors print them")
    complete.add_argument("--json", action="store_true", help="print the suggestion and its figures as JSON")
    complete.add_argument("--multiline", action="store_true", help="allow several lines wherever the cursor stands")
    complete.add_argument("--deadline", metavar="MS", type=_milliseconds, help="take what is there after so many milliseconds")
    # Suppressed, so that its absence here does not undo one that stands before the command.
    complete.add_argument("--model", metavar="NAME", default=argparse.SUPPRESS, help=model)

    pull = commands.add_parser("pull", help="fetch a model")
    pull.add_argument("model", metavar="MODEL", nargs="?", help="which one; the default model if not given")
    pull.add_argument("--from-file", metavar="PATH", help="take it from a file that was fetched by other means")

    doctor = commands.add_parser("doctor", help="show what was found on this machine, what is missing, and what mends it")
    doctor.add_argument("--model", metavar="NAME", default=argparse.SUPPRESS, help=model)

    train.add_arguments(commands.add_parser("train", help="adapt a causal model to diffusion"))
    return parser


def _milliseconds(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


if __name__ == "__main__":
    sys.exit(main())

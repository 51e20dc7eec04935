"""The arguments of `mercury-lsp` and its sub-commands. Knows nothing of what they do."""

from __future__ import annotations

import argparse

from mercury_lsp import __version__, export, stats, train
from mercury_lsp.http import command


def parser() -> argparse.ArgumentParser:
    """`command` is None for the server."""
    top = argparse.ArgumentParser(
        prog="mercury-lsp",
        description="A language server whose completions come from a diffusion language model. Without a command it serves over stdio.",
    )
    top.add_argument("--version", action="version", version=f"mercury-lsp {__version__}")
    top.add_argument("--stdio", action="store_true", help="serve over stdio, which is what it does anyway")
    model = "the model to use, or scripted:FILE for a stand-in"
    top.add_argument("--model", metavar="NAME", type=_text, help=f"{model}; weighs more than the client's setting")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    complete = commands.add_parser("complete", help="show a suggestion in a file")
    complete.add_argument("place", metavar="FILE:LINE:COL", help="where to suggest; line and column count from 1, as editors print them")
    complete.add_argument("--json", action="store_true", help="print the suggestion and its figures as JSON")
    complete.add_argument("--multiline", action="store_true", help="allow several lines wherever the cursor stands")
    complete.add_argument("--deadline", metavar="MS", type=_milliseconds, help="take what is there after so many milliseconds")
    # Suppressed, so that its absence here does not undo one that stands before the command.
    complete.add_argument("--model", metavar="NAME", type=_text, default=argparse.SUPPRESS, help=model)

    context = commands.add_parser("context", help="show what the model would get in a file, and what is left out")
    context.add_argument("place", metavar="FILE:LINE:COL", help="as for `complete`")
    context.add_argument("--model", metavar="NAME", type=_text, default=argparse.SUPPRESS, help=model)
    context.set_defaults(module="show_context")

    pull = commands.add_parser("pull", help="fetch a model")
    pull.add_argument("model", metavar="MODEL", nargs="?", type=_text, help="which one; the default model if not given")
    pull.add_argument("--from-file", metavar="PATH", type=_text, help="take it from a file that was fetched by other means")

    doctor = commands.add_parser("doctor", help="show what was found on this machine, what is missing, and what mends it")
    doctor.add_argument(
        "--model", metavar="NAME", type=_text, default=argparse.SUPPRESS, help="the model to look at, one that `pull` knows"
    )

    http = commands.add_parser("http", help="serve the engine over HTTP, as OpenAI, llama.cpp and Ollama clients ask")
    http.add_argument("--model", metavar="NAME", type=_text, default=argparse.SUPPRESS, help=model)
    command.add_arguments(http)

    stats.add_arguments(commands.add_parser("stats", help="say what became of suggestions, where the setting `stats` is on"))
    export.add_arguments(commands.add_parser("export", help="write the model for programs that decode token by token, such as llama.cpp"))
    train.add_arguments(commands.add_parser("train", help="adapt a causal model to diffusion"))
    return top


def _text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("is empty")
    return text


def _milliseconds(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of milliseconds; expected 1 or more")
    return int(text)

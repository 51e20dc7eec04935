"""`mercury-lsp pull`: fetches a model and shows how far it is."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from engine.api import MercuryError, SettingInvalid
from engine.checkpoints import catalog, fetch


def run(args: argparse.Namespace) -> int:
    """`args.model` and `args.from_file` may be None.

    Returns 0, 1 where the model was not fetched, 2 for a model that is not known, 130 where it was interrupted.
    """
    console = Console(stderr=True, soft_wrap=True)
    if threading.current_thread() is threading.main_thread():
        # However it is ended, nothing half-written may stay.
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)
    try:
        model = catalog.lookup(args.model or catalog.DEFAULT)
        path = _pull(model, Path(args.from_file) if args.from_file else None, console)
    except SettingInvalid as error:
        return _fail(str(error), 2)
    except MercuryError as error:
        return _fail(str(error), 1)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was kept, the next pull starts again", 130)
    print(f"{model.name} is ready: {path}")
    return 0


def _pull(model: catalog.Model, from_file: Path | None, console: Console) -> Path:
    """Fetch with a bar for each step; where nobody watches, with a line for each."""
    columns = (TextColumn("{task.description:<11}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        tasks: dict[str, TaskID] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
                if not console.is_terminal:
                    print(f"{model.name}: {step} {total / 1e6:.1f} MB", file=sys.stderr, flush=True)
            bar.update(tasks[step], completed=done)

        return fetch.pull(model, from_file, show)


def _fail(message: str, code: int) -> int:
    print(f"mercury-lsp: {message}", file=sys.stderr)
    return code

"""`mercury-lsp export`: writes the model, its adapter merged in, as a GGUF file. Knows no tensor."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.api import MercuryError, SettingInvalid

# As the exporter knows them, which needs torch; it is not imported for a line of help.
TYPES = ("q8_0", "q4_1", "q4_0", "f16", "f32")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the GGUF file to write")
    parser.add_argument("--type", choices=TYPES, default="q8_0", help="how the weights are stored (default: %(default)s)")
    parser.add_argument("--model", metavar="NAME", default=argparse.SUPPRESS, help="one that `pull` knows; the default model if not given")


def run(args: argparse.Namespace) -> int:
    """0 when written, 1 with a line that says why not, 2 for a model that is not known."""
    from engine.checkpoints import catalog
    from engine.checkpoints.gguf_export import export_gguf

    name = args.model or catalog.DEFAULT
    try:
        files = catalog.find(name)
        export_gguf(files.gguf, files.adapter, args.out, args.type, name)
    except MercuryError as error:
        print(f"mercury-lsp: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingInvalid) else 1
    print(f"wrote {args.out}: {name}, {args.out.stat().st_size / 1e6:.0f} MB", file=sys.stderr)
    return 0

"""What the model itself writes into holes, kept as rows: drafts are held against that text, not against people's.

python -m engine.training.own --base GGUF --adapter ADAPTER --data DIR… --rows N --out FILE.jsonl
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import torch

from engine.api import SettingInvalid
from engine.cache import CacheSlot
from engine.checkpoints.load import Checkpoint, load_checkpoint
from engine.decode import decode
from engine.drafting import Decoder, Limits
from engine.training.blocks import Row
from engine.training.corpus import read_corpus
from engine.training.infill import InfillRows, RowRules

# Tokens written into a hole: as long as what is asked for while somebody types, and enough to be worth reading the prompt.
_LONGEST = 48
_SHORTEST = 4
_RULES = RowRules(contexts=((256, 0.5), (512, 0.4), (1024, 0.1)))
_ROOM = 1024 + 64 + _LONGEST


class _Record(msgspec.Struct, frozen=True):
    ids: list[int]
    start: int
    language: str


class OwnRows:
    """Draws rows that were written down. The same generator gives the same rows."""

    def __init__(self, path: Path) -> None:
        """Raises `SettingInvalid` where the file holds something else, or nothing."""
        try:
            records = [msgspec.json.decode(line, type=_Record) for line in path.read_bytes().splitlines()]
        except msgspec.MsgspecError as error:
            raise SettingInvalid(f"{path}: not a file of the model's own text ({error})") from None
        if not records:
            raise SettingInvalid(f"{path}: holds no rows")
        self._rows = [Row(ids=tuple(one.ids), start=one.start, kind="own", language=one.language, own=True) for one in records]

    def row(self, rng: random.Random) -> Row:
        """One row."""
        return rng.choice(self._rows)


def write_rows(checkpoint: Checkpoint, source: InfillRows, count: int, seed: int) -> Iterator[Row]:
    """Rows whose middles are what the model decodes greedily, up to its end or `_LONGEST` tokens."""
    layout = checkpoint.layout
    banned = [index for index in checkpoint.tokenizer.special_ids if index != layout.end_id]
    decoder = Decoder(checkpoint.transformer, layout, torch.tensor(banned), checkpoint.chain)
    limits = Limits(tokens=_LONGEST, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
    slot = CacheSlot(checkpoint.transformer.config, _ROOM, checkpoint.transformer.dtype)
    for number in range(count):
        drawn = source.row(random.Random(f"{seed}/own/{number}"))
        prompt = drawn.ids[: drawn.start]
        slot.truncate(0)
        with torch.inference_mode():
            decoded = decode(decoder, slot, prompt, limits, lambda: None)
        if len(decoded.ids) < _SHORTEST:
            continue
        yield Row(ids=(*prompt, *decoded.ids), start=len(prompt), kind="own", language=drawn.language, own=True)


def write_file(path: Path, rows: Iterable[Row]) -> None:
    """Add rows to a file, a line each, as they come."""
    with path.open("ab") as file:
        for row in rows:
            file.write(msgspec.json.encode(_Record(ids=list(row.ids), start=row.start, language=row.language)) + b"\n")
            file.flush()


def _main() -> int:
    parser = argparse.ArgumentParser(prog="python -m engine.training.own", description=__doc__)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="rows are added to it")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    checkpoint = load_checkpoint(args.base, args.adapter, torch.bfloat16)
    source = InfillRows(read_corpus(args.data, held_out=False), checkpoint.tokenizer, checkpoint.layout, _RULES)
    write_file(args.out, write_rows(checkpoint, source, args.rows, args.seed))
    return 0


if __name__ == "__main__":
    sys.exit(_main())

"""How much of JSON Schema can answers be held to? The official test suite's required cases, each group refused by name or held to.

Of the groups that are held to, no instance that does not fit may get through; which of those that fit do is counted. And what is written by
chance within the grammar, as by the worst model there can be, is judged by an independent validator.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import torch
from rich.console import Console

from benchmarks import record
from engine.api import GrammarUnsupported
from engine.checkpoints import catalog
from engine.checkpoints.gguf import GGUFFile
from engine.serving.grammar import Frontier, Grammars
from engine.serving.requests import Grammar
from engine.tokenizer import TextTokenizer

_MOST = 32  # tokens of an answer written by chance


def main(argv: Sequence[str] | None = None) -> int:
    """0 where nothing got through that does not fit, and nothing was refused without a name."""
    args = _arguments(argv)
    tokenizer = TextTokenizer(GGUFFile(catalog.find(catalog.DEFAULT).gguf).tokenizer_tables)
    grammars = Grammars(tokenizer, args.end_id)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for name, group in _groups(args.suite):
        counts["groups"] += 1
        try:
            grammars.frontier(Grammar("schema", json.dumps(group["schema"])))
        except GrammarUnsupported as error:
            counts["refused by name"] += 1
            faults += [f"{name}: refused without a reason"] if not str(error).strip() else []
            continue
        faults += [f"{name}: {fault}" for fault in _judged(grammars, group, tokenizer, counts, args.times)]
    row = {"case": "schema suite", **counts, "faults": len(faults)}
    record.append(args.results, {**record.origin(), **row})
    console = Console(width=150)
    console.print(row)
    for fault in faults:
        console.print(fault, markup=False)
    return 1 if faults else 0


def _judged(grammars: Grammars, group: dict[str, Any], tokenizer: TextTokenizer, counts: Counter[str], times: int) -> Iterator[str]:
    """What is wrong with a group that answers are held to."""
    schema = json.dumps(group["schema"])
    for test in group["tests"]:
        kind = "fit" if test["valid"] else "do not fit"
        counts[kind] += 1
        ids = tokenizer.encode(json.dumps(test["data"], ensure_ascii=False))
        through = grammars.frontier(Grammar("schema", schema)).fits(ids)
        counts[f"{kind}, through"] += through
        if through and not test["valid"]:
            yield f"{test['description']}: got through"
    for seed in range(times):
        text = _by_chance(grammars.frontier(Grammar("schema", schema)), tokenizer, random.Random(seed))
        counts["written by chance"] += 1
        try:
            jsonschema.validate(json.loads(text), group["schema"], cls=jsonschema.Draft202012Validator)
        except jsonschema.SchemaError:  # Python's regular expressions lack what the schema's has
            counts["not judged"] += 1
        except (ValueError, jsonschema.ValidationError) as error:
            yield f"{text}: {str(error).splitlines()[0]}"


def _by_chance(frontier: Frontier, tokenizer: TextTokenizer, rng: random.Random) -> str:
    """A text whose every id is drawn from those that may follow."""
    frontier.begin(_MOST)
    ids: list[int] = []
    while not frontier.ended and len(ids) < _MOST:
        allowed = torch.isfinite(frontier.masked(torch.zeros(len(tokenizer)))).nonzero()
        ids.append(frontier.take(int(allowed[rng.randrange(len(allowed))])))
    return tokenizer.to_bytes(ids).decode(errors="replace")


def _groups(suite: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(suite.glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            yield f"{path.stem}: {group['description']}", group


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_schema_suite", description=__doc__)
    parser.add_argument("--suite", type=Path, required=True, metavar="FOLDER", help="`tests/draft2020-12` of JSON-Schema-Test-Suite")
    parser.add_argument("--times", type=int, default=1, help="answers written by chance to each schema; a second or two each")
    parser.add_argument("--end-id", type=int, default=0, help="the id that ends an answer")
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

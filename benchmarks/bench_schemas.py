"""Do answers always fit their schema? Random schemas, each asked once of `mercury-lsp http`'s application, every answer held to its schema.

A run may be done in parts: `--first` says where to go on, and a part that is cut off by `--seconds` records how far it came.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import jsonschema
from rich.console import Console

from benchmarks import record
from benchmarks.random_schemas import random_schema
from engine.api import EngineConfig
from engine.serving.local import LocalService
from mercury_lsp.http.app import build
from mercury_lsp.http.guard import Rules

_AT_ONCE = 16
_ASK = "Make up an example."


def main(argv: Sequence[str] | None = None) -> int:
    """0 where every answer was valid and whole."""
    args = _arguments(argv)
    origin = record.origin()
    service = LocalService.load_model(EngineConfig(model=args.model))
    try:
        row, faults = asyncio.run(_asked(build_client(service), args))
    finally:
        service.close()
    record.append(args.results, {**origin, "model": args.model, "case": "schemas", **row})
    console = Console(width=150)
    console.print(row)
    for fault in faults:
        console.print(fault, markup=False)
    return 0 if not faults else 1


def build_client(service: LocalService) -> httpx.AsyncClient:
    """A client of the application in this process."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(build(service, Rules())), base_url="http://localhost", timeout=600)


async def _asked(client: httpx.AsyncClient, args: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """The figures of a part, and what went wrong in it."""
    seeds = iter(range(args.first, args.first + args.count))
    counts: Counter[str] = Counter()
    faults: list[str] = []
    started = time.perf_counter()

    async def ask() -> None:
        while time.perf_counter() - started < args.seconds and (seed := next(seeds, None)) is not None:
            fault, tokens = await _one(client, seed, args)
            counts.update(asked=1, valid=not fault, tokens=tokens)
            if fault:
                faults.append(f"{seed}: {fault}")

    async with client:
        await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
    row = {"first": args.first, **counts, "max_tokens": args.max_tokens, "temperature": args.temperature}
    return {**row, "seconds": round(time.perf_counter() - started, 1)}, faults


async def _one(client: httpx.AsyncClient, seed: int, args: argparse.Namespace) -> tuple[str, int]:
    """What is wrong with the answer, nothing where nothing is, and its tokens."""
    schema = random_schema(seed)
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
    body = {"messages": [{"role": "user", "content": _ASK}], "response_format": form, "max_tokens": args.max_tokens}
    sampling = {"temperature": args.temperature, "seed": seed}
    reply = await client.post("/v1/chat/completions", json=body | sampling)
    if reply.status_code != 200:
        return f"{reply.status_code} {reply.text}", 0
    answer = reply.json()
    choice, tokens = answer["choices"][0], answer["usage"]["completion_tokens"]
    text = choice["message"]["content"]
    if choice["finish_reason"] != "stop":
        return f"{choice['finish_reason']} {text}", tokens
    try:
        jsonschema.validate(json.loads(text), schema, cls=jsonschema.Draft202012Validator)
    except (ValueError, jsonschema.ValidationError) as error:
        return f"{str(error).splitlines()[0]} {text}", tokens
    return "", tokens


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_schemas", description=__doc__)
    parser.add_argument("--model", default="quicksilver-135m")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first schema")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ask no more after so long")
    parser.add_argument("--max-tokens", type=int, default=300)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

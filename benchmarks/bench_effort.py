"""What does `reasoning_effort` bring, and what does it cost? The same tasks with known answers at every effort, asked of the application.

Facts out of a sentence, the larger of two numbers, the mood of a remark: each answer is held to a schema, and a field is right or wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import httpx
from rich.console import Console

from benchmarks import record
from benchmarks.bench_schemas import build_client
from engine.api import EngineConfig
from engine.serving.local import LocalService

EFFORTS = ("instant", "low", "medium", "high")
_NAMES = ("Anna", "Omar", "Lena", "Pedro", "Mei", "Jonas", "Aisha", "Tom")
_CITIES = ("Berlin", "Lisbon", "Oslo", "Prague", "Cairo", "Lima", "Kyoto", "Dublin")
_THINGS = ("chairs", "lamps", "books", "cups", "tables", "shirts")
_GOOD = (
    "The food was wonderful and the staff were kind.",
    "I love this lamp, it works perfectly.",
    "A great film, we laughed a lot.",
)
_BAD = ("The room was dirty and cold.", "It broke after one day, a waste of money.", "The worst service I have ever had.")


class Task(NamedTuple):
    kind: str
    question: str
    answer: dict[str, Any]
    schema: dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded."""
    args = _arguments(argv)
    origin = record.origin()
    service = LocalService.load_model(EngineConfig(model=args.model))
    try:
        rows = asyncio.run(_measured(build_client(service), args))
    finally:
        service.close()
    for row in rows:
        record.append(args.results, {**origin, "model": args.model, "case": "effort", **row})
        Console(width=150).print(row)
    return 0


async def _measured(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row an effort; each task goes through all of them before the next, so that a busy machine hits all alike."""
    tasks = [task for number in range(args.count) for task in made(random.Random(args.seed * 1000 + number))]
    asked: dict[str, list[tuple[Task, float, dict[str, Any], float]]] = {effort: [] for effort in args.efforts}
    async with client:
        for task in tasks:
            for effort in args.efforts:
                started = time.perf_counter()
                right, usage = await _one(client, task, effort, args.temperature)
                asked[effort].append((task, right, usage, time.perf_counter() - started))
    first = [each[1] for each in asked[args.efforts[0]]]
    return [_row(effort, asked[effort], first) for effort in args.efforts]


def _row(effort: str, asked: Sequence[tuple[Task, float, dict[str, Any], float]], first: Sequence[float]) -> dict[str, Any]:
    """`better` and `worse`: tasks with more and with fewer right fields than at the first effort."""
    kinds = sorted({task.kind for task, *_ in asked})
    rights = [right for _, right, *_ in asked]
    hidden = sum(usage["completion_tokens_details"]["reasoning_tokens"] for _, _, usage, _ in asked)
    return {
        "effort": effort,
        "tasks": len(asked),
        "right": round(mean(rights), 3),
        **{kind: round(mean(right for task, right, *_ in asked if task.kind == kind), 3) for kind in kinds},
        "better": sum(right > before for right, before in zip(rights, first, strict=True)),
        "worse": sum(right < before for right, before in zip(rights, first, strict=True)),
        "tokens shown": sum(usage["completion_tokens"] for _, _, usage, _ in asked) - hidden,
        "tokens hidden": hidden,
        "seconds an answer": round(mean(seconds for *_, seconds in asked), 3),
    }


async def _one(client: httpx.AsyncClient, task: Task, effort: str, temperature: float) -> tuple[float, dict[str, Any]]:
    """The share of fields that are right, and the usage."""
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": task.schema, "strict": True}}
    body = {"messages": [{"role": "user", "content": task.question}], "response_format": form, "max_tokens": 120}
    reply = await client.post("/v1/chat/completions", json={**body, "temperature": temperature, "seed": 1, "reasoning_effort": effort})
    reply.raise_for_status()
    answer = reply.json()
    try:
        said = json.loads(answer["choices"][0]["message"]["content"])
    except ValueError:  # cut off
        said = {}
    return mean(_same(said.get(name), value) for name, value in task.answer.items()), answer["usage"]


def _same(said: object, expected: object) -> bool:
    return str(said).strip(" .").lower() == str(expected).lower()


def made(rng: random.Random) -> list[Task]:
    """A task of each kind."""
    name, city, thing, count, price = (
        rng.choice(_NAMES),
        rng.choice(_CITIES),
        rng.choice(_THINGS),
        rng.randint(2, 12),
        rng.randint(5, 95),
    )
    facts = {"name": name, "city": city, "count": count, "price": price}
    one, other = rng.sample(range(10, 1000), 2)
    good = rng.random() < 0.5
    text = f"{name} from {city} ordered {count} {thing} at {price} euros each."
    return [
        Task("facts", f"{text}\nWho ordered, from which city, how many things, and at what price?", facts, _schema(facts)),
        Task("larger", f"Which number is larger, {one} or {other}?", {"larger": max(one, other)}, _either("larger", one, other)),
        Task(
            "mood",
            f"Is this remark positive or negative? {rng.choice(_GOOD if good else _BAD)}",
            {"mood": "positive" if good else "negative"},
            _either("mood", "positive", "negative"),
        ),
    ]


def _schema(facts: dict[str, Any]) -> dict[str, Any]:
    kinds = {str: {"type": "string", "maxLength": 20}, int: {"type": "integer", "minimum": 0, "maximum": 9999}}
    properties = {name: kinds[type(value)] for name, value in facts.items()}
    return {"type": "object", "properties": properties, "required": list(facts), "additionalProperties": False}


def _either(name: str, *values: object) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"enum": list(values)}}, "required": [name], "additionalProperties": False}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_effort", description=__doc__)
    parser.add_argument("--model", default="quicksilver-135m")
    parser.add_argument("--efforts", nargs="*", choices=EFFORTS, default=list(EFFORTS))
    parser.add_argument("--count", type=int, default=40, help="tasks of each kind")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

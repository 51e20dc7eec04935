"""How well does `mercury-lsp http` serve many at once? A server is started, loaded over HTTP by clients of several kinds, and timed.

Arrivals are open-loop: they come at their rate whether or not earlier ones were answered, as users do. Times are a client's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks import record

# An answer that takes longer is no use to somebody who types.
_GOOD_S = 1.0
_WORDS = ("width", "height", "total", "count", "index", "value", "result", "items", "name", "size")


class Timed(NamedTuple):
    """Seconds to the first text and to the end, and the tokens that were written. `first` is the end where there was no text."""

    first: float
    whole: float
    tokens: int


Case = Callable[[httpx.AsyncClient, argparse.Namespace], Awaitable[list[dict[str, Any]]]]


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded."""
    args = _arguments(argv)
    origin = record.origin()
    rows = asyncio.run(_measured(args))
    for row in rows:
        record.append(args.results, {**origin, "model": args.model, **row})
    Console(width=150).print(_table(rows))
    return 0


async def _measured(args: argparse.Namespace) -> list[dict[str, Any]]:
    port = _free_port()
    command = [sys.executable, "-m", "mercury_lsp", "http", "--port", str(port), "--model", args.model]
    server = subprocess.Popen(command, cwd=record.ROOT)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=300, limits=httpx.Limits(max_connections=200)) as client:
            await _ready(client, server)
            rows: list[dict[str, Any]] = []
            for name, case in CASES.items():
                if not args.only or name in args.only:
                    rows += [{"case": name, **row} for row in await case(client, args)]
            held = psutil.Process(server.pid).memory_info().rss
            return [*rows, {"case": "memory", "at": "the end", "MB": round(held / 1e6)}]
    finally:
        server.terminate()
        server.wait(30)


# ------------------------------------------------------------------------------------------------ cases


async def arrivals(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Holes at several rates."""
    rows = []
    for rate in args.rates:
        rng, tasks = random.Random(args.seed), []
        until = time.perf_counter() + args.seconds
        while time.perf_counter() < until:
            tasks.append(asyncio.create_task(_stream(client, *_hole(rng))))
            await asyncio.sleep(rng.expovariate(rate))
        done = await asyncio.gather(*tasks, return_exceptions=True)
        timed = [each for each in done if isinstance(each, Timed)]
        good = sum(each.whole <= _GOOD_S for each in timed) / max(1, len(done))
        rows.append({"at": f"{rate:g}/s", "asked": len(done), **_figures(timed, args.seconds), "goodput": round(good, 3)})
    return rows


async def at_once(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The same holes one after another and all at once, each side with prompts that the cache has not seen and then has."""
    rows = []
    for seen in ("unseen", "seen"):
        seeds = [args.seed + 1000, args.seed + 2000] if seen == "unseen" else [args.seed + 2000] * 2
        started = time.perf_counter()
        for ask in _holes(seeds[0], 16):
            await _stream(client, *ask)
        after = time.perf_counter()
        await asyncio.gather(*(_stream(client, *ask) for ask in _holes(seeds[1], 16)))
        together = time.perf_counter() - after
        rows.append(
            {"at": f"16 holes, {seen}", "one by one s": after - started, "at once s": together, "share": together / (after - started)}
        )
    return rows


async def beside(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Holes alone, then beside a long prompt that is read and a chat that is written."""
    rng = random.Random(args.seed + 3)
    alone = [await _stream(client, *_hole(rng)) for _ in range(args.holes)]
    stop = asyncio.Event()

    async def again(ask: Callable[[int], tuple[str, dict[str, Any]]]) -> int:
        count = 0
        while not stop.is_set():
            await _stream(client, *ask(count))
            count += 1
        return count

    others = [asyncio.create_task(again(_long)), asyncio.create_task(again(_chat))]
    await asyncio.sleep(0.5)
    near = [await _stream(client, *_hole(rng)) for _ in range(args.holes)]
    stop.set()
    counts = await asyncio.gather(*others)
    rows = [{"at": "alone", **_figures(alone)}, {"at": "beside a long prompt and a chat", **_figures(near)}]
    rows[1]["p95 of alone"] = rows[1]["whole p95"] / rows[0]["whole p95"]
    return [*rows, {"at": "meanwhile", "long prompts": counts[0], "chats": counts[1]}]


async def conversation(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Twenty turns: the time to the first text of each."""
    messages: list[dict[str, str]] = []
    firsts: list[float] = []
    for turn in range(20):
        messages.append(
            {"role": "user", "content": f"Question {turn}: what about {_WORDS[turn % 10]} and {_WORDS[turn * 7 % 10]}? Be brief."}
        )
        text: list[str] = []
        timed = await _stream(client, "/v1/chat/completions", {"messages": messages, "max_tokens": 40}, text)
        messages.append({"role": "assistant", "content": "".join(text)})
        firsts.append(timed.first)
    late = median(firsts[-5:])
    return [{"at": "20 turns", "first turn s": firsts[0], "last five s": late, "of the first": late / firsts[0]}]


async def sentence(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Until the first sentence of a streamed answer is whole."""
    times = []
    for word in _WORDS[: args.holes]:
        started, held = time.perf_counter(), ""
        async for piece in _pieces(client, *_chat(0, f"Tell me about {word}."), count=[]):
            held += piece
            if any(f"{mark} " in held or f"{mark}\n" in held for mark in ".!?"):
                break
        times.append(time.perf_counter() - started)
    return [{"at": "first sentence", "p50": _percentile(times, 50), "p95": _percentile(times, 95)}]


async def endurance(client: httpx.AsyncClient, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Many small requests: what they leave in memory. `--requests 0` leaves it out."""
    [server] = [each for each in psutil.Process().children() if each.is_running()]
    rows = [{"at": "before", "MB": round(server.memory_info().rss / 1e6)}]
    for part in range(4 if args.requests else 0):
        for start in range(0, args.requests // 4, 16):
            holes = _holes(args.seed + part * 100_000 + start, 16, most=2, functions=1)
            await asyncio.gather(*(_stream(client, *ask) for ask in holes))
        rows.append({"at": f"after {(part + 1) * args.requests // 4} requests", "MB": round(server.memory_info().rss / 1e6)})
    return rows


CASES: dict[str, Case] = {
    "at_once": at_once,
    "beside": beside,
    "arrivals": arrivals,
    "conversation": conversation,
    "sentence": sentence,
    "endurance": endurance,
}

# ------------------------------------------------------------------------------------------------ what is asked


def _hole(rng: random.Random, most: int = 24, functions: int = 4) -> tuple[str, dict[str, Any]]:
    """A function of its own below some others, so that no answer is in the cache."""
    one, two, number = rng.choice(_WORDS), rng.choice(_WORDS), rng.randrange(10**6)
    above = "\n\n".join(f"def {rng.choice(_WORDS)}_{rng.randrange(10**6)}({one}):\n    return {one} + {two}" for _ in range(functions))
    prompt = f"{above}\n\n\ndef {one}_{number}({one}, {two}):\n    return "
    return "/v1/completions", {"prompt": prompt, "suffix": f"\n\n\nprint({one}_{number}(1, 2))\n", "max_tokens": most}


def _holes(seed: int, count: int, most: int = 24, functions: int = 4) -> list[tuple[str, dict[str, Any]]]:
    rng = random.Random(seed)
    return [_hole(rng, most, functions) for _ in range(count)]


def _long(number: int) -> tuple[str, dict[str, Any]]:
    text = f"{number} " + " ".join(f"{word} {place}" for place in range(120) for word in _WORDS)
    return "/v1/completions", {"prompt": text[:14_000], "max_tokens": 4}


def _chat(number: int, question: str = "") -> tuple[str, dict[str, Any]]:
    ask = question or f"Number {number}: write about {_WORDS[number % 10]}."
    return "/v1/chat/completions", {"messages": [{"role": "user", "content": ask}], "max_tokens": 120}


async def _stream(client: httpx.AsyncClient, path: str, body: dict[str, Any], text: list[str] | None = None) -> Timed:
    started, first, count = time.perf_counter(), 0.0, list[int]()
    async for piece in _pieces(client, path, body, count):
        first = first or (time.perf_counter() - started if piece else 0.0)
        if text is not None:
            text.append(piece)
    whole = time.perf_counter() - started
    return Timed(first or whole, whole, count[0] if count else 0)


async def _pieces(client: httpx.AsyncClient, path: str, body: dict[str, Any], count: list[int]) -> AsyncIterator[str]:
    """`count` gets the number of tokens."""
    asked = {"model": "default", "temperature": 0, "stream": True, "stream_options": {"include_usage": True}, **body}
    async with client.stream("POST", path, json=asked) as reply:
        reply.raise_for_status()
        async for line in reply.aiter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            for choice in event["choices"]:
                yield choice.get("text") or choice["delta"].get("content") or ""
            if event.get("usage"):
                count.append(event["usage"]["completion_tokens"])


# ------------------------------------------------------------------------------------------------ figures


def _figures(timed: Sequence[Timed], seconds: float | None = None) -> dict[str, Any]:
    firsts, wholes = [each.first for each in timed], [each.whole for each in timed]
    figures = {
        f"{name} p{share}": _percentile(times, share) for name, times in (("first", firsts), ("whole", wholes)) for share in (50, 95, 99)
    }
    span = seconds or sum(wholes)
    return figures | {"tokens/s": round(sum(each.tokens for each in timed) / span, 1)}


def _percentile(times: Sequence[float], share: int) -> float:
    return round(float(np.percentile(times, share)), 4) if times else float("nan")


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table("case", "at", "figures", title="mercury-lsp http")
    for row in rows:
        figures = [
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in row.items()
            if key not in ("case", "at")
        ]
        table.add_row(row["case"], row["at"], "   ".join(figures))
    return table


async def _ready(client: httpx.AsyncClient, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            await client.get("/health")
        except httpx.TransportError:
            await asyncio.sleep(0.2)
        else:
            for ask in _holes(0, 2):  # the libraries prepare themselves in the first requests
                await _stream(client, *ask)
            return
    raise RuntimeError("the server ended")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_serving", description=__doc__)
    parser.add_argument("--model", default="quicksilver-135m")
    parser.add_argument("--only", nargs="*", choices=CASES, help="cases; all by default")
    parser.add_argument("--rates", type=float, nargs="*", default=[1.0, 2.0, 4.0, 8.0], metavar="PER_SECOND")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each rate lasts")
    parser.add_argument("--holes", type=int, default=40, help="of a case that asks one after another")
    parser.add_argument("--requests", type=int, default=0, help="of the endurance case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

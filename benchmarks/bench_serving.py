"""How well does `mercury-lsp http` serve many at once? A server is started, loaded over HTTP by clients of several kinds, and timed.

Arrivals are open-loop: they come at their rate whether or not earlier ones were answered, as users do. Times are a client's. With `--peer`
the same load goes to llama-cpp-python's server on the same weights, in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks import record
from benchmarks.serving_clients import WORDS, Timed, figures, hole, holes, long_prompt, percentile, pieces, question, timed

# An answer that takes longer is no use to somebody who types.
_GOOD_S = 1.0
_PATIENCE_S = 300


class Server(NamedTuple):
    name: str
    client: httpx.AsyncClient
    process: psutil.Process


Case = Callable[[Server, argparse.Namespace], Awaitable[list[dict[str, Any]]]]


def main(argv: Sequence[str] | None = None) -> int:
    """0 when measured and recorded."""
    args = _arguments(argv)
    origin = record.origin()
    rows = asyncio.run(_measured(args))
    for row in rows:
        record.append(args.results, {**origin, "model": args.model, "streams": args.streams, **row})
    Console(width=150).print(_table(rows))
    return 0


async def _measured(args: argparse.Namespace) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    async with contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(_asked_of(args))]
        if args.peer:
            servers.append(await stack.enter_async_context(_peer(args)))
        for name, case in CASES.items():
            if name in (args.only or (_FOR_ANY if args.peer else CASES)):
                for server in servers:
                    rows += [{"server": server.name, "case": name, **row} for row in await case(server, args)]
        for server in servers:
            rows.append({"server": server.name, "case": "memory", "at": "the end", "MB": _memory(server)})
    return rows


# ------------------------------------------------------------------------------------------------ servers


@contextlib.asynccontextmanager
async def _asked_of(args: argparse.Namespace) -> AsyncIterator[Server]:
    """The server that runs already, or one of our own."""
    if args.url:
        async with _client(args.url) as client:
            yield Server("mercury-lsp", client, psutil.Process(args.pid))
        return
    command = [sys.executable, "-m", "mercury_lsp", "http", "--model", args.model]
    command += ["--context", str(args.context)] if args.context else []
    command += ["--streams", str(args.streams)] if args.streams else []
    async with _started("mercury-lsp", command, args) as server:
        yield server


@contextlib.asynccontextmanager
async def _peer(args: argparse.Namespace) -> AsyncIterator[Server]:
    """llama-cpp-python's server on our weights, exported, with one thread as ours has on two cores."""
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "merged.gguf"
        export = [sys.executable, "-m", "mercury_lsp", "export", "--model", args.model, "--type", args.peer_type, "--out", str(weights)]
        subprocess.run(export, cwd=record.ROOT, check=True)
        command = [args.peer_python, "-m", "llama_cpp.server", "--model", str(weights), "--n_ctx", "8192", "--n_batch", "512"]
        command += ["--n_threads", str(args.peer_threads), "--n_threads_batch", str(args.peer_threads), "--verbose", "false"]
        command += ["--interrupt_requests", "false"]  # by default it cuts an answer off when the next one is asked for
        async with _started("llama-cpp-python", command, args) as server:
            yield server


@contextlib.asynccontextmanager
async def _started(name: str, command: Sequence[str], args: argparse.Namespace) -> AsyncIterator[Server]:
    port = _free_port()
    child = subprocess.Popen([*command, "--port", str(port)], cwd=record.ROOT)
    try:
        async with _client(f"http://127.0.0.1:{port}") as client:
            await _ready(client, child)
            for ask in holes(0, 2, plain=args.peer):  # the libraries prepare themselves in the first requests
                await timed(client, ask)
            yield Server(name, client, psutil.Process(child.pid))
    finally:
        child.terminate()
        child.wait(30)


def _client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=_PATIENCE_S, limits=httpx.Limits(max_connections=200))


async def _ready(client: httpx.AsyncClient, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            await client.get("/v1/models")
        except httpx.TransportError:
            await asyncio.sleep(0.2)
        else:
            return
    raise RuntimeError("the server ended")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _memory(server: Server) -> int:
    return round(server.process.memory_info().rss / 1e6)


# ------------------------------------------------------------------------------------------------ cases


async def arrivals(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Holes at several rates."""
    rows = []
    for rate in args.rates:
        rng, tasks = random.Random(args.seed), []
        started = time.perf_counter()
        while time.perf_counter() < started + args.seconds:
            tasks.append(asyncio.create_task(timed(server.client, hole(rng, plain=args.peer))))
            await asyncio.sleep(rng.expovariate(rate))
        done = await asyncio.gather(*tasks, return_exceptions=True)
        span = time.perf_counter() - started
        times = [each for each in done if isinstance(each, Timed)]
        good = sum(each.whole <= _GOOD_S for each in times)
        row = {"at": f"{rate:g}/s", "asked": len(done), "failed": len(done) - len(times), **figures(times, span)}
        rows.append(row | {"in time": round(good / max(1, len(done)), 3), "goodput/s": round(good / span, 2)})
    return rows


async def at_once(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The same holes one after another and all at once, each side with prompts that the cache has not seen and then has."""
    rows = []
    for seen in ("unseen", "seen"):
        seeds = [args.seed + 1000, args.seed + 2000] if seen == "unseen" else [args.seed + 2000] * 2
        started = time.perf_counter()
        for ask in holes(seeds[0], 16, plain=args.peer):
            await timed(server.client, ask)
        after = time.perf_counter()
        await asyncio.gather(*(timed(server.client, ask) for ask in holes(seeds[1], 16, plain=args.peer)))
        together = time.perf_counter() - after
        rows.append(
            {"at": f"16 holes, {seen}", "one by one s": after - started, "at once s": together, "share": together / (after - started)}
        )
    return rows


async def beside(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Holes alone, then beside a prompt of 6,000 tokens that is read and a chat that is written."""
    rng = random.Random(args.seed + 3)
    alone = [await timed(server.client, hole(rng)) for _ in range(args.holes)]
    stop = asyncio.Event()

    async def again(ask: Callable[[int], Any]) -> int:
        count = 0
        while not stop.is_set():
            await timed(server.client, ask(count))
            count += 1
        return count

    others = [asyncio.create_task(again(long_prompt)), asyncio.create_task(again(question))]
    await asyncio.sleep(0.5)
    near = [await timed(server.client, hole(rng)) for _ in range(args.holes)]
    stop.set()
    counts = await asyncio.gather(*others)
    rows = [{"at": "alone", **figures(alone)}, {"at": "beside a long prompt and a chat", **figures(near)}]
    rows[1]["p95 of alone"] = rows[1]["whole p95"] / rows[0]["whole p95"]
    return [*rows, {"at": "meanwhile", "long prompts": counts[0], "chats": counts[1]}]


async def conversation(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Twenty turns: the time to the first text of each."""
    messages: list[dict[str, str]] = []
    firsts: list[float] = []
    for turn in range(20):
        ask = f"Question {turn}: what about {WORDS[turn % 10]} and {WORDS[turn * 7 % 10]}? Be brief."
        messages.append({"role": "user", "content": ask})
        text: list[str] = []
        each = await timed(server.client, ("/v1/chat/completions", {"messages": messages, "max_tokens": 40}), text)
        messages.append({"role": "assistant", "content": "".join(text)})
        firsts.append(each.first)
    late = median(firsts[-5:])
    return [{"at": "20 turns", "first turn s": firsts[0], "last five s": late, "of the first": late / firsts[0]}]


async def sentence(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Until the first sentence of a streamed answer is whole."""
    times = []
    for word in WORDS[: args.holes]:
        started, held = time.perf_counter(), ""
        async for piece in pieces(server.client, question(0, f"Tell me about {word}.", plain=args.peer)):
            held += piece
            if any(f"{mark} " in held or f"{mark}\n" in held for mark in ".!?"):
                break
        times.append(time.perf_counter() - started)
    return [{"at": "first sentence", "p50": percentile(times, 50), "p95": percentile(times, 95)}]


async def long(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Prompts that are each twice as long as the one before: what they take, and what memory there is for them."""
    rows = []
    for words in args.words:
        started, before, usage = time.perf_counter(), _memory(server), list[dict[str, Any]]()
        async for _ in pieces(server.client, long_prompt(words, words), usage):
            pass
        seconds, tokens = time.perf_counter() - started, usage[-1]["prompt_tokens"]
        rows.append({"at": f"{tokens} tokens", "s": seconds, "ms a token": 1e3 * seconds / tokens, "MB more": _memory(server) - before})
    return rows


async def endurance(server: Server, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Many small requests, no two alike: what they leave in memory. In parts with `--url`, `--pid` and another `--seed` each."""
    rows = [{"at": "before", "MB": _memory(server)}]
    failed = asked = 0
    for part in range(10 if args.requests else 0):
        for start in range(0, args.requests // 10, 16):
            rng = random.Random(f"{args.seed} {part} {start}")
            asks = [hole(rng, most=rng.randint(1, 3), functions=rng.randint(0, 1)) for _ in range(min(16, args.requests // 10 - start))]
            done = await asyncio.gather(*(timed(server.client, ask) for ask in asks), return_exceptions=True)
            asked, failed = asked + len(done), failed + sum(not isinstance(each, Timed) for each in done)
        rows.append({"at": f"after {asked} requests", "failed": failed, "MB": _memory(server)})
    return rows


CASES: dict[str, Case] = {
    "at_once": at_once,
    "beside": beside,
    "arrivals": arrivals,
    "conversation": conversation,
    "sentence": sentence,
    "long": long,
    "endurance": endurance,
}
# Of another server nothing is asked but to go on with a text.
_FOR_ANY = ("at_once", "arrivals", "sentence")


# ------------------------------------------------------------------------------------------------ the rest


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table("server", "case", "at", "figures", title="mercury-lsp http")
    for row in rows:
        shown = [
            f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in row.items()
            if key not in ("server", "case", "at")
        ]
        table.add_row(row["server"], row["case"], row["at"], "   ".join(shown))
    return table


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_serving", description=__doc__)
    parser.add_argument("--model", default="quicksilver-135m")
    parser.add_argument("--only", nargs="*", choices=CASES, help="cases; all by default, with a peer those that any server can do")
    parser.add_argument("--rates", type=float, nargs="*", default=[1.0, 2.0, 4.0, 8.0], metavar="PER_SECOND")
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each rate lasts")
    parser.add_argument("--holes", type=int, default=40, help="of a case that asks one after another")
    parser.add_argument("--words", type=int, nargs="*", default=[400, 800, 1600, 3200], help="of the prompts of the case `long`")
    parser.add_argument("--context", type=int, help="as `mercury-lsp http` has it")
    parser.add_argument("--streams", type=int, help="as `mercury-lsp http` has it")
    parser.add_argument("--requests", type=int, default=0, help="of the endurance case")
    parser.add_argument("--url", help="of a server that runs already; --pid is its process")
    parser.add_argument("--pid", type=int)
    parser.add_argument("--peer", action="store_true", help="the same load on llama-cpp-python's server, in turns")
    parser.add_argument("--peer-python", default=".venv-peers/bin/python", metavar="FILE")
    parser.add_argument("--peer-type", default="q8_0", help="how its weights are stored")
    parser.add_argument("--peer-threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=record.RESULTS / "serving.jsonl", metavar="FILE")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())

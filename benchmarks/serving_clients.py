"""What clients of a service ask, how long each of them waits, and figures of many. Knows no server but by its address."""

from __future__ import annotations

import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import httpx
import numpy as np

WORDS = ("width", "height", "total", "count", "index", "value", "result", "items", "name", "size")

Ask = tuple[str, dict[str, Any]]  # a path, and a body


class Timed(NamedTuple):
    """Seconds to the first text and to the end, and the tokens that were written. `first` is the end where there was no text."""

    first: float
    whole: float
    tokens: int


# ------------------------------------------------------------------------------------------------ what is asked


def hole(rng: random.Random, most: int = 24, functions: int = 4, *, plain: bool = False) -> Ask:
    """A function of its own below some others, so that no answer is in the cache. `plain`: without what follows, for any server."""
    one, two, number = rng.choice(WORDS), rng.choice(WORDS), rng.randrange(10**6)
    above = "\n\n".join(f"def {rng.choice(WORDS)}_{rng.randrange(10**6)}({one}):\n    return {one} + {two}" for _ in range(functions))
    prompt = f"{above}\n\n\ndef {one}_{number}({one}, {two}):\n    return "
    suffix = {} if plain else {"suffix": f"\n\n\nprint({one}_{number}(1, 2))\n"}
    return "/v1/completions", {"prompt": prompt, "max_tokens": most, **suffix}


def holes(seed: int, count: int, most: int = 24, functions: int = 4, *, plain: bool = False) -> list[Ask]:
    rng = random.Random(seed)
    return [hole(rng, most, functions, plain=plain) for _ in range(count)]


def long_prompt(number: int, words: int = 2400) -> Ask:
    """Some 6,000 tokens by default, and hardly any answer. Each number begins otherwise."""
    text = f"{number} " + " ".join(f"{WORDS[place % 10]} {place // 10}" for place in range(words // 2))
    return "/v1/completions", {"prompt": text, "max_tokens": 4}


def question(number: int, text: str = "", *, plain: bool = False) -> Ask:
    ask = text or f"Number {number}: write about {WORDS[number % 10]}."
    if plain:
        return "/v1/completions", {"prompt": f"Question: {ask}\nAnswer:", "max_tokens": 120}
    return "/v1/chat/completions", {"messages": [{"role": "user", "content": ask}], "max_tokens": 120}


# ------------------------------------------------------------------------------------------------ who asks


async def timed(client: httpx.AsyncClient, ask: Ask, text: list[str] | None = None) -> Timed:
    """Streamed; `text` gets what was written."""
    started, first, count, told = time.perf_counter(), 0.0, 0, list[dict[str, Any]]()
    async for piece in pieces(client, ask, told):
        if piece:
            first, count = first or time.perf_counter() - started, count + 1
            if text is not None:
                text.append(piece)
    whole = time.perf_counter() - started
    # A server that says nothing of its tokens sends one at a time.
    return Timed(first or whole, whole, told[-1]["completion_tokens"] if told else count)


async def pieces(client: httpx.AsyncClient, ask: Ask, usage: list[dict[str, Any]] | None = None) -> AsyncIterator[str]:
    path, body = ask
    asked = {"model": "default", "temperature": 0, "stream": True, "stream_options": {"include_usage": True}, **body}
    async with client.stream("POST", path, json=asked) as reply:
        reply.raise_for_status()
        async for line in reply.aiter_lines():
            if not line.startswith("data: {"):
                continue
            event = json.loads(line.removeprefix("data: "))
            if "error" in event:
                raise RuntimeError(event["error"]["message"])
            for choice in event["choices"]:
                yield choice.get("text") or choice.get("delta", {}).get("content") or ""
            if event.get("usage") and usage is not None:
                usage.append(event["usage"])


# ------------------------------------------------------------------------------------------------ figures


def figures(times: Sequence[Timed], seconds: float | None = None) -> dict[str, Any]:
    firsts, wholes = [each.first for each in times], [each.whole for each in times]
    told = {f"{name} p{share}": percentile(each, share) for name, each in (("first", firsts), ("whole", wholes)) for share in (50, 95, 99)}
    span = seconds or sum(wholes)
    return told | {"tokens/s": round(sum(each.tokens for each in times) / span, 1) if span else 0.0}


def percentile(times: Sequence[float], share: int) -> float:
    return round(float(np.percentile(times, share)), 4) if times else float("nan")

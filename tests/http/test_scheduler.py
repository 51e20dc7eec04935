"""Many at once: each gets the text it would get alone, nobody waits for ever, and what is not wanted any more ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from typing import Any

import httpx
import pytest
import tiny_service
import torch
from servers import serving

from engine.api import Overloaded, PastEdit, PromptTooLong, RewriteRequest, Turn
from engine.cache import CacheSlot
from engine.decode import decode_causally
from engine.drafting import Limits
from engine.serving.local import LocalService
from engine.serving.outlet import Outlet
from engine.serving.requests import Conversation, Finished, Hole, Passage, Progress, Sampling, Work
from engine.serving.scheduler import Bounds

REWRITE = RewriteRequest(prefix="a\n", region="b = 1\nc = 2", suffix="\nd", history=(PastEdit("x", "-a\n+b"),))
TASKS = [
    Hole(prefix="def f(", suffix="):\n", path="a.py"),
    Passage("once upon a time " * 20),
    Conversation((Turn("system", "be brief"), Turn("user", "hello"))),
    REWRITE,
]


async def written(service: LocalService, work: Work) -> tuple[str, Finished]:
    text: list[str] = []
    async for event in service.submit(work):
        if isinstance(event, Finished):
            return "".join(text), event
        text.append(event.text)
    raise AssertionError("no end")


def run(service: LocalService, work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return asyncio.run(work)
    finally:
        service.close()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_a_text_is_what_the_model_writes_token_by_token(task: Any) -> None:
    """Drafts, repeats and blocks only decide how many tokens a forward commits. A rewriting leans towards its text: it has no such twin."""
    service = tiny_service.service()
    work = Work(task=task, max_tokens=50)
    text, end = run(service, written(service, work))
    assert end.usage.completion_tokens == 50 or end.ended == "end"
    if task is REWRITE:
        return
    slot = CacheSlot(tiny_service.CONFIG, 4096, torch.float32)
    with torch.inference_mode():
        causal = decode_causally(service._decoder, slot, service._prompt(work), Limits(50, lambda _: False, lambda _: False, True))
    expected = Outlet(service._tokenizer, ())
    assert text == expected.push(causal.ids) + expected.close()


def test_many_at_once_write_what_each_writes_alone() -> None:
    works = [
        Work(
            task=TASKS[number % 4],
            max_tokens=10 + number,
            sampling=Sampling(temperature=number % 3 * 0.5, seed=number),
            interactive=number % 2 == 0,
        )
        for number in range(24)
    ]

    async def both(service: LocalService) -> tuple[Sequence[Any], Sequence[Any]]:
        alone = [(await written(service, work))[0] for work in works]
        together = [text for text, _ in await asyncio.gather(*(written(service, work) for work in works))]
        return alone, together

    service = tiny_service.service()
    alone, together = run(service, both(service))
    assert together == alone and len(set(alone)) > 12


def test_in_a_crowd_an_answer_takes_a_row_and_a_canvas_its_block() -> None:
    """Rows cost more than forwards there. What is shown while it is denoised has drafts all the same."""
    service = tiny_service.service()
    rows: list[int] = []
    forward = service._decoder.transformer.forward_many

    def counted(batch: Any) -> Any:
        rows.append(sum(each.laid for each, _ in batch) if len(batch) == 8 else 0)
        return forward(batch)

    service._decoder.transformer.forward_many = counted  # type: ignore[method-assign]

    async def crowd(canvas: bool) -> int:
        rows.clear()
        works = [Work(task=Passage(f"{number} "), max_tokens=40, canvas=canvas) for number in range(8)]
        await asyncio.gather(*(written(service, work) for work in works))
        return min(count for count in rows if count)

    async def both() -> tuple[int, int]:
        return await crowd(False), await crowd(True)

    narrow, wide = run(service, both())
    assert narrow == 8 and wide >= 8 * 7  # an anchor, and a block of six


def test_the_first_to_wait_at_a_keyboard_is_not_behind_a_long_prompt() -> None:
    service = tiny_service.service(bounds=Bounds(running=4))

    async def race() -> list[str]:
        order: list[str] = []

        async def one(name: str, work: Work) -> None:
            await written(service, work)
            order.append(name)

        long = asyncio.create_task(one("long", Work(task=Passage("word " * 700), max_tokens=2)))
        await asyncio.sleep(0)
        chat = asyncio.create_task(one("chat", Work(task=Passage("x"), max_tokens=300)))
        hole = asyncio.create_task(one("hole", Work(task=TASKS[0], max_tokens=8, interactive=True)))
        await asyncio.gather(long, chat, hole)
        return order

    assert run(service, race())[0] == "hole"


def test_holes_without_end_do_not_keep_the_rest_from_ending() -> None:
    service = tiny_service.service(bounds=Bounds(running=8))

    async def crowd() -> float:
        going = True

        async def typing(number: int) -> None:
            while going:
                await written(service, Work(task=Hole(prefix=f"x{number} = "), max_tokens=4, interactive=True))

        typists = [asyncio.create_task(typing(number)) for number in range(4)]
        started = time.monotonic()
        await asyncio.wait_for(written(service, Work(task=Passage("word " * 400), max_tokens=20)), 30)
        going = False
        await asyncio.gather(*typists)
        return time.monotonic() - started

    assert run(service, crowd()) < 30


def test_a_stop_ends_the_work_at_its_next_step_and_a_deadline_too() -> None:
    service = tiny_service.service()

    async def stopped() -> tuple[Finished, Finished]:
        stream = service.submit(Work(task=Passage("x"), max_tokens=3000))
        end = None
        async for event in stream:
            if isinstance(event, Progress):
                stream.stop()
            else:
                end = event
        late = Work(task=Passage("y"), max_tokens=3000, deadline=time.monotonic() + 0.05)
        return end, (await written(service, late))[1]

    first, second = run(service, stopped())
    assert (first.ended, second.ended) == ("stopped", "deadline")
    assert 0 < first.usage.completion_tokens < 200 and second.usage.completion_tokens < 3000


def test_too_many_are_turned_away_and_told_when_to_come_back() -> None:
    service = tiny_service.service(bounds=Bounds(running=1, waiting=2))

    async def crowd() -> tuple[int, float]:
        streams, refused, after = [], 0, 0.0
        for _ in range(8):
            try:
                streams.append(service.submit(Work(task=Passage("x"), max_tokens=2000)))
            except Overloaded as error:
                refused, after = refused + 1, error.retry_after
        for stream in streams:
            stream.stop()
        return refused, after

    refused, after = run(service, crowd())
    assert refused >= 4 and after >= 1


def test_over_http_that_is_429_with_a_time() -> None:
    with serving(tiny_service.service(bounds=Bounds(running=1, waiting=1))) as url:

        async def ask() -> list[httpx.Response]:
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                body = {"prompt": "x", "max_tokens": 300}
                return await asyncio.gather(*(client.post("/v1/completions", json=body) for _ in range(12)))

        replies = asyncio.run(ask())
    assert {reply.status_code for reply in replies} == {200, 429}
    busy = next(reply for reply in replies if reply.status_code == 429)
    assert int(busy.headers["Retry-After"]) >= 1 and busy.json()["error"]["code"] == "rate_limit_exceeded"


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_stops_its_work(stream: bool) -> None:
    service = tiny_service.service()
    with serving(service) as url:
        body = {"prompt": "x", "max_tokens": 3500, "stream": stream}
        try:
            with httpx.Client(timeout=0.3) as client, client.stream("POST", url + "/v1/completions", json=body) as reply:
                next(reply.iter_raw())
        except httpx.ReadTimeout:
            assert not stream
        until = time.monotonic() + 5
        while service.load().running and time.monotonic() < until:
            time.sleep(0.02)
        assert service.load().running == 0


def test_a_prompt_is_read_once_and_found_again() -> None:
    service = tiny_service.service()
    text = "word " * 300

    async def again() -> list[int]:
        first = await written(service, Work(task=Passage(text), max_tokens=4))
        longer = await written(service, Work(task=Passage(text + "more"), max_tokens=4))
        both = await asyncio.gather(*(written(service, Work(task=Passage(text + tail), max_tokens=4)) for tail in ("a", "b")))
        return [end.usage.cached_tokens for _, end in (first, longer, *both)]

    first, longer, *both = run(service, again())
    assert first == 0 and longer >= 1500 and min(both) >= 1500  # "word " is five tokens here


def test_memory_is_bounded_and_who_needs_too_much_is_told() -> None:
    service = tiny_service.service(cache_tokens=4096)

    async def many() -> tuple[int, int]:
        await asyncio.gather(*(written(service, Work(task=Passage(f"{n} " * 100), max_tokens=4)) for n in range(40)))
        with pytest.raises(PromptTooLong, match="3840.*5001"):
            service.submit(Work(task=Passage("x" * 5000)))
        most = service.submit(Work(task=Passage("x"), max_tokens=100_000))  # an answer may have as much as fits
        most.stop()
        return service.load().cached_tokens, service.load().cache_tokens

    held, most = run(service, many())
    assert 0 < held <= most == 4096


def test_one_that_fails_takes_nobody_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    service = tiny_service.service()

    async def some() -> list[Any]:
        class Bad:
            favour = 0.0

            def add(self, index: int) -> None:
                raise ZeroDivisionError

            def draft(self, most: int) -> tuple[list[int], list[float]]:
                return [], []

        fine = asyncio.create_task(written(service, Work(task=Passage("x"), max_tokens=40)))
        monkeypatch.setattr(service, "_sources", lambda work: [Bad()] if work.task == Passage("y") else [])
        bad = asyncio.create_task(written(service, Work(task=Passage("y"), max_tokens=40)))
        return await asyncio.gather(fine, bad, return_exceptions=True)

    (text, _), error = run(service, some())
    assert len(text) > 5 and isinstance(error, ZeroDivisionError)

"""Two replicas on this machine. Needs the extra `cluster`: `make test-cluster`."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))
os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:1], str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])

import tiny_service
from servers import serving

from engine.api import Turn
from engine.serving.cluster import ClusterService, beginning
from engine.serving.requests import Conversation, Hole, Work

ASK = [{"role": "user", "content": "Say something."}]


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[ClusterService, openai.OpenAI]]:
    service = ClusterService.start(tiny_service.service, replicas=2)
    with serving(service) as url:
        yield service, openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=60)


def processes(service: ClusterService) -> set[int]:
    return {service._handle.process.remote().result() for _ in range(30)}


def test_an_answer_is_what_one_engine_alone_writes(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    _, client = cluster
    with serving(tiny_service.service()) as url:
        alone = openai.OpenAI(base_url=f"{url}/v1", api_key="none").chat.completions.create(model="m", messages=ASK, max_tokens=30)
    answer = client.chat.completions.create(model="m", messages=ASK, max_tokens=30)
    assert answer.choices[0].message.content == alone.choices[0].message.content
    stream = client.chat.completions.create(model="m", messages=ASK, max_tokens=30, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == alone.choices[0].message.content


def test_errors_keep_their_status(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    _, client = cluster
    with pytest.raises(openai.BadRequestError) as caught:
        client.completions.create(model="m", prompt="x" * 5000)
    assert caught.value.code == "context_length_exceeded"
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}}
    with pytest.raises(openai.BadRequestError, match="not"):
        client.chat.completions.create(model="m", messages=ASK, response_format=form)


def test_the_same_beginning_finds_its_cache_again(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    _, client = cluster
    cached = []
    for number in range(12):
        prompt = "a long beginning that stays " * 12 + "x" * number
        usage = client.completions.create(model="m", prompt=prompt, max_tokens=2).usage
        cached.append(usage.prompt_tokens_details.cached_tokens)
    assert sum(count > 200 for count in cached) >= 10


def test_a_replica_that_is_killed_under_load_loses_only_its_own(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    service, client = cluster
    before = processes(service)
    assert len(before) == 2

    def ask(number: int) -> str:
        try:
            asked = [{"role": "user", "content": f"Number {number}."}]
            return client.chat.completions.create(model="m", messages=asked, max_tokens=400).choices[0].message.content
        except openai.InternalServerError as error:
            assert error.status_code == 503
            return "503"

    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask, number) for number in range(32)]
        time.sleep(0.5)
        os.kill(min(before), signal.SIGKILL)
        texts = [answer.result(timeout=120) for answer in answers]
    assert service.load().running == 0
    assert len(texts) == 32 and "503" not in texts  # nothing was streamed yet, so they were written elsewhere
    until = time.monotonic() + 60
    while len(processes(service)) < 2 and time.monotonic() < until:
        time.sleep(1)
    assert len(processes(service)) == 2 and min(before) not in processes(service)


def test_a_stream_that_has_begun_ends_with_an_error_that_says_so(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    service, client = cluster
    schema = {"type": "string", "minLength": 3000}  # that takes a while
    form = {"type": "json_schema", "json_schema": {"name": "long", "schema": schema}}
    there = processes(service)
    stream = client.chat.completions.create(model="m", messages=ASK, max_tokens=3500, response_format=form, stream=True)
    with pytest.raises(openai.APIError, match="is gone"):
        for number, _ in enumerate(stream):
            if number == 3:
                for process in there:
                    os.kill(process, signal.SIGKILL)


def test_works_with_one_beginning_belong_together() -> None:
    turns = tuple(Turn("user", text) for text in ("be brief", "hello", "more"))
    first, later = Work(task=Conversation(turns[:2])), Work(task=Conversation(turns))
    assert beginning(first) == beginning(later) != beginning(Work(task=Hole(prefix="x", path="a.py")))


def test_nothing_listens_beyond_this_machine(cluster: tuple[ClusterService, openai.OpenAI]) -> None:
    import ray  # not above: what Ray is told of this machine must stand before it is imported

    assert [node["NodeManagerAddress"] for node in ray.nodes()] == ["127.0.0.1"]

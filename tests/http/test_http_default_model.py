"""The default model behind the service, once: what it writes is right, and held to what was asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import jsonschema
import openai
import pytest
from servers import serving

from benchmarks.random_schemas import random_schema
from engine.api import EngineConfig
from engine.serving.local import LocalService

PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\n\ndef sub(a, b):\n    return a - b\n"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(LocalService.load_model(EngineConfig(threads=1))) as url:
        yield url


def test_sixteen_clients_at_once_each_get_the_answer_they_would_get_alone(url: str) -> None:
    def body(number: int) -> dict:
        prefix = PREFIX.replace("add", f"add_{number}" if number else "add")
        return {"model": "m", "prompt": prefix, "suffix": SUFFIX, "max_tokens": 12, "stop": ["\n"]}

    async def ask(numbers: range) -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:

            async def one(number: int) -> str:
                fields = body(number)
                return (await client.completions.create(**fields)).choices[0].text

            return await asyncio.gather(*map(one, numbers))

    together = asyncio.run(ask(range(16)))
    alone = [asyncio.run(ask(range(number, number + 1)))[0] for number in range(0, 16, 5)]
    assert together[::5] == alone
    assert all(together) and len(set(together)) > 3


def test_answers_fit_their_schemas(url: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    for seed in range(1000, 1012):
        schema = random_schema(seed)
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
        ask = [{"role": "user", "content": "Make up an example."}]
        choice = client.chat.completions.create(model="m", messages=ask, response_format=form, max_tokens=300).choices[0]
        assert choice.finish_reason == "stop"
        jsonschema.validate(json.loads(choice.message.content), schema, cls=jsonschema.Draft202012Validator)

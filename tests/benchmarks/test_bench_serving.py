"""The service's benchmarks against stand-ins: every case runs and says what it should; figures come from a real model only."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))
import tiny_service

from benchmarks import bench_effort, bench_schemas, bench_serving
from benchmarks.random_schemas import random_schema
from benchmarks.serving_clients import Timed, figures, hole, long_prompt
from engine.serving.requests import Facts
from engine.serving.scripted import ScriptedService


@pytest.fixture
def scripted(tmp_path: Path) -> list[str]:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["a + b. And", "x"] * 200))
    return ["--model", f"scripted:{script}", "--results", str(tmp_path / "rows.jsonl")]


def test_every_case_runs_and_is_recorded(scripted: list[str]) -> None:
    more = ["--holes", "3", "--seconds", "0.5", "--rates", "8", "--words", "20", "40", "--requests", "20"]
    assert bench_serving.main([*scripted, *more]) == 0
    rows = [msgspec.json.decode(line) for line in Path(scripted[3]).read_bytes().splitlines()]
    assert {row["case"] for row in rows} == {*bench_serving.CASES, "memory"}
    assert all(row["server"] == "mercury-lsp" and row["commit"] and row["machine"] for row in rows)
    by_case = {row["case"]: row for row in rows}
    assert by_case["arrivals"]["failed"] == 0 and by_case["arrivals"]["in time"] == 1.0 and by_case["arrivals"]["goodput/s"] > 0
    assert by_case["endurance"]["at"] == "after 20 requests" and by_case["endurance"]["MB"] > 10


def test_what_is_asked_is_always_the_same_and_never_twice() -> None:
    asks = [hole(random.Random(7)) for _ in range(2)]
    assert asks[0] == asks[1] != hole(random.Random(8))
    assert "suffix" in asks[0][1] and "suffix" not in hole(random.Random(7), plain=True)[1]
    assert len(long_prompt(1)[1]["prompt"].split()) > 2400 and long_prompt(1)[1]["prompt"] != long_prompt(2)[1]["prompt"]


def test_figures_of_many() -> None:
    told = figures([Timed(0.1 * place, 0.2 * place, 5) for place in range(1, 101)], seconds=10)
    assert told["first p50"] == pytest.approx(5.05) and told["whole p95"] == pytest.approx(19.01) and told["tokens/s"] == 50


def test_schemas_are_asked_and_judged(capsys: pytest.CaptureFixture[str]) -> None:
    args = argparse.Namespace(first=3, count=6, seconds=60, max_tokens=300, temperature=1.0)
    service = tiny_service.service()
    try:
        row, faults = asyncio.run(bench_schemas._asked(bench_schemas.build_client(service), args))
    finally:
        service.close()
    assert (row["asked"], row["valid"], faults) == (6, 6, [])
    lying = ScriptedService(['{"nobody": "asked for this"', "[]"] * 3)
    row, faults = asyncio.run(bench_schemas._asked(bench_schemas.build_client(lying), args))  # type: ignore[arg-type]
    assert row["valid"] == 0 and len(faults) == 6


def test_schemas_are_schemas_and_differ() -> None:
    found = [random_schema(seed) for seed in range(300)]
    for schema in found:
        jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(found)
    assert len({json.dumps(schema) for schema in found}) > 290
    assert all(
        f'"{word}"' in text for word in ("$ref", "prefixItems", "patternProperties", "allOf", "anyOf", "multipleOf", "format", "const")
    )


def test_tasks_have_answers_that_fit_and_efforts_are_compared() -> None:
    tasks = [task for seed in range(20) for task in bench_effort.made(random.Random(seed))]
    for task in tasks:
        jsonschema.validate(task.answer, task.schema)
        assert all(str(value) in task.question for name, value in task.answer.items() if name != "mood")
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}}
    asked = [(task, right, usage, 0.5) for task, right in zip(tasks, [1.0, 0.0, 0.5] * 20, strict=True)]
    row = bench_effort._row("low", asked, [0.5] * 60)
    assert (row["better"], row["worse"], row["tokens shown"], row["tokens hidden"], row["right"]) == (20, 20, 300, 240, 0.5)


def test_the_application_of_a_benchmark_is_the_products(scripted: list[str]) -> None:
    service = ScriptedService(["x"])
    reply = asyncio.run(bench_schemas.build_client(service).get("/v1/models"))  # type: ignore[arg-type]
    assert reply.json()["data"][0]["id"] == service.facts.model and isinstance(service.facts, Facts)

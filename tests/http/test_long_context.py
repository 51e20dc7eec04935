"""Prompts as long as a model's description allows, and longer ones by rotary scaling where that is asked for."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

import msgspec
import pytest
import tiny_service
import torch

from engine.api import PromptTooLong
from engine.cache import CacheSlot
from engine.config import reaching
from engine.decode import Limits
from engine.serving.choice import Chooser
from engine.serving.generation import Generation
from engine.serving.requests import Finished, Passage, Progress, Sampling, Work
from mercury_lsp.cli import main

LONG = msgspec.structs.replace(tiny_service.CONFIG, max_positions=131_072)


def test_as_many_tokens_are_taken_as_the_model_says_and_not_one_more() -> None:
    service = tiny_service.service(config=LONG)

    async def asked() -> str:
        stream = service.submit(Work(task=Passage("x" * 131_070), max_tokens=1))  # with what opens the passage 131,071, and one to write
        while not service.load().running:
            await asyncio.sleep(0.01)
        stream.stop()
        with pytest.raises(PromptTooLong, match="131072.*131073"):
            service.submit(Work(task=Passage("x" * 131_072), max_tokens=1))
        return [event.ended async for event in stream if isinstance(event, Finished)][0]

    try:
        assert asyncio.run(asked()) == "stopped" and service.facts.context == 131_072
    finally:
        service.close()


def test_a_text_goes_on_to_the_last_position() -> None:
    """Drafts and blocks stand beyond it meanwhile."""
    service = tiny_service.service(config=msgspec.structs.replace(LONG, max_positions=300))

    async def written() -> tuple[str, Finished]:
        text = ""
        async for event in service.submit(Work(task=Passage("x" * 200))):
            if isinstance(event, Progress):
                text += event.text
            else:
                return text, event
        raise AssertionError

    try:
        text, end = asyncio.run(written())
    finally:
        service.close()
    assert text and (end.ended, end.usage.prompt_tokens + end.usage.completion_tokens) == ("length", 300)


def test_the_rows_read_at_once_grow_fewer_as_the_context_grows() -> None:
    """What a piece of a prompt sees, times its rows, is bounded: memory beyond the keys and values does not grow with the prompt."""
    service = tiny_service.service(config=LONG)
    service.close()
    slot = CacheSlot(LONG, 131_072, torch.float32)
    generation = Generation(service._decoder, slot, [20] * 131_000, Chooser(Sampling(), 0, 0), Limits(1, bool, bool, True))
    rows = {}
    for start in (0, 30_000, 60_000, 130_000):
        slot.ids = [20] * start
        rows[start] = len(generation.ask(128).rows.ids)
    assert rows == {0: 128, 30_000: 128, 60_000: 64, 130_000: 32}


def test_more_positions_than_trained_turn_the_slowest_angle_no_further() -> None:
    config, half = tiny_service.CONFIG, tiny_service.CONFIG.head_dim // 2
    assert reaching(config, 1000) == msgspec.structs.replace(config, max_positions=1000)
    longer = reaching(config, 4 * config.max_positions)

    def furthest(each: Any, pair: int) -> float:
        return float(each.max_positions * each.rope_theta ** (-2 * pair / each.head_dim))

    assert furthest(longer, half - 1) == pytest.approx(furthest(config, half - 1))
    assert furthest(longer, 0) == 4 * furthest(config, 0)  # the fastest ones turn as they did


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--context", "12"], "--context 12: expected 1024 to"),
        (["--cache-tokens", "1000"], "--cache-tokens 1000: expected 1024 to"),
        (["--context", "32768", "--cache-tokens", "24576"], "does not hold a --context of 32768: 33024 do"),
        (["--waiting", "0"], "--waiting and --streams"),
    ],
)
def test_numbers_that_do_not_go_together(arguments: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["http", *arguments]) == 2
    assert why in capsys.readouterr().err


def test_the_command_takes_a_context(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.serving.local import LocalService
    from mercury_lsp.http import command

    asked: dict[str, Any] = {}
    monkeypatch.setattr(LocalService, "load_model", lambda config, **given: asked.update(given))
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    command.add_arguments(parser)
    command.load_one(parser.parse_args(["--context", "16384"]))
    assert (asked["context"], asked["cache_tokens"]) == (16_384, None)

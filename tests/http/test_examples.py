"""The examples against a running server."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import jsonschema
import openai
import pytest
import tiny_service
from servers import serving

from engine.serving.calls import written
from engine.serving.scripted import ScriptedService

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


@pytest.mark.parametrize("name", ["agent", "extract", "rerank", "voice"])
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 60


def test_the_agent_calls_its_tools_and_answers(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The key is under the mat.")
    texts = [
        written("list_files", f'{{"folder": "{tmp_path}"}}'),
        written("read_file", f'{{"path": "{tmp_path / "notes.txt"}"}}'),
        written("read_file", '{"path": "/no/such/file"}'),
        "Under the mat.",
    ]
    service = ScriptedService(texts)
    with serving(service) as url:
        assert example("agent").answer(client(url), "Where is the key?") == "Under the mat."
    told = [turn.text for turn in service.asked[-1].task.turns]
    assert any("The key is under the mat." in text for text in told) and any("error: " in text for text in told)


def test_the_agent_ends_whatever_the_model_writes() -> None:
    with serving(tiny_service.service()) as url:
        assert isinstance(example("agent").answer(client(url), "Where is the key?"), str)


def test_what_is_extracted_fits_its_schema() -> None:
    module = example("extract")
    with serving(tiny_service.service()) as url:
        jsonschema.validate(module.extract(client(url), "Invoice 17"), module.SCHEMA)


def test_passages_are_ranked_and_summarised() -> None:
    module = example("rerank")
    with serving(tiny_service.service()) as url:
        passages = [f"passage {number}" for number in range(5)]
        chances = [module.relevance(client(url), "Where?", passage) for passage in passages]
        assert all(0 < chance < 1 for chance in chances) and len(set(chances)) > 1
        kept = module.best(client(url), "Where?", passages)
        assert kept == sorted(passages, key=lambda passage: -chances[passages.index(passage)])[:3]
        assert module.summary(client(url), "Where?", passages)


def test_sentences_come_one_by_one_and_an_interruption_ends_them() -> None:
    text = "The sea is wide. It is deep! Is it salty? It is"
    with serving(ScriptedService([text, text])) as url:
        voice = example("voice")
        assert list(voice.sentences(client(url), "?")) == ["The sea is wide.", "It is deep!", "Is it salty?", "It is"]
        heard: list[str] = []
        for sentence in voice.sentences(client(url), "?", lambda: bool(heard)):
            heard.append(sentence)
    assert heard == ["The sea is wide."]

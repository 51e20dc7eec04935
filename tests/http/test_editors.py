"""Request bodies as editors and their plugins send them, and the fields of the answers that they need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from servers import serving

from engine.serving.requests import Hole
from engine.serving.scripted import ScriptedService

PREFIX, SUFFIX = "def add(", "):\n    return a + b\n"
MARKED = {
    "qwen": f"<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>",
    "star_coder": f"<fim_prefix>{PREFIX}<fim_suffix>{SUFFIX}<fim_middle>",
    "code_llama": f"<PRE> {PREFIX} <SUF>{SUFFIX} <MID>",
    "codestral": f"[SUFFIX]{SUFFIX}[PREFIX]{PREFIX}",
    "deepseek_coder": f"<｜fim▁begin｜>{PREFIX}<｜fim▁hole｜>{SUFFIX}<｜fim▁end｜>",
    "glm": f"<|code_prefix|>{PREFIX}<|code_suffix|>{SUFFIX}<|code_middle|>",
}


@contextmanager
def answering(*texts: str) -> Iterator[tuple[httpx.Client, ScriptedService]]:
    service = ScriptedService(texts)
    with serving(service) as url, httpx.Client(base_url=url) as client:
        yield client, service


def events(text: str) -> list[dict]:
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


@pytest.mark.parametrize("name", MARKED)
def test_zed_asks_an_openai_compatible_api_in_each_prompt_format(name: str) -> None:
    body = {"model": "qwen2.5-coder:ours", "prompt": MARKED[name], "max_tokens": 64, "stop": ["<|endoftext|>", "\n\n"]}
    with answering("a, b") as (client, service):
        answer = client.post("/v1/completions", json=body).json()
    assert {"id", "object", "created", "model", "choices", "usage"} <= answer.keys()  # Zed's deserialiser requires each
    assert answer["choices"][0]["text"] == "a, b" and isinstance(answer["created"], int)
    assert set(answer["usage"]) >= {"prompt_tokens", "completion_tokens", "total_tokens"}
    task = service.asked[0].task
    assert isinstance(task, Hole) and (task.prefix, task.suffix) == (PREFIX, SUFFIX)
    assert service.asked[0].stop == ("<|endoftext|>", "\n\n") and service.asked[0].interactive


def test_what_stands_right_of_the_cursor_is_not_inserted_again() -> None:
    body = {"model": "m", "prompt": MARKED["qwen"], "max_tokens": 64}
    with answering("a, b):", "a, b):") as (client, _):
        assert client.post("/v1/completions", json=body).json()["choices"][0]["text"] == "a, b"
        streamed = client.post("/v1/completions", json=body | {"stream": True}).text
    assert "".join(event["choices"][0]["text"] for event in events(streamed)) == "a, b"


def test_files_before_a_hole_are_related_text() -> None:
    prompt = "<|repo_name|>shop\n<|file_sep|>a.py\nA = 1\n<|file_sep|>b.py\n" + MARKED["qwen"]
    with answering("x") as (client, service):
        client.post("/v1/completions", json={"model": "m", "prompt": prompt})
    task = service.asked[0].task
    assert isinstance(task, Hole) and task.path == "b.py"
    assert [(piece.path, piece.text) for piece in task.related] == [("a.py", "A = 1")]


def test_zed_asks_ollama() -> None:
    options = {"num_predict": 64, "temperature": 0.2, "stop": ["<|endoftext|>"]}
    body = {"model": "qwen2.5-coder:3b", "prompt": MARKED["qwen"], "raw": True, "stream": False, "options": options}
    with answering("a, b") as (client, service):
        answer = client.post("/api/generate", json=body).json()
    assert answer["response"] == "a, b" and answer["done"] is True and "created_at" in answer and "model" in answer
    assert service.asked[0].max_tokens == 64 and service.asked[0].sampling.temperature == 0.2


def test_continues_ollama_provider_reads_a_line_at_a_time() -> None:
    with answering("one two") as (client, _):
        lines = client.post("/api/generate", json={"model": "m", "prompt": "x", "suffix": "\n"}).text.splitlines()
    pieces = [json.loads(line) for line in lines]
    assert "".join(piece["response"] for piece in pieces) == "one two"
    assert [piece["done"] for piece in pieces] == [False, False, True] and pieces[-1]["done_reason"] == "stop"


def test_zed_asks_codestral() -> None:
    body = {
        "model": "codestral-latest",
        "prompt": PREFIX,
        "suffix": SUFFIX,
        "max_tokens": 350,
        "temperature": 0.2,
        "top_p": 1,
        "stream": False,
    }
    with answering("a, b") as (client, service):
        answer = client.post("/v1/fim/completions", json=body, headers={"Authorization": "Bearer any"}).json()
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "a, b"}
    assert {"id", "object", "model", "created", "usage"} <= answer.keys() and answer["choices"][0]["index"] == 0
    assert service.asked[0].max_tokens == 350


def test_llama_vim_fills_a_hole_and_reads_the_fields_it_asked_for() -> None:
    body = {
        "id_slot": 0,
        "input_prefix": "import os\n",
        "input_suffix": "\n",
        "input_extra": [{"text": "X = 1", "filename": "x.py"}],
        "prompt": "def add(",
        "n_predict": 16,
        "stop": [],
        "n_indent": 0,
        "top_k": 40,
        "top_p": 0.9,
        "samplers": ["top_k", "top_p", "infill"],
        "stream": False,
        "cache_prompt": True,
        "t_max_prompt_ms": 500,
        "t_max_predict_ms": 3000,
        "response_fields": ["content", "timings/prompt_n", "timings/predicted_ms", "truncated", "tokens_cached"],
    }
    with answering("a, b):") as (client, service):
        answer = client.post("/infill", json=body).json()
        warm = client.post("/infill", json=body | {"n_predict": 0, "prompt": ""}).json()
    assert answer["content"] == "a, b):" and answer["truncated"] is False and "timings/prompt_n" in answer
    assert warm["content"] == "" and len(service.asked) == 1
    task = service.asked[0].task
    assert isinstance(task, Hole) and task.prefix == "import os\ndef add(" and task.related[0].path == "x.py"


def test_llama_vscode_looks_around_before_it_asks() -> None:
    with answering() as (client, _):
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/v1/models").json()["data"][0]["id"] == "scripted"
        assert client.get("/props").json()["default_generation_settings"]["n_ctx"] == 8192


def test_llama_vscode_fills_a_hole_warms_up_and_edits_by_chat() -> None:
    usual = {"top_k": 40, "top_p": 0.99, "stream": False, "samplers": ["top_k", "top_p", "infill"], "cache_prompt": True}
    extra = [{"text": "X = 1", "time": 1755600000000, "filename": "x.py"}]
    body = {
        **{
            "input_prefix": "import os\n",
            "input_suffix": "\n",
            "input_extra": extra,
            "prompt": "def add(",
            "n_predict": 128,
            "n_indent": 4,
        },
        **{**usual, "t_max_prompt_ms": 500, "t_max_predict_ms": 2500},
    }
    warm = {
        "input_prefix": "",
        "input_suffix": "",
        "input_extra": extra,
        "prompt": "",
        "n_predict": 0,
        "samplers": [],
        "t_max_predict_ms": 1,
    }
    chat = {
        "messages": [{"role": "system", "content": "You are an expert coder."}, {"role": "user", "content": "Add types."}],
        **{"stream": False, "cache_prompt": True, "samplers": "edkypmxt", "temperature": 0.8, "dynatemp_range": 0, "top_p": 0.95},
        **{"min_p": 0.05, "typical_p": 1, "repeat_last_n": 64, "dry_penalty_last_n": -1, "max_tokens": -1, "timings_per_token": False},
    }
    with answering("a, b", "typed") as (client, service):
        filled = client.post("/infill", json=body).json()
        assert client.post("/infill", json=warm).json()["content"] == ""
        edited = client.post("/v1/chat/completions", json=chat).json()
    assert filled["content"] == "a, b" and filled["timings"]["predicted_n"] > 0 and filled["truncated"] is False
    assert edited["choices"][0]["message"]["content"] == "typed"
    hole, talk = service.asked
    assert hole.task.prefix == "import os\ndef add(" and hole.deadline is not None and talk.max_tokens is None


def test_minuets_codestral_provider_reads_a_whole_message_and_its_deltas() -> None:
    body = {"model": "codestral-latest", "max_tokens": 256, "stop": ["\n\n"], "prompt": f"# language: python\n{PREFIX}", "suffix": "\n"}
    with answering("a, b", "a, b") as (client, _):
        whole = client.post("/v1/fim/completions", json=body, headers={"Authorization": "Bearer any"}).json()
        chunks = events(client.post("/v1/fim/completions", json=body | {"stream": True}).text)
    assert whole["choices"][0]["message"]["content"] == "a, b"
    assert "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks) == "a, b"


def test_continues_other_providers() -> None:
    with answering("a, b", "a, b") as (client, service):
        openai = {
            "model": "m",
            "prompt": PREFIX,
            "suffix": SUFFIX,
            "max_tokens": 150,
            "temperature": 0.01,
            "stop": ["\n\n"],
            "stream": True,
        }
        chunks = events(client.post("/v1/fim/completions", json=openai, headers={"x-api-key": "", "api-key": ""}).text)
        llama = {"prompt": MARKED["qwen"], "n_predict": 150, "temperature": 0.01, "stop": ["<|endoftext|>"], "stream": True}
        lines = events(client.post("/completion", json=llama, headers={"Accept": "text/event-stream"}).text)
    assert "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks) == "a, b"
    assert "".join(line["content"] for line in lines) == "a, b" and lines[-1]["stop"] is True
    assert [work.task.prefix for work in service.asked] == [PREFIX, PREFIX]


def test_continue_marks_a_chat_as_a_next_edit() -> None:
    body = {"model": "mercury-coder", "messages": [{"role": "user", "content": "x"}], "stream": True, "nextEdit": True}
    with answering("y") as (client, _):
        chunks = events(client.post("/chat/completions", json=body).text)
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "y"


ZETA = (
    "<[fim-suffix]>\nz\n<[fim-prefix]><filename>edit_history\n<filename>f.py\n"
    "<<<<<<< CURRENT\ny = <|user_cursor|>2\n=======\n<[fim-middle]>"
)
SWEEP = "<|file_sep|>original/f.py\ny = 2\n<|file_sep|>current/f.py\ny = 2\n<|file_sep|>updated/f.py\n"


@pytest.mark.parametrize(
    ("provider", "prompt", "expected"),
    [
        ("inline", f"import os\n{PREFIX}", "y = 3"),
        ("fim", MARKED["qwen"], "y = 3"),
        ("sweep", SWEEP, "y = 3\n"),
        ("zeta-2", ZETA, "y = 3\n>>>>>>> UPDATED\n"),
    ],
)
def test_cursortab_asks_by_each_of_its_providers(provider: str, prompt: str, expected: str) -> None:
    usual = {"model": "m", "prompt": prompt, "temperature": 0, "max_tokens": 256, "n": 1, "echo": False, "stop": ["<|endoftext|>"]}
    with answering("y = 3", "y = 3") as (client, _):
        whole = client.post("/v1/completions", json=usual | {"stream": False}).json()
        chunks = events(client.post("/v1/completions", json=usual | {"stream": True}, headers={"Accept": "text/event-stream"}).text)
    assert whole["choices"][0]["text"] == expected == "".join(chunk["choices"][0]["text"] for chunk in chunks)
    assert set(whole["usage"]) >= {"prompt_tokens", "completion_tokens", "total_tokens"}
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(("written", "read"), [("y = 3", "y = 3"), ("y = 2", "")])
def test_cursortabs_mercury_provider_strips_a_fence_and_takes_none_for_nothing(written: str, read: str) -> None:
    content = (
        "<|recently_viewed_code_snippets|>\n<|/recently_viewed_code_snippets|>\n<|current_file_content|>\ncurrent_file_path: f.py\n"
        "<|code_to_edit|>\ny = <|cursor|>2\n<|/code_to_edit|>\n<|/current_file_content|>\n<|edit_diff_history|>\n<|/edit_diff_history|>"
    )
    with answering(written) as (client, _):
        body = {"model": "mercury-edit", "messages": [{"role": "user", "content": content}], "stream": False}
        answer = client.post("/v1/edit/completions", json=body).json()
    text = answer["choices"][0]["message"]["content"].removeprefix("```\n").removesuffix("\n```")
    assert ("" if text == "None" else text) == read and answer["id"]


def test_minuet_reads_text_or_delta_from_each_chunk() -> None:
    body = {"model": "m", "prompt": PREFIX, "suffix": "\n", "stream": True, "max_tokens": 56, "top_p": 0.9, "stop": ["\n\n"]}
    with answering("a, b", "a, b") as (client, _):
        for path in ("/v1/completions", "/v1/fim/completions"):
            reply = client.post(path, json=body)
            assert reply.headers["content-type"].startswith("text/event-stream") and reply.text.rstrip().endswith("data: [DONE]")
            chunks = events(reply.text)
            assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "a, b"
            assert "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks) == "a, b"


def test_continue_sends_an_empty_suffix_as_a_token_and_a_base_without_a_version() -> None:
    body = {"model": "mercury-coder", "prompt": PREFIX, "suffix": "<|endoftext|>", "stop": ["\n\n"], "stream": True, "max_tokens": 150}
    with answering("a, b") as (client, service):
        chunks = events(client.post("/completions", json=body).text)
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == "a, b"
    task = service.asked[0].task
    assert isinstance(task, Hole) and task.suffix == ""


def test_continue_streams_edits_and_applies() -> None:
    edit = (
        "<|current_file_content|>\ncurrent_file_path: f.py\nx = 1\n<|code_to_edit|>\ny = <|cursor|>2\n<|/code_to_edit|>\nz\n"
        "<|/current_file_content|>\n<|edit_diff_history|>\n--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-x = 0\n+x = 1\n<|/edit_diff_history|>"
    )
    apply = (
        "<|original_code|>\ndef f():\n    a = 1\n    return a\n<|/original_code|>\n"
        "<|update_snippet|>\n# ... existing code ...\n    a = 1\n    a += 1\n    return a\n<|/update_snippet|>"
    )
    with answering("y = 3") as (client, service):
        chunks = [
            events(client.post(f"/v1/{kind}/completions", json={"messages": [{"role": "user", "content": text}], "stream": True}).text)
            for kind, text in (("edit", edit), ("apply", apply))
        ]
    contents = ["".join(chunk["choices"][0]["delta"].get("content", "") for chunk in each) for each in chunks]
    assert contents == ["```\ny = 3\n```", "def f():\n    a = 1\n    a += 1\n    return a"]
    [work] = service.asked
    assert (work.task.region, work.task.cursor, work.task.path) == ("y = 2", 4, "f.py")
    assert [each.diff for each in work.task.history] == ["-x = 0\n+x = 1"]


def applying(original: str, snippet: str) -> dict:
    prompt = f"<|original_code|>\n{original}\n<|/original_code|>\n<|update_snippet|>\n{snippet}\n<|/update_snippet|>"
    return {"messages": [{"role": "user", "content": prompt}]}


@pytest.mark.parametrize("snippet_end", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_applied_keeps_the_line_ends_of_the_code(end: str, snippet_end: str) -> None:
    body = applying("def f():\n    a = 1\n    return a".replace("\n", end), "def f():\n    a = 2\n    return a".replace("\n", snippet_end))
    if end == "\r\n":  # as an editor would send it, the marks too
        body["messages"][0]["content"] = body["messages"][0]["content"].replace("\r\n", "\n").replace("\n", "\r\n")
    with answering() as (client, _):
        answer = client.post("/v1/apply/completions", json=body).json()
    assert answer["choices"][0]["message"]["content"] == f"def f():{end}    a = 2{end}    return a"


def test_a_snippet_that_fits_nowhere_is_said() -> None:
    """The model is asked, and here it leaves the code as it is."""
    code = "def f(a):\n    x = a\n    return x"
    with answering(code) as (client, service):
        reply = client.post("/v1/apply/completions", json=applying(code, "    return x + 1"))
    assert reply.status_code == 422 and reply.json()["error"]["code"] == "not_applied"
    assert len(service.asked) == 1


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_an_edit_has_one_message_of_the_user(role: str) -> None:
    with answering() as (client, _):
        reply = client.post("/v1/edit/completions", json={"messages": [{"role": role, "content": "x"}]})
    assert reply.status_code == 400 and reply.json()["error"]["param"] == "messages[0].role"


def test_cursortab_sends_feedback_which_is_counted() -> None:
    body = {"request_id": "edit-1", "provider_name": "cursortab", "user_action": "accept", "provider_version": "1"}
    with answering() as (client, _):
        assert client.post("/feedback", json=body).status_code == 200
        assert 'mercury_feedback_total{action="accept"} 1' in client.get("/metrics").text
        assert 'path="/feedback",status="200"' in client.get("/metrics").text

"""Who is let in, and what cannot be done to the server from outside."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import tiny_service
from servers import serving

from engine.serving.scripted import ScriptedService
from mercury_lsp.http.command import is_loopback, listening
from mercury_lsp.http.guard import Rules

ROOT = Path(__file__).parents[2]
CHAT = {"messages": [{"role": "user", "content": "x"}]}


@pytest.fixture(scope="module")
def service_url() -> Iterator[str]:
    with serving(ScriptedService([])) as url:
        yield url


def status(rules: Rules, headers: dict[str, str], path: str = "/v1/models") -> int:
    with serving(ScriptedService([]), rules) as url:
        return httpx.get(url + path, headers=headers).status_code


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1:8012", 200), ("localhost", 200), ("[::1]:8012", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("", 403)],
)
def test_a_name_that_may_resolve_to_loopback_is_refused(host: str, expected: int) -> None:
    assert status(Rules(), {"Host": host}) == expected


def test_a_name_can_be_allowed() -> None:
    assert status(Rules(names=("box.lan",)), {"Host": "box.lan:8012"}) == 200


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Authorization": "Bearer secret"}, 200),
        ({"authorization": "bearer secret"}, 200),
        ({"X-Api-Key": "secret"}, 200),
        ({"Authorization": "Bearer secre"}, 401),
        ({"Authorization": "secret"}, 401),
        ({}, 401),
    ],
)
def test_a_key_must_be_the_right_one(headers: dict[str, str], expected: int) -> None:
    assert status(Rules(key="secret"), headers) == expected


def test_health_needs_no_key_and_metrics_do() -> None:
    assert status(Rules(key="secret"), {}, "/health") == 200
    assert status(Rules(key="secret"), {}, "/metrics") == 401


@pytest.mark.parametrize(
    ("origin", "expected"), [("https://evil.example", 403), ("null", 403), ("http://localhost:3000", 200), ("vscode-webview://x", 200)]
)
def test_pages_from_elsewhere_may_not_ask(origin: str, expected: int) -> None:
    assert status(Rules(), {"Origin": origin}) == expected


def test_an_allowed_origin_gets_the_headers_it_needs() -> None:
    with serving(ScriptedService([]), Rules(origins=("https://my.example",))) as url:
        asked = {"Origin": "https://my.example", "Access-Control-Request-Method": "POST"}
        assert httpx.options(url + "/v1/models", headers=asked).headers["access-control-allow-origin"] == "https://my.example"
    with serving(ScriptedService([])) as url:
        assert "access-control-allow-origin" not in httpx.get(url + "/v1/models", headers={"Origin": "http://localhost:1"}).headers


def test_a_large_body_is_refused_with_and_without_its_length() -> None:
    with serving(ScriptedService([]), Rules(body=1000)) as url:
        told = httpx.post(url + "/v1/completions", content=b"{" + b" " * 2000)
        untold = httpx.post(url + "/v1/completions", content=iter([b"{", b" " * 2000]))
    assert told.status_code == untold.status_code == 413
    assert untold.json()["error"]["code"] == "body_too_large"


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_request_is_an_error_in_the_usual_shape(body: bytes) -> None:
    with serving(ScriptedService([])) as url:
        reply = httpx.post(url + "/v1/chat/completions", content=body)
    assert reply.status_code == 400 and set(reply.json()["error"]) == {"message", "type", "param", "code"}


def test_a_path_nobody_serves_and_a_method_nobody_takes() -> None:
    with serving(ScriptedService([])) as url:
        assert httpx.get(url + "/v2/models").status_code == 404
        assert httpx.get(url + "/v1/completions").json()["error"]["code"] == "unknown_url"


@pytest.mark.parametrize(
    ("host", "expected"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("box.lan", False)]
)
def test_what_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_host_that_others_reach_needs_a_key() -> None:
    command = [sys.executable, "-m", "mercury_lsp", "http", "--host", "0.0.0.0", "--model", "scripted:none"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 2 and "--api-key" in refused.stderr


def test_health_says_when_the_engine_is_dead() -> None:
    service = tiny_service.service()
    with serving(service) as url:
        assert httpx.get(url + "/health").status_code == 200
        service._scheduler.close()
        reply = httpx.get(url + "/health")
    assert reply.status_code == 503 and reply.json()["error"]["code"] == "engine_unavailable"


def test_a_piece_of_a_stream_waits_for_nothing() -> None:
    """Else each of them, and so each answer, takes 40 ms more."""
    with listening("127.0.0.1", 0) as server, socket.create_connection(server.getsockname()):
        accepted, _ = server.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    "text", [rb"\ud800", rb"a\udc00b", rb"\ud800\ud800", rb"\udc00\ud800", b"\xed\xa0\x80"], ids=["high", "low", "two", "turned", "raw"]
)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", b'{"messages": [{"role": "user", "content": "%b"}]}'),
        ("/v1/completions", b'{"prompt": "%b"}'),
        ("/v1/completions", b'{"prompt": "x", "stop": "%b"}'),
        ("/v1/fim/completions", b'{"prompt": "x", "suffix": "%b"}'),
        ("/v1/edit/completions", b'{"messages": [{"role": "user", "content": "%b"}]}'),
        ("/v1/apply/completions", b'{"messages": [{"role": "user", "content": "%b"}]}'),
        ("/v1/rewrite", b'{"request": {"prefix": "", "region": "%b", "suffix": ""}}'),
        ("/infill", b'{"input_prefix": "%b"}'),
        ("/completion", b'{"prompt": "%b"}'),
        ("/api/generate", b'{"prompt": "%b"}'),
        ("/feedback", b'{"request_id": "%b"}'),
    ],
)
def test_half_a_character_is_refused(service_url: str, path: str, body: bytes, text: bytes) -> None:
    """No tokenizer and no client takes the half of a surrogate pair."""
    reply = httpx.post(service_url + path, content=body % text)
    assert reply.status_code == 400 and reply.json()["error"]["code"] == "invalid_json"


@pytest.mark.parametrize(
    ("path", "field"),
    [("/v1/completions", "prompt"), ("/v1/fim/completions", "prompt"), ("/completion", "prompt"), ("/infill", "input_prefix")],
)
def test_what_is_to_be_written_on_must_be_said(service_url: str, path: str, field: str) -> None:
    reply = httpx.post(service_url + path, json={})
    assert reply.status_code == 400 and field in reply.json()["error"]["message"]


def test_ollamas_clients_have_a_model_loaded_by_no_prompt(service_url: str) -> None:
    reply = httpx.post(service_url + "/api/generate", json={"model": "m", "stream": False}).json()
    assert reply["response"] == "" and reply["done"] is True


def test_a_port_that_is_taken_or_none(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('["x"]')
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port, code, why in ((str(taken.getsockname()[1]), 1, "in use"), ("99999", 2, "no port")):
            command = [sys.executable, "-m", "mercury_lsp", "http", "--port", port, "--model", f"scripted:{script}"]
            refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
            assert refused.returncode == code and why in refused.stderr.splitlines()[-1]
            assert "answers on" not in refused.stderr and "Traceback" not in refused.stderr

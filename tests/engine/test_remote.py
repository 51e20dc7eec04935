"""The remote engine against a server on loopback that behaves well, slowly, badly, or not at all."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.api import EngineConfig, EngineUnavailable, InfillRequest, ModelMissing, SettingInvalid, StopFlag, load_engine, watch
from engine.fallback import FallbackEngine
from engine.remote import RemoteEngine
from engine.scripted import ScriptedEngine

REQUEST = InfillRequest(prefix="def f(", suffix="):\n", max_tokens=7)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict]] = []
        self.keys: list[str | None] = []
        self.retry_after: str | None = None
        self.answer: Callable[[], tuple[int, bytes]] = lambda: (200, json.dumps({"choices": [{"text": "x"}]}).encode())
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, json.loads(body)))
        self.server.keys.append(self.headers["Authorization"])
        status, answer = self.server.answer()
        self.send_response(status)
        if self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_hole_is_sent_and_its_text_comes_back(server: Server) -> None:
    server.answer = lambda: (200, b'{"choices": [{"text": "a, b"}], "usage": {"completion_tokens": 3}}')
    draft = RemoteEngine(server.url + "/").infill(REQUEST, StopFlag())
    assert (draft.text, draft.confidence, draft.tokens, draft.ended) == ("a, b", 1.0, 3, "end")
    [(path, body)] = server.asked
    assert path == "/v1/fim/completions"
    assert body == {"model": "default", "prompt": "def f(", "suffix": "):\n", "max_tokens": 7, "temperature": 0, "stop": ["\n"]}


def test_a_server_that_ignores_stop_is_still_one_line(server: Server) -> None:
    server.answer = lambda: (200, b'{"choices": [{"text": "a\\nb"}]}')
    engine = RemoteEngine(server.url)
    assert engine.infill(REQUEST, StopFlag()).text == "a"
    assert engine.infill(InfillRequest(prefix="", suffix="", multiline=True), StopFlag()).text == "a\nb"
    assert "stop" not in server.asked[1][1]


def test_a_stop_and_a_deadline_end_the_wait(server: Server) -> None:
    release = threading.Event()

    def slow() -> tuple[int, bytes]:
        release.wait(10)
        return 200, b'{"choices": []}'

    server.answer = slow
    engine = RemoteEngine(server.url)
    stop = StopFlag()
    threading.Timer(0.1, stop.set).start()
    started = time.monotonic()
    assert engine.infill(REQUEST, stop).ended == "stopped"
    late = InfillRequest(prefix="", suffix="", deadline=time.monotonic() + 0.1)
    assert engine.infill(late, StopFlag()).ended == "deadline"
    assert time.monotonic() - started < 2
    release.set()
    server.answer = lambda: (200, b'{"choices": [{"text": "after"}]}')
    assert engine.infill(REQUEST, StopFlag()).text == "after"


@pytest.mark.parametrize(("status", "body"), [(500, b"out of memory"), (200, b"<html>"), (200, b'{"choices": [{"text": 3}]}')])
def test_an_answer_that_is_none_names_the_address(server: Server, status: int, body: bytes) -> None:
    server.answer = lambda: (status, body)
    with pytest.raises(EngineUnavailable, match=f"engine.url {server.url}: .*{'out of memory' if status == 500 else 'unexpected answer'}"):
        RemoteEngine(server.url).infill(REQUEST, StopFlag())


def test_a_server_that_is_gone_and_comes_back(server: Server) -> None:
    engine = RemoteEngine(server.url)
    assert engine.infill(REQUEST, StopFlag()).text == "x"
    free = Server()
    free.server_close()
    with pytest.raises(EngineUnavailable, match="is the engine running there"):
        RemoteEngine(free.url).infill(REQUEST, StopFlag())
    assert engine.infill(REQUEST, StopFlag()).text == "x"


@pytest.mark.parametrize("url", ["127.0.0.1:8012", "ftp://x", "http://", "http://x:y"])
def test_an_address_that_is_none_is_a_bad_setting(url: str) -> None:
    with pytest.raises(SettingInvalid, match="engine.url"):
        load_engine(EngineConfig(url=url))


def test_a_busy_server_is_asked_again_when_it_says(server: Server) -> None:
    replies = [(429, b"busy"), (429, b"busy"), (200, b'{"choices": [{"text": "then"}]}')]
    server.answer = lambda: replies.pop(0)
    server.retry_after = "0"
    assert RemoteEngine(server.url).infill(REQUEST, StopFlag()).text == "then"
    replies[:] = [(429, b"busy")] * 3
    with pytest.raises(EngineUnavailable, match="429"):
        RemoteEngine(server.url).infill(REQUEST, StopFlag())


def test_there_is_no_waiting_beyond_the_deadline(server: Server) -> None:
    server.answer = lambda: (429, b"busy")
    server.retry_after = "60"
    started = time.monotonic()
    hurried = InfillRequest(prefix="", suffix="", deadline=started + 0.3)
    assert RemoteEngine(server.url).infill(hurried, StopFlag()).ended == "deadline"
    assert time.monotonic() - started < 1


def test_a_key_from_the_environment_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERCURY_API_KEY", "secret")
    monkeypatch.setenv("INCEPTION_API_KEY", "not to be sent elsewhere")
    RemoteEngine(server.url).infill(REQUEST, StopFlag())
    assert server.keys == ["Bearer secret"]


def test_a_base_may_end_in_its_version(server: Server) -> None:
    RemoteEngine(server.url + "/proxy/v1").infill(REQUEST, StopFlag())
    assert server.asked[0][0] == "/proxy/v1/fim/completions"


def test_while_it_is_gone_the_engine_here_answers(server: Server) -> None:
    now = [0.0]
    loaded: list[ScriptedEngine] = []

    def load() -> ScriptedEngine:
        loaded.append(ScriptedEngine(["here", "here again"]))
        return loaded[-1]

    engine = FallbackEngine(RemoteEngine(server.url), load, clock=lambda: now[0])
    assert engine.infill(REQUEST, StopFlag()).text == "x" and not loaded
    server.answer = lambda: (500, b"out of order")
    assert engine.infill(REQUEST, StopFlag()).text == "here"
    asked = len(server.asked)
    server.answer = lambda: (200, b'{"choices": [{"text": "back"}]}')
    assert engine.infill(REQUEST, StopFlag()).text == "here again" and len(server.asked) == asked  # left alone for a while
    now[0] = 60.0
    assert engine.infill(REQUEST, StopFlag()).text == "back" and len(loaded) == 1


def test_who_watches_hears_that_it_is_gone_and_that_it_is_back(server: Server) -> None:
    now, heard = [0.0], list[str]()
    engine = FallbackEngine(RemoteEngine(server.url), lambda: ScriptedEngine(["here"] * 9), clock=lambda: now[0])
    watch(engine, heard.append)
    server.answer = lambda: (500, b"out of order")
    for _ in range(3):
        engine.infill(REQUEST, StopFlag())
        now[0] += 30.0
    [said] = heard  # once, though it was asked three times
    assert server.url in said and "out of order" in said and "in this process answers" in said
    server.answer = lambda: (200, b'{"choices": [{"text": "back"}]}')
    assert engine.infill(REQUEST, StopFlag()).text == "back" and heard[1:] == [""]
    watch(ScriptedEngine(["x"]), heard.append)  # one that has nothing to say


def test_what_another_server_writes_is_cut_and_begun_here(server: Server) -> None:
    server.answer = lambda: (200, b'{"choices": [{"text": " + 1\\n    b = 2\\nc = 3"}]}')
    request = InfillRequest(prefix="a = ", suffix="\n", multiline=True, dedent=4, begins="total")
    assert RemoteEngine(server.url).infill(request, StopFlag()).text == "total + 1\n    b = 2"
    [(_, body)] = server.asked
    assert body["prompt"] == "a = total" and "dedent" not in body


def test_with_no_model_here_either_the_remote_ones_fault_is_told(server: Server) -> None:
    def load() -> ScriptedEngine:
        raise ModelMissing("no model")

    server.answer = lambda: (500, b"out of order")
    engine = FallbackEngine(RemoteEngine(server.url), load)
    with pytest.raises(EngineUnavailable, match="out of order"):
        engine.infill(REQUEST, StopFlag())
    with pytest.raises(EngineUnavailable, match="no model"):
        engine.infill(REQUEST, StopFlag())


def test_an_address_in_the_settings_is_a_remote_engine_with_one_to_fall_back_to(server: Server) -> None:
    assert load_engine(EngineConfig(url=server.url)).infill(REQUEST, StopFlag()).text == "x"

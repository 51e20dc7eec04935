"""One engine, many asks: the newest of each document is served, the others hear so at once."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from lsp_client import URI, Client, in_process, within

from engine import loading
from engine.api import CheckpointInvalid, Draft, Engine, EngineConfig, EngineUnavailable, InfillRequest, ModelMissing, StopFlag

CANCELLED = -32800
OTHER = "file:///project/other.py"


class SlowEngine:
    """Takes its time, a denoise step after the other, and ends at the first step that sees the stop flag."""

    name = "slow"

    def __init__(self, steps: int = 5, step: float = 0.004) -> None:
        self.steps, self.step = steps, step
        self.requests: list[InfillRequest] = []
        self.ended: Counter[str] = Counter()
        self.threads: set[int] = set()
        self.go = threading.Event()
        self.go.set()

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.requests.append(request)
        self.threads.add(threading.get_ident())
        self.go.wait()
        ended = "end"
        for _ in range(self.steps):
            if stop.is_set():
                ended = "stopped"
                break
            if request.deadline is not None and time.monotonic() > request.deadline:
                ended = "deadline"
                break
            time.sleep(self.step)
        self.ended[ended] += 1
        number = request.prefix.rsplit("n", 1)[1]
        return Draft(
            text=f" + {number}",
            confidence=0.9,
            tokens=2,
            denoise_steps=1,
            forwards=1,
            prefill_tokens=0,
            latency_ms=1.0,
            ended=ended,  # type: ignore[arg-type]
            model=self.name,
        )


def typed(client: Client, number: int, uri: str = URI) -> None:
    client.change({"text": f"x = n{number}"}, uri=uri)


def answer(client: Client, number: int) -> object:
    """-32800, [], or the text of the suggestion."""
    message = client.answer(number)
    if "error" in message:
        return message["error"]["code"]
    return [item["insertText"] for item in message["result"]["items"]]


def test_two_hundred_requests_in_a_second() -> None:
    engine = SlowEngine(steps=200)  # 0.8 s, so that none is done before the next one comes
    chance = random.Random(1)
    with in_process(lambda _: engine) as client:
        client.initialize({"deadlineMs": 30_000})
        client.open("")
        asked: list[tuple[int, bool]] = []
        began = time.monotonic()
        for number in range(200):
            typed(client, number)
            ask = client.ask(0, 99, kind=chance.choice((1, 2)))
            cancelled = number < 199 and chance.random() < 0.5
            if cancelled:
                client.notify("$/cancelRequest", {"id": ask})
            asked.append((ask, cancelled))
            time.sleep(max(0.0, began + (number + 1) * 0.005 - time.monotonic()))
        assert time.monotonic() - began < 2
        for ask, cancelled in asked[:-1]:
            assert answer(client, ask) == (CANCELLED if cancelled else [])
        assert answer(client, asked[-1][0]) == ["x = n199 + 199"]
        client.call("shutdown")
        answers = Counter(message["id"] for message in client.messages if "method" not in message)
        assert set(answers.values()) == {1} and len(answers) == 202
        assert len(engine.threads) == 1
        assert client.received("window/showMessage") == client.received("window/logMessage") == []


def test_a_superseded_request_is_answered_at_once() -> None:
    engine = SlowEngine()
    engine.go.clear()
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = n1")
        first = client.ask(0, 6)
        assert within(lambda: engine.requests)
        second = client.ask(0, 6)
        assert answer(client, first) == []  # while the engine has not moved
        engine.go.set()
        assert answer(client, second) == ["x = n1 + 1"]
        assert engine.ended["stopped"] == 1


def test_a_cancelled_request_stops_the_engine() -> None:
    engine = SlowEngine(steps=10_000)
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = n1")
        ask = client.ask(0, 6)
        assert within(lambda: engine.requests)
        client.notify("$/cancelRequest", {"id": ask})
        assert answer(client, ask) == CANCELLED
        assert within(lambda: engine.ended["stopped"])


def test_a_cancel_in_the_same_breath() -> None:
    with in_process(lambda _: SlowEngine()) as client:
        client.initialize()
        client.open("x = n1")
        ask = client.ask(0, 6)
        client.notify("$/cancelRequest", {"id": ask})
        client.notify("$/cancelRequest", {"id": ask})
        assert answer(client, ask) == CANCELLED
        assert client.items(0, 6)[0]["insertText"] == "x = n1 + 1"


def test_documents_do_not_supersede_each_other() -> None:
    engine = SlowEngine()
    engine.go.clear()
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = n1")
        client.open("x = n2", uri=OTHER)
        asks = [client.ask(0, 6), client.ask(0, 6, uri=OTHER)]
        engine.go.set()
        assert [answer(client, ask) for ask in asks] == [["x = n1 + 1"], ["x = n2 + 2"]]


@pytest.mark.parametrize("moves_on", ["textDocument/didChange", "textDocument/didClose"])
def test_a_text_that_moves_on_gets_nothing(moves_on: str) -> None:
    engine = SlowEngine()
    engine.go.clear()
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = n1")
        ask = client.ask(0, 6)
        assert within(lambda: engine.requests)
        client.notify(moves_on, {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "y"}]})
        assert answer(client, ask) == []
        engine.go.set()


def test_the_snapshot_is_the_text_at_the_time_of_asking() -> None:
    """Also where a whole burst is there to be read."""
    engine = SlowEngine()
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = n1")
        client.items(0, 6)
        for _ in range(20):
            typed(client, 2)
            client.ask(0, 6)
            for number in (3, 4, 5):
                typed(client, number)
        client.call("shutdown")
    assert {request.prefix for request in engine.requests} <= {"x = n1", "x = n2"}


# ------------------------------------------------------------------------------------------------ deadlines


def test_only_automatic_requests_have_the_users_deadline() -> None:
    engine = SlowEngine(steps=60, step=0.005)
    with in_process(lambda _: engine) as client:
        client.initialize({"deadlineMs": 30})
        client.open("x = n1")
        client.items(0, 6, kind=1)
        typed(client, 2)
        client.items(0, 6, kind=2)
    explicit, automatic, *_ = [request for request in engine.requests if not request.unlike]
    assert engine.ended["deadline"] == 1
    assert explicit.deadline is not None and automatic.deadline is not None and explicit.deadline > automatic.deadline + 1


class HastyEngine:
    """Has a word by the deadline, and more when it is given time."""

    name = "hasty"

    def __init__(self) -> None:
        self.requests: list[InfillRequest] = []
        self.finished = threading.Event()

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        self.requests.append(request)
        hurried = request.deadline is not None
        text = "alpha" if hurried else "alpha + beta"
        if not hurried:
            self.finished.set()
        return Draft(
            text=text,
            confidence=1.0,
            tokens=1,
            denoise_steps=1,
            forwards=1,
            prefill_tokens=0,
            latency_ms=1.0,
            ended="deadline" if hurried else "end",
            model=self.name,
        )


def test_a_draft_cut_short_is_finished_for_the_keys_after_it() -> None:
    engine = HastyEngine()
    with in_process(lambda _: engine) as client:
        client.initialize({"deadlineMs": 100})
        client.open("x = ")
        (first,) = client.items(0, 4, kind=2)
        assert engine.finished.wait(5)
        time.sleep(0.05)  # the loop hears of it
        client.change({"text": "x = al"})
        (kept,) = client.items(0, 6, kind=2)
        client.change({"text": "x = alpha"})
        (rest,) = client.items(0, 9, kind=2)
    assert [item["insertText"] for item in (first, kept, rest)] == ["x = alpha", "x = alpha", "x = alpha + beta"]
    assert len(engine.requests) == 2 and engine.requests[1].deadline is None


def test_an_answer_comes_in_time_though_the_engine_does_not() -> None:
    engine = SlowEngine(steps=1, step=1.0)
    with in_process(lambda _: engine) as client:
        client.initialize({"deadlineMs": 50})
        client.open("x = n1")
        client.items(0, 6, kind=1)
        typed(client, 2)
        began = time.monotonic()
        assert client.items(0, 6, kind=2) == []
        assert time.monotonic() - began < 0.5


def test_while_the_model_loads() -> None:
    """What comes while typing is answered at its deadline; who asked with a key is served as soon as it can be."""
    loading = threading.Event()

    def load(_: EngineConfig) -> Engine:
        assert loading.wait(30)
        return SlowEngine()

    with in_process(load) as client:
        client.initialize({"deadlineMs": 50})
        client.open("x = n1")
        client.open("x = n2", uri=OTHER)
        patient = client.ask(0, 6, uri=OTHER)
        began = time.monotonic()
        assert client.items(0, 6, kind=2) == []
        assert 0.04 < time.monotonic() - began < 5
        loading.set()
        assert answer(client, patient) == ["x = n2 + 2"]


# ------------------------------------------------------------------------------------------------ what goes wrong


def failing(times: int, error: Exception) -> Callable[[EngineConfig], Engine]:
    left = iter(range(times))

    def load(_: EngineConfig) -> Engine:
        if next(left, None) is not None:
            raise error
        return SlowEngine()

    return load


def test_a_missing_model_is_told_once_and_loads_later() -> None:
    with in_process(failing(2, ModelMissing("model m is not here: run `mercury-lsp pull m`"))) as client:
        client.initialize()
        message = client.notified("window/showMessage")
        assert message["type"] == 1 and "mercury-lsp pull" in message["message"]
        client.open("x = n1")
        assert client.items(0, 6) == []
        client.notify("workspace/didChangeConfiguration", {"settings": {}})
        assert client.items(0, 6) == []
        assert len(client.received("window/showMessage")) == 1
        client.notify("workspace/didChangeConfiguration", {"settings": {}})
        assert client.items(0, 6)[0]["insertText"] == "x = n1 + 1"


@pytest.mark.parametrize("error", [CheckpointInvalid("the file is damaged"), OSError("disk"), MemoryError()])
def test_whatever_loading_raises_is_told(error: Exception) -> None:
    with in_process(failing(1, error)) as client:
        client.initialize()
        client.notified("window/showMessage")
        client.open("x = n1")
        assert client.items(0, 6) == []


def test_a_crash_is_logged_once_and_the_server_lives() -> None:
    class Crashing(SlowEngine):
        def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
            if "n1" in request.prefix:
                raise ZeroDivisionError("no such number")
            if "n2" in request.prefix:
                raise EngineUnavailable("http://127.0.0.1:1 does not answer")
            return super().infill(request, stop)

    with in_process(lambda _: Crashing()) as client:
        client.initialize()
        for number in (1, 1, 2, 2, 2):
            client.open(f"x = n{number}")
            assert client.items(0, 6) == []
        client.open("x = n3")
        assert client.items(0, 6)[0]["insertText"] == "x = n3 + 3"
        told = [message["message"] for message in client.received("window/logMessage")]
        assert ["no such number" in line for line in told] == [True, False] and "does not answer" in told[1]
        assert client.received("window/showMessage") == []


def test_unlikely_drafts_stay_hidden() -> None:
    with in_process(lambda _: SlowEngine()) as client:
        client.initialize({"minConfidence": 0.95})
        client.open("x = n1")
        assert client.items(0, 6, kind=2) == []
        client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"minConfidence": 0.85}}})
        assert len(client.items(0, 6, kind=2)) == 1


# ------------------------------------------------------------------------------------------------ configuration and progress


def test_another_model_is_loaded_in_place_of_the_first() -> None:
    loaded: list[str] = []

    def load(config: EngineConfig) -> Engine:
        loaded.append(config.model if config.url is None else config.url)
        return SlowEngine()

    with in_process(load) as client:
        client.initialize({"model": "one"})
        for settings in ({"model": "one"}, {"model": "two"}, {"model": "two", "deadlineMs": 7}, {"engine": {"url": "http://three"}}):
            client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": settings}})
            client.open("x = n1")
            assert len(client.items(0, 6)) == 1
    assert loaded == ["one", "two", "http://three"]


@pytest.mark.parametrize("supported", [True, False])
def test_progress_while_the_model_loads(supported: bool) -> None:
    def load(_: EngineConfig) -> Engine:
        if supported:
            begun.wait(30)
            for share in (0.255, 0.1, 1.0):
                loading.told(share)
        return SlowEngine()

    begun = threading.Event()
    with in_process(load) as client:
        client.capabilities["window"] = {"workDoneProgress": supported}
        client.initialize({"model": "m"})
        if supported:
            assert client.notified("$/progress")["value"] == {"kind": "begin", "title": "Loading m", "percentage": 0}
            begun.set()
            client.wait_for(lambda message: message.get("params", {}).get("value", {}).get("kind") == "end")
            values = [message["value"] for message in client.received("$/progress")]
            assert [each["percentage"] for each in values if each["kind"] == "report"] == [25, 100]
            assert len({message["token"] for message in client.received("$/progress")}) == 1
        client.open("x = n1")
        assert len(client.items(0, 6)) == 1
        assert len(client.received("window/workDoneProgress/create")) == (1 if supported else 0)


def test_a_client_that_is_slow_to_say_yes_to_progress() -> None:
    with in_process(lambda _: SlowEngine()) as client:
        client.capabilities["window"] = {"workDoneProgress": True}
        client.before_answering.clear()
        client.initialize()
        client.open("x = n1")
        assert len(client.items(0, 6)) == 1  # the model is there before the answer is
        client.before_answering.set()
        assert len(client.items(0, 6)) == 1
        assert client.received("$/progress") == client.received("window/logMessage") == []


def test_a_client_that_never_says_its_configuration() -> None:
    with in_process(lambda _: SlowEngine()) as client:
        client.capabilities["workspace"] = {"configuration": True}
        client.before_answering.clear()
        client.initialize({"model": "m"})
        client.open("x = n1")
        assert len(client.items(0, 6)) == 1
        assert "configuration" in client.notified("window/logMessage")["message"]
        client.before_answering.set()
        assert len(client.items(0, 6)) == 1


def test_a_client_that_forgets_to_say_initialized() -> None:
    with in_process(lambda _: SlowEngine()) as client:
        client.call("initialize", {"capabilities": {}})
        client.open("x = n1")
        assert len(client.items(0, 6)) == 1

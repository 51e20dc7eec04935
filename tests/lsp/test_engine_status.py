"""A remote engine that goes and comes back: what the user is shown of it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from lsp_client import Client, in_process, within

from engine.api import Draft, EngineConfig, EngineUnavailable, InfillRequest, ModelMissing, StopFlag
from engine.fallback import FallbackEngine
from engine.scripted import ScriptedEngine


class Remote(ScriptedEngine):
    """Gone until it is said to be there."""

    there = False

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        if not self.there:
            raise EngineUnavailable("engine.url http://box: nobody answers.")
        return super().infill(request, stop)


class Setting:
    def __init__(self) -> None:
        self.remote, self.now = Remote(["there"] * 9), 0.0

    def load(self, config: EngineConfig) -> FallbackEngine:
        return FallbackEngine(self.remote, lambda: ScriptedEngine(["here"] * 9), clock=lambda: self.now)


def typed(client: Client, line: str) -> None:
    """Write `line` and ask at its end."""
    client.change({"text": f"{line}\n"})
    client.items(0, len(line))


@pytest.mark.parametrize(("client_said", "method"), [({"mercuryStatus": True}, "mercury/status"), ({}, "window/showMessage")])
def test_the_user_sees_once_that_it_is_gone(client_said: dict[str, Any], method: str) -> None:
    setting = Setting()
    with in_process(setting.load) as client:
        client.capabilities["experimental"] = client_said
        client.initialize()
        client.open("\n")
        typed(client, "x = ")
        gone = client.wait_for(lambda message: message.get("method") == method and message["params"].get("kind") != "ready")["params"]
        assert "http://box" in gone["message"] and "until it is back" in gone["message"].lower()
        typed(client, "xy = ")
        assert [told for told in client.received(method) if told["message"]] == [gone]
        setting.remote.there, setting.now = True, 60.0
        typed(client, "xyz = ")
        if client_said:
            assert client.wait_for(
                lambda message: message.get("method") == method and message["params"] == {"kind": "ready", "message": ""}
            )
        other = {"mercury/status", "window/showMessage"} - {method}
        assert not any(client.received(each) for each in other)


def test_copilots_clients_see_it_in_their_status() -> None:
    setting = Setting()
    with in_process(setting.load) as client:
        client.initialize({"editorPluginInfo": {"name": "copilot.lua", "version": "1"}})
        client.open("\n")
        typed(client, "x = ")
        gone = client.wait_for(
            lambda message: message.get("method") == "statusNotification" and "http://box" in message["params"]["message"]
        )
        assert gone["params"]["status"] == "Warning"


def test_who_comes_later_can_ask() -> None:
    """The same as was told: for a part of a client that was not there yet."""
    setting = Setting()
    with in_process(setting.load) as client:
        client.initialize()
        client.open("\n")
        typed(client, "x = ")
        told = client.call("mercury/status")
        assert told["kind"] == "warning" and "http://box" in told["message"]
        setting.remote.there, setting.now = True, 60.0
        typed(client, "xy = ")
        assert client.call("mercury/status") == {"kind": "ready", "message": ""}


def test_loading_and_what_could_not_be_loaded_can_be_asked_for() -> None:
    loading, may_end = threading.Event(), threading.Event()

    def load(config: EngineConfig) -> ScriptedEngine:
        loading.set()
        assert may_end.wait(30)
        raise ModelMissing("no such model")

    with in_process(load) as client:
        client.initialize()
        assert loading.wait(30)
        assert client.call("mercury/status") == {"kind": "loading", "message": "Loading quicksilver-135m"}
        may_end.set()
        assert within(lambda: client.call("mercury/status") == {"kind": "error", "message": "no such model"})

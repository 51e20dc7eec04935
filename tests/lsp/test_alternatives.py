"""Who asks with a key gets the best suggestion and up to three others to choose from; who types gets one."""

from __future__ import annotations

from lsp_client import in_process

from engine.api import Draft, InfillRequest, StopFlag


class Inventive:
    """Has some drafts, and gives the first that is not known."""

    name = "inventive"

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        text = next((text for text in self.texts if text not in request.unlike), self.texts[-1])
        return Draft(
            text=text, confidence=1.0, tokens=1, denoise_steps=1, forwards=1, prefill_tokens=0, latency_ms=1.0, ended="end", model=self.name
        )


def offered(engine: Inventive, kind: int) -> list[str]:
    with in_process(lambda _: engine) as client:
        client.initialize()
        client.open("x = ")
        return [item["insertText"] for item in client.items(0, 4, kind=kind)]


def test_three_others_for_who_asks_with_a_key() -> None:
    found = offered(Inventive("alpha", "beta", "gamma", "delta", "epsilon"), kind=1)
    assert found == ["x = alpha", "x = beta", "x = gamma", "x = delta"]


def test_one_for_who_types() -> None:
    assert offered(Inventive("alpha", "beta"), kind=2) == ["x = alpha"]


def test_no_second_one_that_is_the_first_again() -> None:
    assert offered(Inventive("alpha"), kind=1) == ["x = alpha"]


def test_none_that_cannot_be_shown() -> None:
    assert offered(Inventive("alpha", "   "), kind=1) == ["x = alpha"]


def test_the_chosen_one_counts_as_accepted_whichever_it_is() -> None:
    with in_process(lambda _: Inventive("alpha", "beta")) as client:
        client.initialize()
        client.open("x = ")
        _, second = client.items(0, 4, kind=1)
        client.call("workspace/executeCommand", {"command": second["command"]["command"], "arguments": second["command"]["arguments"]})
        figures = client.call("mercury/stats")
    assert (figures["suggestions"], figures["accepted"]) == (1, 1)

"""Questions about a selection: the answer grows before the user's eyes, is asked about further, and its code can be taken."""

from __future__ import annotations

from typing import Any

import pytest
from refactor_client import FULL, Told, editor, refused

from engine.api import PromptTooLong, RequestInvalid

ANSWER = "It adds them.\n\n```python\ndef f(a, b):\n    return sum((a, b))\n```\n\nAnd that is all."
SOURCE = "class A:\n    «def f(a, b):\n        return a + b»\n"


def documents() -> dict[str, Any]:
    """An editor that shows documents of the server's."""
    workspace = {**FULL["workspace"], "textDocumentContent": {"dynamicRegistration": True}}
    return {**FULL, "workspace": workspace, "window": {"workDoneProgress": True, "showDocument": {"support": True}}}


def test_an_answer_as_a_message_and_its_growth_as_progress() -> None:
    told = Told(chat=[ANSWER])
    with editor(SOURCE, engine=told) as opened:
        argument = {"uri": opened.uri, "range": opened.range, "question": "What is this?"}
        params = {"command": "mercury.ask", "arguments": [argument], "workDoneToken": 7}
        result = opened.client.call("workspace/executeCommand", params)
        assert result == {"answer": ANSWER, "conversation": "1", "blocks": 1, "uri": None}
        assert opened.messages() == [ANSWER]
        reports = [sent["value"]["message"] for sent in opened.client.received("$/progress") if sent["value"]["kind"] == "report"]
        assert reports and all(ANSWER.startswith(report) for report in reports)
    (turn,) = told.chats[0].turns
    assert turn.role == "user" and turn.text == "What is this?\n```python\ndef f(a, b):\n        return a + b\n```"


def test_an_answer_in_a_document_of_its_own() -> None:
    with editor(SOURCE, engine=Told(chat=["One.", "Two."]), capabilities=documents()) as opened:
        client = opened.client
        registered = client.notified("client/registerCapability")["registrations"]
        options = {"schemes": ["mercury-answer"]}
        assert [(each["method"], each["registerOptions"]) for each in registered] == [("workspace/textDocumentContent", options)]
        first = opened.run("mercury.ask", question="Why?")
        assert client.received("window/showDocument") == [{"uri": first["uri"], "takeFocus": False}]
        opened.run("mercury.ask", question="And then?", conversation=first["conversation"])
        text = client.call("workspace/textDocumentContent", {"uri": first["uri"]})["text"]
        assert text.startswith("## Why?\n```python\n") and text.endswith("```\n\nOne.\n\n## And then?\n\nTwo.\n")
        assert client.received("workspace/textDocumentContent/refresh")[-1] == {"uri": first["uri"]}
        assert opened.messages() == []
        assert client.call("workspace/textDocumentContent", {"uri": "mercury-answer:99/answer.md"}) == {"text": ""}


def test_what_follows_is_asked_with_what_went_before() -> None:
    told = Told(chat=["One.", "Two."])
    with editor(SOURCE, engine=told) as opened:
        first = opened.run("mercury.ask")
        opened.run("mercury.ask", question="And then?", conversation=first["conversation"])
    assert told.chats[0].turns[0].text.startswith("What does this code do?\n")
    assert [(turn.role, turn.text) for turn in told.chats[1].turns[1:]] == [("assistant", "One."), ("user", "And then?")]


def test_a_conversation_that_is_too_long_forgets_its_middle() -> None:
    long = PromptTooLong("the conversation has 9000 tokens, the loaded model reads up to 512: shorten it")
    told = Told(chat=["One.", "Two.", long, "Three."])
    with editor(SOURCE, engine=told) as opened:
        opened.run("mercury.ask", question="a")
        opened.run("mercury.ask", question="b", conversation="1")
        assert opened.run("mercury.ask", question="c", conversation="1")["answer"] == "Three."
    assert [turn.text for turn in told.chats[-1].turns[1:]] == ["One.", "c"]


def test_a_code_block_is_applied_at_its_depth() -> None:
    with editor(SOURCE, engine=Told(chat=[ANSWER])) as opened:
        opened.run("mercury.ask")
        assert opened.run("mercury.applyAnswer", conversation="1", block=1) == {"applied": True, "message": ""}
        assert opened.text == "class A:\n    def f(a, b):\n        return sum((a, b))\n"


@pytest.mark.parametrize(
    "language, source, block, after",
    [
        (
            "javascript",
            "class A {\n  «f(a) {\n    return a;\n  }»\n}\n",
            "f(a) {\n  return -a;\n}",
            "class A {\n  f(a) {\n    return -a;\n  }\n}\n",
        ),
        ("go", "package m\n\nfunc f() {\n\t«g()»\n}\n", "    g()\n    h()", "package m\n\nfunc f() {\n\tg()\n\th()\n}\n"),
        ("rust", "fn f() {\n    g();«»\n}\n", "h();", "fn f() {\n    g();\n    h();\n}\n"),
    ],
)
def test_a_code_block_in_other_languages(language: str, source: str, block: str, after: str) -> None:
    with editor(source, language, Told(chat=[f"So:\n```\n{block}\n```\n"])) as opened:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        opened.run("mercury.ask", range=whole)
        assert opened.run("mercury.applyAnswer", conversation="1") == {"applied": True, "message": ""}
        assert opened.text == after


def test_a_block_that_cannot_stand_there_changes_nothing() -> None:
    with editor(SOURCE, engine=Told(chat=["```\ndef f(:\n```", "No code."])) as opened:
        opened.run("mercury.ask")
        assert "does not parse" in opened.run("mercury.applyAnswer", conversation="1")["message"]
        assert "no such code block" in opened.run("mercury.applyAnswer", conversation="1", block=2)["message"]
        assert "no such conversation" in opened.run("mercury.applyAnswer", conversation="2")["message"]
        assert opened.client.received("workspace/applyEdit") == []


def test_questions_that_cannot_be_answered() -> None:
    refused("mercury.ask", "x = «»1\n", "nothing is selected")
    refused("mercury.ask", "«x = 1»\n", "conversation is over", conversation="9")
    refused("mercury.ask", "«x = 1»\n", "no answer")
    unable = Told(chat=[RequestInvalid("the loaded model was not trained to converse")])
    refused("mercury.ask", "«x = 1»\n", "not trained to converse", engine=unable)

"""Settings are strict, one at a time: a bad one is named and costs nothing but itself."""

from __future__ import annotations

import pytest

from mercury_lsp.settings import Settings, read


def test_defaults() -> None:
    assert read(None, {}, 3) == read() and read().settings == Settings()
    assert read().settings.enabled("python") and read().settings.multiline


def test_every_setting() -> None:
    said = {
        "model": "m",
        "deadlineMs": 20,
        "minConfidence": 0.25,
        "multiline": False,
        "languages": {"*": False, "go": True},
        "completionItems": False,
        "previewLines": 7,
        "stats": True,
        "engine": {"url": "http://127.0.0.1:1"},
        "exclude": ["**/gen"],
    }
    reading = read(said)
    assert (reading.bad, reading.unknown) == ((), ())
    assert reading.settings == Settings("m", 20, 0.25, False, {"*": False, "go": True}, False, 7, True, "http://127.0.0.1:1", ("**/gen",))
    assert read({"engine.url": "http://127.0.0.1:1"}).settings.engine_url == "http://127.0.0.1:1"


def test_exclude_is_a_list_or_an_object_as_vs_code_has_it() -> None:
    for value in (["**/gen", "*.min.js"], {"**/gen": True, "docs": False, "*.min.js": True, "old": None}):
        reading = read({"exclude": value})
        assert reading.bad == () and reading.settings.exclude == ("**/gen", "*.min.js")
    assert read({"exclude": {"docs": False}}, {"exclude": ["docs"]}).settings.exclude == ()


def test_null_means_the_next_source_and_then_the_default() -> None:
    nothing = {"model": None, "deadlineMs": None, "languages": None, "engine": None, "multiline": None}
    assert read(nothing).settings == Settings() and read(nothing).bad == ()
    assert read({"engine": {"url": None}}).settings.engine_url is None
    assert read({"deadlineMs": None}, {"deadlineMs": 7}).settings.deadline_ms == 7
    assert read({"deadlineMs": 8}, {"deadlineMs": 7}).settings.deadline_ms == 8


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("deadlineMs", "100"),
        ("deadlineMs", 0),
        ("deadlineMs", True),
        ("minConfidence", 1.5),
        ("minConfidence", "high"),
        ("multiline", "yes"),
        ("multiline", 1),
        ("model", ""),
        ("languages", ["python"]),
        ("languages", {"python": "no"}),
        ("engine.url", "127.0.0.1"),
        ("exclude", "**/gen"),
        ("exclude", {"**/gen": "yes"}),
    ],
)
def test_a_bad_setting_is_named_and_the_others_hold(key: str, value: object) -> None:
    reading = read({"model": "m", "deadlineMs": 20, key: value})
    assert len(reading.bad) == 1 and f"mercury.{key}" in reading.bad[0]
    assert reading.settings.model == ("quicksilver-135m" if key == "model" else "m")
    assert reading.settings.deadline_ms == (Settings().deadline_ms if key == "deadlineMs" else 20)


def test_unknown_keys_are_told_except_those_of_other_servers() -> None:
    assert read({"editorInfo": {}, "editorPluginInfo": {}, "colour": 1, "engine": {"urk": 1}}).unknown == ("colour", "engine.urk")


def test_languages() -> None:
    settings = read({"languages": {"*": False, "python": True}}).settings
    assert settings.enabled("python") and not settings.enabled("go") and not settings.enabled("")
    settings = read({"languages": {"markdown": False}}).settings
    assert not settings.enabled("md", "markdown") and settings.enabled("python")

"""What the user can set: one strict Struct, read key by key so that a bad one costs only itself. Knows no client.

A setting that is null or absent in one source falls to the next: configuration, then `initializationOptions`, then the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

SECTION = "mercury"
EXPLICIT_SECONDS = 5.0  # for a request that the user asked for with a key: `deadlineMs` is for those that come while typing

# Sent by clients of another server, or for the client's own use; not ours and not worth a line in the log.
_FOREIGN = frozenset({"editorInfo", "editorConfiguration", "editorPluginInfo", "copilotIntegrationId", "networkProxy", "trace"})


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    model: Annotated[str, msgspec.Meta(min_length=1)] = "quicksilver-135m"
    # What a user takes for at once. What is verified by then is shown; the engine finishes the rest for the next key.
    deadline_ms: Annotated[int, msgspec.Meta(ge=1, le=60_000)] = 100
    # Of 33 stretches typed in eleven languages, 3,561 keys in six repositories that neither model nor confidence learnt from (2026-11-30):
    # from 0.3 on 31 % of the keys were saved and 48 % of what was shown was wrong, from 0.4 28 and 40 %, from 0.5 25 and 32 %, from 0.6
    # 22 and 28 %, from 0.8 15 and 9 %. A geometric mean over whole drafts had saved 27 % from 0.6 on, and 70 % was wrong.
    min_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    multiline: bool = True
    languages: dict[str, bool] = {}  # by language id; `*` speaks for those not listed
    completion_items: bool | None = None  # whether suggestions also come as ordinary items; None: to clients that show no ghost text
    # A refactoring that changes more lines is shown before it is applied, in editors that can do that; 0: every one is.
    preview_lines: Annotated[int, msgspec.Meta(ge=0)] = 20
    stats: bool = False  # whether the figures that `mercury-lsp stats` prints are written to a file when the server ends
    # a remote engine's base URL, in place of a local model
    engine_url: Annotated[str, msgspec.Meta(pattern="^https?://.")] | None = msgspec.field(name="engine.url", default=None)
    # globs of files that stay out of prompts: a list, or an object of globs and whether each holds, as VS Code's `files.exclude` is one
    exclude: tuple[str, ...] = ()

    @property
    def scripted(self) -> bool:
        """Whether all that is shown comes from a script: nothing else may answer in its place."""
        return self.model.startswith("scripted:")

    def enabled(self, *names: str) -> bool:
        """Whether suggestions are wanted in a language, known by any of `names`."""
        for name in names:
            if name in self.languages:
                return self.languages[name]
        return self.languages.get("*", True)


class Reading(msgspec.Struct, frozen=True):
    """Settings, and what was wrong with their sources: `bad` settings are for the user's eyes, `unknown` keys for the log."""

    settings: Settings
    bad: tuple[str, ...]
    unknown: tuple[str, ...]


def read(*sources: object) -> Reading:
    """Read sources, the weightier first. Each is a JSON object, or anything else for nothing."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(Settings)}
    values: dict[str, Any] = {}
    bad: list[str] = []
    unknown: list[str] = []
    for source in sources:
        for key, value in _entries(source):
            field = fields.get(key)
            if field is None:
                if key not in _FOREIGN:
                    unknown.append(key)
                continue
            try:
                read_value = _converted(_without_nulls(value), field)
            except msgspec.ValidationError as error:
                bad.append(f"setting {SECTION}.{key}: {_plain(str(error), key)}; it is ignored")
                continue
            values.setdefault(field.name, read_value)
    return Reading(Settings(**values), tuple(bad), tuple(dict.fromkeys(unknown)))


def _entries(source: object) -> Iterator[tuple[str, Any]]:
    """Keys that are set; `{"engine": {"url": …}}` reads as `{"engine.url": …}`."""
    for key, value in source.items() if isinstance(source, Mapping) else ():
        if key == "engine" and isinstance(value, Mapping):
            yield from ((f"engine.{inner}", setting) for inner, setting in value.items() if setting is not None)
        elif value is not None:
            yield key, value


def _converted(value: Any, field: msgspec.structs.FieldInfo) -> Any:
    if field.name == "exclude" and isinstance(value, dict):
        return tuple(glob for glob, holds in msgspec.convert(value, dict[str, bool]).items() if holds)
    return msgspec.convert(value, field.type)


def _without_nulls(value: Any) -> Any:
    return {key: inner for key, inner in value.items() if inner is not None} if isinstance(value, dict) else value


def _plain(error: str, key: str) -> str:
    """`Expected `int`, got `str` - at `$.url`` → the same with the path as the user wrote it."""
    what, _, where = error.partition(" - at `$")
    return f"{what} at {key}{where.rstrip('`')}" if where else what

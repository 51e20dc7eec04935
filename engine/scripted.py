"""A stand-in engine for client authors and tests: each request gets the next string of a script. Knows no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from engine.api import Canvas, ChatRequest, Draft, InfillRequest, RewriteRequest, SettingInvalid, StopFlag, unheard


class ScriptedEngine:
    """Yields `drafts` in order, each as a complete draft of confidence 1; after the last one, empty drafts, and regions as they are."""

    def __init__(self, drafts: Sequence[str], name: str = "scripted") -> None:
        self.name = name
        self._drafts = list(drafts)
        self._next = 0

    @classmethod
    def from_file(cls, path: str) -> ScriptedEngine:
        """Read a JSON list of strings. Raises `SettingInvalid` naming the file when it is not one."""
        try:
            drafts = msgspec.json.decode(Path(path).read_bytes(), type=list[str])
        except OSError as error:
            raise SettingInvalid(f"model scripted:{path}: cannot read the script: {error.strerror}") from None
        except msgspec.MsgspecError as error:
            raise SettingInvalid(f"model scripted:{path}: expected a JSON list of strings: {error}") from None
        return cls(drafts, name=f"scripted:{path}")

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """A request for something else than what is known is no new one: the script has no more for it."""
        return self._draft("" if request.unlike else self._take(""))

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        """Heard line by line."""
        text = self._take(request.region)
        lines = text.split("\n")
        for row in range(1, len(lines)):
            heard(Canvas("\n".join(lines[:row])))
        return self._draft(text)

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        """Heard line by line."""
        text = self._take("")
        for line in range(text.count("\n")):
            heard("\n".join(text.split("\n")[: line + 1]))
        return self._draft(text)

    def _take(self, default: str) -> str:
        text = self._drafts[self._next] if self._next < len(self._drafts) else default
        self._next += 1
        return text

    def _draft(self, text: str) -> Draft:
        return Draft(
            text=text,
            confidence=1.0 if text else 0.0,
            tokens=0,
            denoise_steps=0,
            forwards=0,
            prefill_tokens=0,
            latency_ms=0.0,
            ended="end",
            model=self.name,
        )

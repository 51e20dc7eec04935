"""A stand-in service for client authors and tests: each work gets the next string of a script. Knows no model."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from engine.api import RewriteRequest, SettingInvalid
from engine.serving.requests import Conversation, Ended, Event, Facts, Finished, Hole, Load, Progress, TokenLog, Usage, Work


class ScriptedService:
    """Writes `texts` in order, a word at a time, and after the last one nothing. `asked` are the works that came in."""

    def __init__(self, texts: Sequence[str], name: str = "scripted") -> None:
        self.facts = Facts(model=name, context=8192, converses=True, rewrites=True, rewrite_chars=4000)
        self.asked: list[Work] = []
        self._texts = list(texts)

    @classmethod
    def from_file(cls, path: str) -> ScriptedService:
        """Read a JSON list of strings. Raises `SettingInvalid`."""
        try:
            return cls(msgspec.json.decode(Path(path).read_bytes(), type=list[str]), f"scripted:{path}")
        except (OSError, msgspec.MsgspecError) as error:
            raise SettingInvalid(f"model scripted:{path}: expected a JSON list of strings: {error}") from None

    def submit(self, work: Work) -> _Script:
        text = self._texts[len(self.asked)] if len(self.asked) < len(self._texts) else ""
        self.asked.append(work)
        return _Script(work, text, self.count(_read(work)))

    def count(self, text: str) -> int:
        return len(_words(text))

    def load(self) -> Load:
        return Load(running=0, waiting=0, cached_tokens=0, cache_tokens=0)

    def close(self) -> None: ...


class _Script:
    def __init__(self, work: Work, text: str, prompt_tokens: int) -> None:
        self._work, self._text, self._prompt_tokens = work, text, prompt_tokens
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Words are its tokens."""
        ends = [place for stop in self._work.stop if stop and (place := self._text.find(stop)) >= 0]
        words = _words(self._text[: min(ends)] if ends else self._text)
        kept = words[: self._work.max_tokens]
        for place, word in enumerate(kept):
            if self._stopped:
                break
            tokens = () if self._work.logprobs is None else (TokenLog(word.encode(), 0.0),)
            yield Progress(word, tokens, "".join(kept[: place + 1]) if self._work.canvas else None)
        ended: Ended = "stopped" if self._stopped else "length" if len(kept) < len(words) else "stop" if ends else "end"
        yield Finished(ended, Usage(prompt_tokens=self._prompt_tokens, completion_tokens=len(kept)))


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def _read(work: Work) -> str:
    """All the text of a task."""
    task = work.task
    if isinstance(task, Hole):
        return task.prefix + task.suffix
    if isinstance(task, Conversation):
        return " ".join(turn.text for turn in task.turns)
    return task.prefix + task.region + task.suffix if isinstance(task, RewriteRequest) else task.text

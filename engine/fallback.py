"""A remote engine, and one in this process while it is gone. Knows no HTTP and no model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from engine.api import Canvas, ChatRequest, Draft, Engine, EngineUnavailable, InfillRequest, ModelError, RewriteRequest, StopFlag, unheard

_log = logging.getLogger(__name__)

# For so long a remote engine that was gone is left alone: a try costs two seconds where nobody answers.
_PAUSE_S = 20.0


class FallbackEngine:
    """Asks the remote engine; where that cannot be had, the local one, which is loaded when it is first needed."""

    def __init__(self, remote: Engine, load: Callable[[], Engine], clock: Callable[[], float] = time.monotonic) -> None:
        self.name = remote.name
        self._remote, self._load, self._clock = remote, load, clock
        self._local: Engine | None = None
        self._gone_until: float | None = None
        self.told: Callable[[str], None] = unheard  # `engine.api.watch`

    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """Raises `EngineUnavailable` where neither can be had."""
        return self._from_either(lambda engine: engine.infill(request, stop))

    def rewrite(self, request: RewriteRequest, stop: StopFlag, heard: Callable[[Canvas], None] = unheard) -> Draft:
        return self._from_either(lambda engine: engine.rewrite(request, stop, heard))

    def chat(self, request: ChatRequest, stop: StopFlag, heard: Callable[[str], None] = unheard) -> Draft:
        return self._from_either(lambda engine: engine.chat(request, stop, heard))

    def _from_either(self, ask: Callable[[Engine], Draft]) -> Draft:
        if self._gone_until is None or self._clock() >= self._gone_until:
            try:
                draft = ask(self._remote)
            except EngineUnavailable as error:
                return ask(self._instead(error))
            if self._gone_until is not None:
                _log.warning("the engine at %s is back", self.name)
                self.told("")
            self._gone_until = None
            return draft
        return ask(self._instead(None))

    def _instead(self, error: EngineUnavailable | None) -> Engine:
        """The local engine. Raises `error` where it cannot be loaded either."""
        if error is not None:
            if self._gone_until is None:
                _log.warning("%s Until it is back, the model in this process answers.", error)
                self.told(f"{error} Until it is back, the model in this process answers.")
            self._gone_until = self._clock() + _PAUSE_S
        if self._local is None:
            try:
                self._local = self._load()
            except ModelError as missing:
                raise error or EngineUnavailable(f"engine.url {self.name} does not answer, and here: {missing}") from None
        return self._local

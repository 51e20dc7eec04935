"""The local engine: one request through tokenizer, canvas, prefix cache and decode loop. Knows no editor."""

from __future__ import annotations

import itertools
import math
import os
import time

import torch

from engine import confidence
from engine.api import Draft, EngineConfig, InfillRequest, RequestInvalid, RewriteRequest, StopFlag
from engine.cache import PrefixCache
from engine.checkpoints.catalog import find
from engine.checkpoints.load import Checkpoint, load_checkpoint
from engine.decode import Decoded, Decoder, Interrupt, Interrupted, Limits, decode
from engine.dedent import ended
from engine.follow import Follow
from engine.layout import infill_ids, rewrite_ids
from engine.models.fastest import fastest_dtype

# Two documents side by side and a jump back in each.
_CACHE_SLOTS = 4
# Tokens a draft may have at most, beyond the layout's own share for the middle.
_MOST_TOKENS = 256
# Logits by which a rewriting leans towards leaving text as it is.
_KEEP = 2.0


class LocalEngine:
    """A checkpoint with its cache. Not thread-safe: one thread asks, any thread may set the stop flag."""

    def __init__(self, checkpoint: Checkpoint, name: str) -> None:
        self.name = name
        self.tokenizer, self.layout = checkpoint.tokenizer, checkpoint.layout
        banned = [index for index in checkpoint.tokenizer.special_ids if index != checkpoint.layout.end_id]
        self._calibration = checkpoint.calibration
        self.decoder = Decoder(checkpoint.transformer, checkpoint.layout, torch.tensor(banned), checkpoint.chain)
        self._cache = PrefixCache(
            checkpoint.transformer.config,
            slots=_CACHE_SLOTS,
            capacity=checkpoint.layout.context + _MOST_TOKENS + checkpoint.layout.block,
            dtype=checkpoint.transformer.dtype,
        )

    @classmethod
    def load(cls, config: EngineConfig) -> LocalEngine:
        """Load the catalogued model `config` names. Raises `ModelMissing`, `CheckpointInvalid` or `SettingInvalid`."""
        torch.set_num_threads(config.threads or default_threads())
        files = find(config.model)
        return cls(load_checkpoint(files.gguf, files.adapter, compute_dtype(config.dtype)), config.model)

    @torch.inference_mode()
    def infill(self, request: InfillRequest, stop: StopFlag) -> Draft:
        """Raises `RequestInvalid` when no token may be written: nothing would end the decoding."""
        if request.max_tokens < 1:
            raise RequestInvalid(f"max_tokens {request.max_tokens}: expected at least 1")
        started = time.perf_counter()
        ids = self.prompt_ids(request)
        slot = self._cache.match(ids[:-1])
        missing = len(ids) - 1 - len(slot.ids)
        decoded = decode(self.decoder, slot, ids, self._limits(request), _interruption(request, stop))
        return self._draft(decoded, request, missing, started)

    @torch.inference_mode()
    def rewrite(self, request: RewriteRequest, stop: StopFlag) -> Draft:
        """The region's new text, the region itself where nothing is to change. `ended` is "end" where the text is whole.

        Raises `RequestInvalid` where the model knows no rewriting, or the region is too long for it.
        """
        started = time.perf_counter()
        ids = self._rewrite_ids(request)
        slot = self._cache.match(ids[:-1])
        missing = len(ids) - 1 - len(slot.ids)
        most = self.layout.context + _MOST_TOKENS - len(ids)
        limits = Limits(tokens=most, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
        sources = [Follow([*self.tokenizer.encode(request.region), self.layout.end_id], _KEEP)]
        decoded = decode(self.decoder, slot, ids, limits, _interruption(request, stop), sources)
        return self._rewritten(decoded, request, missing, started)

    def _rewrite_ids(self, request: RewriteRequest) -> list[int]:
        return rewrite_ids(
            self.tokenizer,
            self.layout,
            path=request.path,
            prefix=request.prefix,
            region=request.region,
            suffix=request.suffix,
            cursor=request.cursor,
            history=request.history,
            instruction=request.instruction,
            related=request.related,
        )

    def _rewritten(self, decoded: Decoded, request: RewriteRequest, prefill_tokens: int, started: float) -> Draft:
        unchanged = decoded.ids == [self.layout.end_id]
        return Draft(
            text=request.region if unchanged else self.tokenizer.decode(decoded.ids),
            confidence=math.prod(decoded.confidence),
            tokens=len(decoded.ids),
            denoise_steps=decoded.denoise_steps,
            forwards=decoded.forwards,
            prefill_tokens=prefill_tokens,
            latency_ms=(time.perf_counter() - started) * 1e3,
            ended=decoded.ended,
            model=self.name,
        )

    def prompt_ids(self, request: InfillRequest) -> list[int]:
        """Exactly what the model sees for `request`."""
        return infill_ids(
            self.tokenizer,
            self.layout,
            path=request.path,
            prefix=request.prefix,
            suffix=request.suffix,
            related=request.related,
        )

    def _limits(self, request: InfillRequest) -> Limits:
        dedent = request.dedent
        return Limits(
            tokens=min(request.max_tokens, _MOST_TOKENS),
            line_ends=(lambda index: False) if request.multiline else self.tokenizer.has_newline,
            text_ends=(lambda ids: False) if dedent is None else lambda ids: ended(self.tokenizer.decode(ids), dedent) is not None,
            verify=request.verify,
        )

    def _draft(self, decoded: Decoded, request: InfillRequest, prefill_tokens: int, started: float) -> Draft:
        text = self.tokenizer.decode(decoded.ids)
        if not request.multiline:
            text = text.partition("\n")[0]
        elif request.dedent is not None:
            text = text[: ended(text, request.dedent)]
        pieces = confidence.pieces(text, self._tokens(decoded, text), self._calibration)
        return Draft(
            text=text,
            confidence=confidence.confidence(text, pieces),
            tokens=len(decoded.ids),
            denoise_steps=decoded.denoise_steps,
            forwards=decoded.forwards,
            prefill_tokens=prefill_tokens,
            latency_ms=(time.perf_counter() - started) * 1e3,
            ended=decoded.ended,
            model=self.name,
            pieces=pieces,
        )

    def _tokens(self, decoded: Decoded, text: str) -> list[confidence.Token]:
        """The committed tokens as parts of `text`, which may end before they do."""
        ends = itertools.accumulate(len(self.tokenizer.to_bytes([index])) for index in decoded.ids)
        raw = self.tokenizer.to_bytes(decoded.ids)
        lengths = (min(len(raw[:end].decode(errors="ignore")), len(text)) for end in ends)
        return [confidence.Token(*each) for each in zip(lengths, decoded.confidence, strict=True)]


def default_threads() -> int:
    """Physical cores that this process may use, less one: a second busy process collapses a team that fills the machine.

    Measured on two cores beside another two-thread job: a step took 0.16–3.3 s on two threads, its usual time on one.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(torch.get_num_threads(), usable) - 1)


def compute_dtype(name: str) -> torch.dtype:
    """The dtype to compute in; `auto` takes the fastest here."""
    if name == "auto":
        return fastest_dtype()
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def _interruption(request: InfillRequest | RewriteRequest, stop: StopFlag) -> Interrupted:
    def reason() -> Interrupt | None:
        if stop.is_set():
            return "stopped"
        return "deadline" if request.deadline is not None and time.monotonic() >= request.deadline else None

    return reason

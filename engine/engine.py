"""The local engine: one request through tokenizer, canvas, prefix cache and decode loop. Knows no editor."""

from __future__ import annotations

import math
import os
import time

import torch

from engine.api import Draft, EngineConfig, InfillRequest, RequestInvalid, StopFlag
from engine.cache import PrefixCache
from engine.checkpoints.catalog import find
from engine.checkpoints.load import Checkpoint, load_checkpoint
from engine.decode import Decoded, Decoder, Interrupt, Interrupted, Limits, decode
from engine.dedent import ended
from engine.layout import infill_ids

# Two documents side by side and a jump back in each.
_CACHE_SLOTS = 4
# Tokens a draft may have at most, beyond the layout's own share for the middle.
_MOST_TOKENS = 256


class LocalEngine:
    """A checkpoint with its cache. Not thread-safe: one thread asks, any thread may set the stop flag."""

    def __init__(self, checkpoint: Checkpoint, name: str) -> None:
        self.name = name
        self.tokenizer, self.layout = checkpoint.tokenizer, checkpoint.layout
        banned = [index for index in checkpoint.tokenizer.special_ids if index != checkpoint.layout.end_id]
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
        return Draft(
            text=text,
            confidence=_geometric_mean(decoded.confidence),
            tokens=len(decoded.ids),
            denoise_steps=decoded.denoise_steps,
            forwards=decoded.forwards,
            prefill_tokens=prefill_tokens,
            latency_ms=(time.perf_counter() - started) * 1e3,
            ended=decoded.ended,
            model=self.name,
        )


def default_threads() -> int:
    """Physical cores that this process may use, less one: a second busy process collapses a team that fills the machine.

    Measured on two cores beside another two-thread job: a step took 0.16–3.3 s on two threads, its usual time on one.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(torch.get_num_threads(), usable) - 1)


def compute_dtype(name: str) -> torch.dtype:
    """The dtype to compute in; `auto` takes bfloat16 where the CPU multiplies it in hardware and float32 elsewhere."""
    if name == "auto":
        return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported() else torch.float32
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def _interruption(request: InfillRequest, stop: StopFlag) -> Interrupted:
    def reason() -> Interrupt | None:
        if stop.is_set():
            return "stopped"
        return "deadline" if request.deadline is not None and time.monotonic() >= request.deadline else None

    return reason


def _geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values)) if values else 0.0

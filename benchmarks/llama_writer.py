"""llama.cpp as a writer, in its own environment (`make bench-peers`): token by token, with its own prefix cache. Knows no figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import llama_cpp
import numpy as np

from benchmarks.writers import Goal, Written
from engine.cache import common


class LlamaCpp:
    """One loaded file. Its greedy choice is made here, from its logits: the sampler of its own costs more and cannot ban ids as cheaply."""

    def __init__(self, name: str, path: Path, *, banned: Sequence[int], context: int, threads: int, fused: bool = True) -> None:
        """`banned` ids are never chosen. `fused`: whether attention is computed in one pass, as it calls flash attention."""
        self.name = name
        self.weight_bytes = path.stat().st_size
        self._banned = np.array(banned)
        self._model = llama_cpp.Llama(str(path), n_ctx=context, n_threads=threads, n_threads_batch=threads, flash_attn=fused, verbose=False)
        self._vocab = self._model.n_vocab()

    def warm(self, prompt: Sequence[int]) -> None:
        self._read(prompt[:-1])

    def write(self, prompt: Sequence[int], goal: Goal) -> Written:
        ids: list[int] = []
        started = perf_counter()
        self._read(prompt)
        layers = perf_counter() - started
        while True:
            ids.append(self._best())
            if goal.reached(ids):
                return Written(ids, perf_counter() - started, len(ids), layers)
            before = perf_counter()
            self._model.eval(ids[-1:])
            layers += perf_counter() - before

    def _read(self, ids: Sequence[int]) -> None:
        """Hold exactly `ids`, of which the last one is read anew where all were held: its logits are wanted."""
        known = common(self._model.input_ids[: self._model.n_tokens].tolist(), ids)
        self._model.n_tokens = min(known, len(ids) - 1)  # `eval` drops what its cache holds beyond
        self._model.eval(ids[self._model.n_tokens :])

    def _best(self) -> int:
        logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self._model.ctx, -1), shape=(self._vocab,))
        logits[self._banned] = -np.inf
        return int(logits.argmax())

"""Which way to compute a model is the fastest on this machine: a GPU, else what a trial says. Knows no file."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from engine.cache import CacheSlot
from engine.canvas import clean_and_blocks
from engine.config import DenseConfig
from engine.models.dense import DenseTransformer, LayerWeights
from engine.models.rounding import rounded, rounded_layer
from engine.models.transformer import float_dtype, kept_dtype
from kernels.launch import gpu_of

# A few layers of the default model's size, more than a core's own cache holds, and a usual forward.
_CONFIG = DenseConfig(
    layers=4, width=576, heads=9, kv_heads=3, head_dim=64, mlp=1536, vocab=64, rope_theta=1e5, norm_eps=1e-5, max_positions=1024
)  # fmt: skip
_ROWS, _CACHED, _ROUNDS = 16, 512, 8


def fastest_dtype() -> torch.dtype:
    """int8, the graph, where its library is installed, runs on this CPU and is faster than torch."""
    floats = float_dtype()
    if importlib.util.find_spec("openvino") is None:
        return floats
    return min(_trial((floats, torch.int8)).items(), key=lambda item: item[1])[0]


def gpu_for(dtype: str) -> torch.device | None:
    """The GPU to compute on, where there is one that takes the kernels; `dtype` must leave the choice, or be what they compute in."""
    if dtype not in ("auto", "bfloat16") or not torch.cuda.is_available():
        return None
    device = torch.device("cuda", torch.cuda.current_device())
    return None if gpu_of(device) is None else device


@torch.inference_mode()
def _trial(dtypes: Sequence[torch.dtype]) -> dict[torch.dtype, float]:
    """The least time of each, in turns, so that whatever else the machine does hits all alike. What fails has none.

    One thread's time is its own: on a machine with much else to do a trial by the clock once took torch, at 1.6 times the cost.
    """
    clock = (
        time.thread_time if torch.get_num_threads() == 1 and sys.platform != "win32" else time.perf_counter
    )  # there it ticks 64 times a second
    forwards = {}
    for dtype in dtypes:
        try:
            forwards[dtype] = _forward(dtype)
            forwards[dtype]()
        except (RuntimeError, IndexError):  # the library's ways to say that it cannot use this CPU: an error, or a result of no rows
            forwards.pop(dtype, None)
    least = dict.fromkeys(forwards, float("inf"))
    for _ in range(_ROUNDS):
        for dtype, forward in forwards.items():
            started = clock()
            forward()
            least[dtype] = min(least[dtype], clock() - started)
    return least


def _forward(dtype: torch.dtype) -> Callable[[], object]:
    """A forward of random weights."""
    c = _CONFIG
    kept = kept_dtype(dtype)
    model = _without_layers(torch.randn(c.vocab, c.width).to(kept), torch.ones(c.width, dtype=kept), dtype)

    def random(out: int, into: int) -> torch.Tensor:
        return (torch.randn(out, into) * into**-0.5).to(torch.float32 if dtype == torch.int8 else dtype)

    norm = torch.ones(c.width, dtype=torch.float32 if dtype == torch.int8 else dtype)
    qkv, o, gate_up, down = random(960, c.width), random(c.width, c.width), random(2 * c.mlp, c.width), random(c.width, c.mlp)
    layer = LayerWeights(attention_norm=norm, qkv=qkv, o=o, mlp_norm=norm, gate_up=gate_up, down=down)
    for _ in range(c.layers):
        model.add_layer(rounded_layer(layer) if dtype == torch.int8 else layer)
    slot = CacheSlot(c, _CACHED + _ROWS, model.dtype)
    slot.commit([0] * _CACHED)
    rows = clean_and_blocks([0] * _ROWS, _CACHED)
    return lambda: model.forward(rows, slot)


def _without_layers(embedding: torch.Tensor, norm: torch.Tensor, dtype: torch.dtype) -> Any:
    """A model of the kind that computes in `dtype`."""
    if dtype != torch.int8:
        return DenseTransformer(_CONFIG, embedding, norm)
    from engine.models.graph import GraphTransformer

    return GraphTransformer(_CONFIG, embedding, norm, rounded(embedding))

"""Triton's interpreter, put right where it is silently wrong, and what the interpreted tests share. Import it before any kernel.

Without this, Triton 3.6 to 3.9 keep bfloat16 as bit patterns and compute on the patterns, round float32 to it by cutting off, and are a
factor of two off where they round up to the next power of two in float8; and 3.6 takes no loop's run-time bound with a NumPy from 2.4 on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter

from kernels.launch import Gpu

assert os.environ.get("TRITON_INTERPRET") == "1", "one process is one mode: set TRITON_INTERPRET=1 before it starts"

Handle = triton_interpreter.TensorHandle
Builder = triton_interpreter.InterpreterBuilder
CHIP = Gpu(capability=90, processors=12)
# The distance from 1 to the next number of the dtype.
EPSILON = {torch.float32: 2**-23, torch.float16: 2**-10, torch.bfloat16: 2**-7}


def repair() -> None:
    """Put the interpreter right, once a process."""
    Builder.binary_op = _with_bfloat16(Builder.binary_op)
    Builder.cast_impl = _with_casts(Builder.cast_impl)
    Builder.create_dot = _dot
    triton_interpreter._convert_float = _with_rounding(triton_interpreter._convert_float)
    triton_interpreter._patch_lang_tensor = _with_index(triton_interpreter._patch_lang_tensor)


def poison() -> None:
    """Memory that an op asks for holds NaN, or the largest integer, until it is written."""
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = True


def fresh(name: str) -> torch.Generator:
    """Other numbers in each run; the seed is printed, and SEED repeats a run."""
    seed = int(os.environ.get("SEED", "0")) or int.from_bytes(os.urandom(4), "little")
    print(f"{name}: SEED={seed}")
    return torch.Generator().manual_seed(seed)


def _is_bfloat16(handle: Any) -> bool:
    return bool(getattr(handle.dtype, "scalar", handle.dtype) == tl.bfloat16)


def _wide(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _narrow(values: np.ndarray) -> np.ndarray:
    """float32 as the bits of the nearest bfloat16, of two equally near ones the even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def _with_bfloat16(plain: Callable[..., Any]) -> Callable[..., Any]:
    def binary_op(self: Any, left: Any, right: Any, op: Callable[..., Any]) -> Any:
        if not (_is_bfloat16(left) and _is_bfloat16(right)):
            return plain(self, left, right, op)
        result = op(_wide(left.data), _wide(right.data))
        return Handle(result, tl.int1) if result.dtype == np.bool_ else Handle(_narrow(result), tl.bfloat16)

    return binary_op


def _with_casts(plain: Callable[..., Any]) -> Callable[..., Any]:
    def cast_impl(self: Any, source: Any, wanted: Any) -> Any:
        if _is_bfloat16(source):
            if wanted.scalar == tl.bfloat16:
                return source
            source = Handle(_wide(source.data), tl.float32)
            return source if wanted.scalar == tl.float32 else plain(self, source, wanted)
        if wanted.scalar == tl.bfloat16:
            values = source if source.dtype.scalar == tl.float32 else plain(self, source, tl.float32)
            return Handle(_narrow(values.data), tl.bfloat16)
        return plain(self, source, wanted)

    return cast_impl


def _dot(self: Any, left: Any, right: Any, sums: Any, precision: Any, imprecise: Any) -> Any:
    """Summed in float64 and rounded once, since the order of the CPU library's float32 sums goes by the shape."""
    x, y = (_wide(side.data) if _is_bfloat16(side) else side.data for side in (left, right))
    return Handle((np.matmul(x, y, dtype=np.float64) + sums.data).astype(sums.data.dtype), sums.dtype.scalar)


def _with_rounding(plain: Callable[..., Any]) -> Callable[..., Any]:
    def convert(values: Any, have: Any, want: Any, mode: Any) -> Any:
        if have == tl.float8e4nv:
            floats = torch.from_numpy(values.view(np.uint8).copy()).view(torch.float8_e4m3fn).float().numpy()
            return floats.view(np.uint32) if want == tl.float32 else convert(floats, tl.float32, want, mode)
        if have == tl.float32 and mode != triton_interpreter._ir.ROUNDING_MODE.RTZ:
            floats = np.asarray(values).view(np.float32)
            if want == tl.bfloat16:
                return _narrow(floats)
            if want == tl.float8e4nv:  # too large becomes the largest, as in hardware
                return torch.from_numpy(floats.copy()).clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8).numpy()
        return plain(values, have, want, mode)

    return convert


def _with_index(plain: Callable[..., Any]) -> Callable[..., Any]:
    def patch(tensor: Any, scope: Any) -> None:
        plain(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(np.asarray(self.handle.data).reshape(-1)[0]))

    return patch


repair()
poison()

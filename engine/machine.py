"""What this machine offers a model: device, instruction sets, cores. Decides nothing."""

from __future__ import annotations

import os

import msgspec

# As torch names them, in the order of their age.
_INSTRUCTION_SETS = {
    "avx2": "AVX2",
    "avx_vnni": "AVX-VNNI",
    "avx512_f": "AVX512",
    "avx512_vnni": "AVX512-VNNI",
    "avx512_bf16": "AVX512-BF16",
    "amx_int8": "AMX-INT8",
    "amx_bf16": "AMX-BF16",
}


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Facts as torch sees them."""

    device: str  # "cpu", or the GPU's name with its compute capability
    instruction_sets: tuple[str, ...]  # of the CPU
    cores: int  # logical ones that this process may use
    torch_threads: int  # what torch takes by default: one a physical core


def look() -> Machine:
    """Imports torch."""
    import torch

    if torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        device = f"{torch.cuda.get_device_name()} (compute capability {major}.{minor})"
    else:
        device = "cpu"
    return Machine(device=device, instruction_sets=_instruction_sets(), cores=_cores(), torch_threads=torch.get_num_threads())


def _instruction_sets() -> tuple[str, ...]:
    import torch

    try:
        capabilities = torch.cpu.get_capabilities()
    except AttributeError:  # torch 2.11 tells only the level that its own kernels use
        return (torch.backends.cpu.get_cpu_capability(),)
    return tuple(label for name, label in _INSTRUCTION_SETS.items() if capabilities.get(name))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

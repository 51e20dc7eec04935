"""Every op of a denoise step by the path that a device takes: the Triton kernel where there is one for it, else the torch twin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from kernels import choice, commit, mlp, qkv, streams, verify
from kernels.choice import Choice, Listed
from kernels.launch import gpu_of


class Ops(NamedTuple):
    """Signatures and meaning are the twins'."""

    qkv: Callable[..., Tensor]
    attend: Callable[..., Tensor]
    project: Callable[..., Tensor]
    gate_up: Callable[..., Tensor]
    choose: Callable[..., Choice]
    commit: Callable[..., None]
    list_masked: Callable[..., Listed]
    verify: Callable[..., None]


TWINS = Ops(qkv.qkv, streams.attend, mlp.project, mlp.gate_up, choice.choose, commit.commit, commit.list_masked, verify.verify)


def ops_for(device: torch.device, *, dependent: bool = True) -> Ops:
    """Asked once, when a model is loaded. `dependent`: with dependent launch, where the chip has it."""
    gpu = gpu_of(device)
    if gpu is None:
        return TWINS
    gpu = gpu._replace(dependent=gpu.dependent and dependent)
    # Only here, since Triton takes its time to load and is not everywhere.
    from kernels.gpu import attention as gpu_attention
    from kernels.gpu import choice as gpu_choice
    from kernels.gpu import commit as gpu_commit
    from kernels.gpu import mlp as gpu_mlp
    from kernels.gpu import projection as gpu_projection
    from kernels.gpu import qkv as gpu_qkv
    from kernels.gpu import verify as gpu_verify

    return Ops(
        partial(gpu_qkv.qkv, gpu),
        partial(gpu_attention.attend, gpu),
        partial(gpu_projection.project, gpu),
        partial(gpu_mlp.gate_up, gpu),
        partial(gpu_choice.choose, gpu),
        partial(gpu_commit.commit, gpu),
        partial(gpu_commit.list_masked, gpu),
        partial(gpu_verify.verify, gpu),
    )

"""The optimiser's step over float32 masters, and the state that a run can be taken up from. Knows no data and no schedule in time.

Imports torch only, so that a machine without the rest can train.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.training.base import adapter_names
from engine.training.blocks import Batch
from engine.training.objective import Losses, Objective


@dataclass(frozen=True, kw_only=True)
class OptimiserRules:
    """The rate rises, stays, and falls only when a decay is asked for, so that a run may be stopped at any time."""

    peak: float = 1e-3
    warm_up: int = 100
    decay_from: int | None = None  # the step at which the fall begins
    decay_steps: int = 0
    betas: tuple[float, float] = (0.9, 0.99)
    clip: float = 1.0
    average: float = 0.998  # of the running mean of the weights, per step

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        rate = self.peak * min(1.0, (step + 1) / self.warm_up)
        if self.decay_from is not None and step >= self.decay_from:
            share = min(1.0, (step + 1 - self.decay_from) / self.decay_steps)
            rate *= 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share))
        return rate


class Trainer:
    """Masters, their copies in the base's dtype, their running mean, and the optimiser."""

    def __init__(self, objective: Objective, adapter: Mapping[str, Tensor], rules: OptimiserRules, positions: int = 0) -> None:
        self.objective, self.rules = objective, rules
        self.step_number, self.positions = 0, positions
        self.device, dtype = objective.base.norm.device, objective.base.norm.dtype
        self.names = adapter_names(objective.base.shape)
        self.masters = [adapter[name].detach().float().clone().to(self.device).requires_grad_() for name in self.names]
        self.mean = [master.detach().clone() for master in self.masters]
        self._leaves = [master.detach().to(dtype, copy=True).requires_grad_() for master in self.masters]
        self._optimiser = torch.optim.AdamW(self.masters, lr=rules.peak, betas=rules.betas, weight_decay=0.0, fused=True)

    def step(self, batch: Batch) -> tuple[Losses, float]:
        """One step on one batch. Gives its losses and the gradient's norm."""
        losses = self.objective(dict(zip(self.names, self._leaves, strict=True)), batch)
        losses.total.backward()
        for master, leaf in zip(self.masters, self._leaves, strict=True):
            assert leaf.grad is not None
            master.grad = leaf.grad.float()
            leaf.grad = None
        norm = torch.nn.utils.clip_grad_norm_(self.masters, self.rules.clip)
        for group in self._optimiser.param_groups:
            group["lr"] = self.rules.rate(self.step_number)
        self._optimiser.step()
        self.step_number += 1
        self.positions += batch.ids.shape[0]
        with torch.no_grad():
            # The mean of a young run follows faster, so that it does not hold on to the start.
            keep = min(self.rules.average, self.step_number / (self.step_number + 10))
            torch._foreach_lerp_(self.mean, self.masters, 1 - keep)
            torch._foreach_copy_(self._leaves, self.masters)
        return losses, float(norm)

    def adapter(self, *, averaged: bool) -> dict[str, Tensor]:
        """The masters or their running mean, by name."""
        return dict(zip(self.names, self.mean if averaged else [master.detach() for master in self.masters], strict=True))

    def save(self, path: Path) -> None:
        """Write the whole state; a reader finds the old file or the new one, never half of it."""
        state = {
            "step": self.step_number,
            "positions": self.positions,
            "masters": [master.detach() for master in self.masters],
            "mean": self.mean,
            "optimiser": self._optimiser.state_dict(),
        }
        part = path.with_suffix(".part")
        torch.save(state, part)
        part.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a saved state. Tensors that it lacks, the last ones, keep their start values and a fresh optimiser's state."""
        state: dict[str, Any] = torch.load(path, map_location=self.device, weights_only=True)
        self.step_number, self.positions = state["step"], state["positions"]
        known = len(state["masters"])
        with torch.no_grad():
            torch._foreach_copy_(self.masters[:known], state["masters"])
            torch._foreach_copy_(self.mean[:known], state["mean"])
            torch._foreach_copy_(self._leaves, self.masters)
        (group,) = state["optimiser"]["param_groups"]
        group["params"] = list(range(len(self.masters)))
        self._optimiser.load_state_dict(state["optimiser"])

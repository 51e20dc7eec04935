"""On what a kernel is started, and how. Knows chips and no op; loads no Triton."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch

log = logging.getLogger(__name__)

Start = Callable[..., None]
_OLDEST = 80  # bfloat16 in the matrix units, and copies that do not wait
DEPENDENT_SINCE = 90  # kernels that are set up before their turn


def run(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
    """Start a kernel now, on the current stream."""
    kernel[grid](*arguments, **options)


class Gpu(NamedTuple):
    """A chip, and the way to start a kernel on it: at once, or only to compile it (`kernels.ahead`)."""

    capability: int  # 90 for sm_90
    processors: int  # multiprocessors
    start: Start = run
    dependent: bool = False  # a kernel is set up while the one before it still runs, and waits inside for its end (`kernels.gpu.turn`)

    def launch(self, kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
        """Start one of our kernels: all of them take DEPENDENT, and wait for their turn first."""
        if self.dependent:
            options["launch_pdl"] = True
        self.start(kernel, grid, *arguments, DEPENDENT=self.dependent, **options)


@cache
def gpu_of(device: torch.device) -> Gpu | None:
    """The chip that Triton kernels run on for tensors of `device`; None where the twins do it, with a log line if there is a GPU."""
    if device.type != "cuda":
        return None
    properties = torch.cuda.get_device_properties(device)
    capability = 10 * properties.major + properties.minor
    if importlib.util.find_spec("triton") is None:
        log.warning("no Triton here (pip install mercury-lsp[gpu]): %s runs plain torch", properties.name)
        return None
    if capability < _OLDEST:
        log.warning("%s is older than the kernels know: it runs plain torch", properties.name)
        return None
    return Gpu(capability, properties.multi_processor_count, dependent=capability >= DEPENDENT_SINCE)

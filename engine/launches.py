"""Launches on a device and what each of them told, read without making the device wait. Knows no model and no ids."""

from __future__ import annotations

import time
from collections import deque

import torch
from torch import Tensor

from kernels.graphs import Call


class Launches:
    """A few launches ahead of the host, so that the device has the next one when one is done.

    `told` is what a launch leaves for the host. A copy of it goes to pinned memory behind each launch; the host polls for its arrival.
    Without a GPU a launch is done when `launch` returns, and none is ahead.
    """

    def __init__(self, call: Call, told: Tensor, ahead: int = 2) -> None:
        self._call, self._told = call, told
        on_gpu = told.device.type == "cuda"
        self.ahead = ahead if on_gpu else 1
        self._places = [torch.empty_like(told, device="cpu", pin_memory=on_gpu) for _ in range(self.ahead)]
        self._events = [torch.cuda.Event() if on_gpu else None for _ in range(self.ahead)]
        self._flying: deque[int] = deque()  # places, the oldest launch first
        self._next = 0

    @property
    def flying(self) -> int:
        """Launches whose word was not asked for."""
        return len(self._flying)

    def forget(self) -> None:
        """What is still under way belongs to nobody. It ends before anything launched later begins."""
        self._flying.clear()

    def launch(self) -> None:
        assert self.flying < self.ahead
        place, self._next = self._next, (self._next + 1) % self.ahead
        self._call()
        self._places[place].copy_(self._told, non_blocking=True)
        event = self._events[place]
        if event is not None:
            event.record()
        self._flying.append(place)

    def landed(self) -> Tensor:
        """What the oldest launch told, on the host, until the next `launch`; waits for it, other threads going on meanwhile."""
        place = self._flying.popleft()
        event = self._events[place]
        while event is not None and not event.query():
            time.sleep(0)
        return self._places[place]

"""The task to simplify, in every language that has detours. Knows no token."""

from __future__ import annotations

import random

from engine.training.syntax import Source
from engine.training.tasks import brace_detours, python_detours, python_loops, script_detours
from engine.training.tasks.roundabout import simplify_with
from engine.training.tasks.task import Task

_DETOURS = python_detours.DETOURS + python_loops.DETOURS + brace_detours.DETOURS + script_detours.DETOURS


def simplify(source: Source, rng: random.Random) -> Task | None:
    """Rows of code that was made roundabout; rarely code that is simple already, where nothing is to change."""
    return simplify_with(source, _DETOURS, rng)

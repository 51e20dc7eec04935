"""A race as a picture: time against what was written. Needs matplotlib, which only this benchmark's environment has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot

from benchmarks.race import Outcome

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#999999")  # told apart by readers who see colours otherwise
matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "race"  # the same picture for the same figures


def draw(outcomes: Mapping[str, Sequence[Sequence[Outcome]]], title: str, path: Path) -> None:
    """Write an SVG: a dot a text, and each writer's straight line through its dots."""
    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    for colour, (name, goals) in zip(_COLOURS, outcomes.items(), strict=False):
        dots = [each for goal in goals for each in goal]
        tokens, times = np.array([each.tokens for each in dots]), np.array([each.ms for each in dots])
        axes.scatter(tokens, times, s=10, alpha=0.45, color=colour, linewidths=0)
        if len(set(tokens.tolist())) > 1:
            slope, start = np.polyfit(tokens, times, 1)
            ends = np.array([tokens.min(), tokens.max()])
            axes.plot(ends, start + slope * ends, color=colour, label=f"{name}: {slope:.1f} ms a token")
    axes.set(xlabel="tokens written", ylabel="milliseconds, the prompt being warm", title=title, xlim=(0, None), ylim=(0, None))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)

"""The graph's library, without the package that tells its makers how their tools are used. Everything here imports it from this module."""

from __future__ import annotations

import sys

# It is only used by tools that we do not run, and has a substitute of its own. An editor's server has no business importing it.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino  # noqa: E402
from openvino import opset15 as ops  # noqa: E402

__all__ = ["openvino", "ops"]

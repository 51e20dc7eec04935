"""The default model, once a test run, in float32: the dtype in which equalities are exact."""

import pytest

from engine.api import EngineConfig
from engine.engine import LocalEngine


@pytest.fixture(scope="session")
def engine() -> LocalEngine:
    return LocalEngine.load(EngineConfig(dtype="float32", threads=1))

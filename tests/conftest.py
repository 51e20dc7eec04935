"""How many cases a property is tried on: `make test-properties` tries 12,000 each, in four minutes on two busy cores. No deadline: machines
are busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("usual", max_examples=300, deadline=None)
settings.register_profile("thorough", max_examples=12_000, deadline=None)
settings.load_profile("usual")

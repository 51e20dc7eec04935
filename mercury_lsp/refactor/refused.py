"""Why a refactoring is not done. Knows no protocol."""

from __future__ import annotations


class Refused(Exception):
    """`str()` is one sentence for the user: what stands in the way. Nothing was changed."""

"""How often each way to tell a next edit was right: counted, not set. Knows no edit.

Counted on repositories that nothing was written or fitted for, 2026-11-30 (`bench-next-edit --data`, `--commits`, the table "By way"): 240
edits made to held-out files, and 1,002 moments of their history. Ways that hardly come up there also count the project's own scenarios.
What a proposal is worth to the user is the chance that it is right: to weigh it with the keys that it saves found 2 of the scenarios' edits
fewer and none more elsewhere; only 7 of 238 moments had two to choose from.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple


class Count(NamedTuple):
    exact: int
    offered: int

    @property
    def chance(self) -> float:
        """That the next one is right, as likely as not before anything was counted."""
        return (self.exact + 1) / (self.offered + 2)


COUNTS = MappingProxyType(
    {
        "rename": Count(60, 76),  # of the moments of history 12 of 28
        "rename elsewhere": Count(1, 1),  # scenarios
        "signature": Count(10, 11),
        "signature by name": Count(11, 13),
        "signature elsewhere": Count(1, 1),  # scenarios
        "kept": Count(1, 1),  # scenarios
        "repeat": Count(26, 35),
        "repeat around": Count(4, 4),
        "repeat loose": Count(0, 1),
        "repeat behind": Count(5, 10),  # where somebody came from who changes one line after the other
        "line put in": Count(2, 2),  # one of them a scenario
        "line taken out": Count(1, 1),  # a scenario
        "import, standard": Count(7, 7),  # six of them scenarios
        "import, as elsewhere": Count(3, 3),  # scenarios
        "import, found": Count(2, 2),  # tests
        "import gone": Count(44, 47),
        # No recorded history has diagnostics. Counted are the cases of the tests.
        "diagnostic, renamed": Count(1, 1),
        "diagnostic, meant": Count(2, 2),
        "diagnostic, missing": Count(2, 2),
    }
)
# What is left of a chance with each thing that was done since its cause. In history 36 of 97 edits were right that followed from the last
# thing, then 10 of 20, 2 of 10, 1 of 6, 0 of 2.
FADING = 0.8


def chance(way: str) -> float:
    """That an edit told in this way is what the user makes next."""
    return COUNTS[way].chance

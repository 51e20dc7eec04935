"""Where the first change of a text that is being rewritten ends: the rest is then known without being written. Knows no token."""

from __future__ import annotations

_LEAST_LETTERS = 4  # of the lines that follow a change: two that only close brackets stand anywhere


def first_change(region: str, text: str, lines: int) -> str | None:
    """The region with only the first change of `text`, its new text so far; None until `lines` whole lines of the region follow that."""
    old, new = region.split("\n"), text.split("\n")[:-1]
    first = next((row for row, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    if first is None or len(new) < first + lines:
        return None
    tail = new[-lines:]
    if sum(len(line.strip()) for line in tail) < _LEAST_LETTERS:
        return None
    for end in range(first + lines, len(old) + 1):
        if old[end - lines : end] == tail:
            return "\n".join([*new, *old[end:]])
    return None

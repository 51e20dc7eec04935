"""Two versions of a text to the edits between them, as the model is told of them. Knows no token, no file and no clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from engine.api import PastEdit

# Characters of a diff. The smallest layout in use gives the whole history 85 tokens of some 3 characters, and a piece that does not fit
# whole is left out; more than this says little more.
LONGEST_DIFF = 240
_LONGEST_LINE = 120
_COMPARED = 400  # changed lines beyond which a window is one edit: it was pasted or generated, and comparing takes long
_NEAR = 1  # unchanged lines that do not part two edits


def past_edits(path: str, before: str, after: str) -> tuple[PastEdit, ...]:
    """The edits that lead from `before` to `after`, from top to bottom. Changes with at most one line between them are one edit.

    Only the lines between the first and the last difference are compared, so that a keystroke in a long file costs next to nothing.
    """
    old, new = before.split("\n"), after.split("\n")
    first, last = _same_ends(old, new)
    edits = []
    for low, high, new_low, new_high in _changed_runs(old[first : len(old) - last], new[first : len(new) - last]):
        above = old[first + low - 1] if first + low else None
        edits.append(past_edit(path, old[first + low : first + high], new[first + new_low : first + new_high], above=above))
    return tuple(edits)


def past_edit(path: str, removed: Sequence[str], added: Sequence[str], *, above: str | None = None) -> PastEdit:
    """The edit that puts the lines `added` in place of `removed`; `above` is the unchanged line before them, shown where it fits."""
    lines = _signed(removed, added)
    if above is not None and above.strip():
        lines = [f" {above[:_LONGEST_LINE]}", *lines]
    if sum(map(len, lines)) + len(lines) > LONGEST_DIFF:
        lines = _cut(removed, added)
    return PastEdit(path, "\n".join(lines))


def _signed(removed: Sequence[str], added: Sequence[str]) -> list[str]:
    """Diff lines, those that both have unsigned."""
    lines: list[str] = []
    for tag, low, high, new_low, new_high in _opcodes(removed, added):
        if tag == "equal":
            lines += [f" {line}" for line in removed[low:high]]
        else:
            lines += [f"-{line}" for line in removed[low:high]] + [f"+{line}" for line in added[new_low:new_high]]
    return [line[:_LONGEST_LINE] for line in lines]


def _cut(removed: Sequence[str], added: Sequence[str]) -> list[str]:
    """The first changed lines of both sides. What one leaves of its half is the other's; a side that has lines shows one at least."""
    lines = _signed(removed, added)
    gone, came = ([line for line in lines if line[0] == sign] for sign in "-+")
    kept_gone = _first_that_fit(gone, max(LONGEST_DIFF // 2, LONGEST_DIFF - sum(len(line) + 1 for line in came)))
    return kept_gone + _first_that_fit(came, LONGEST_DIFF - sum(len(line) + 1 for line in kept_gone))


def _first_that_fit(lines: Sequence[str], room: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0 and kept:
            break
        kept.append(line)
    return kept


def _same_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same at the start, and of the rest at the end."""
    least = min(len(old), len(new))
    first = next((place for place in range(least) if old[place] != new[place]), least)
    last = next((place for place in range(least - first) if old[-1 - place] != new[-1 - place]), least - first)
    return first, last


def _changed_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """(first, last, first new, last new) of each run of changed lines, runs near each other joined."""
    runs: list[tuple[int, int, int, int]] = []
    for tag, low, high, new_low, new_high in _opcodes(old, new):
        if tag == "equal":
            continue
        if runs and low - runs[-1][1] <= _NEAR:
            runs[-1] = (runs[-1][0], high, runs[-1][2], new_high)
        else:
            runs.append((low, high, new_low, new_high))
    return runs


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    if not old and not new:
        return iter(())
    if len(old) > _COMPARED or len(new) > _COMPARED:
        return iter([("replace", 0, len(old), 0, len(new))])
    return iter(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())

"""Texts before and after to diffs as the model reads them."""

from __future__ import annotations

import pytest

from engine.edits import LONGEST_DIFF, past_edit, past_edits


def diffs(before: str, after: str) -> list[str]:
    return [edit.diff for edit in past_edits("a.py", before, after)]


def test_a_changed_line_has_the_line_above_it() -> None:
    before = "import os\n\n\ndef area(w, h):\n    return w * h\n"
    assert diffs(before, before.replace("w * h", "abs(w * h)")) == [" def area(w, h):\n-    return w * h\n+    return abs(w * h)"]
    assert past_edits("a.py", before, before + "x = 1\n")[0].path == "a.py"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\nb\nc", "a\nc", [" a\n-b"]),
        ("a\nc", "a\nb\nc", [" a\n+b"]),
        ("a\nb", "x\nb", ["-a\n+x"]),  # nothing is above the first line
        ("\nb", "\nc", ["-b\n+c"]),  # a blank line tells nothing
        ("a\nb\nc\nd\ne", "a\nB\nc\nD\ne", [" a\n-b\n+B\n c\n-d\n+D"]),  # near each other: one edit
        ("a\nb\nc\nd\ne\nf", "a\nB\nc\nd\nE\nf", [" a\n-b\n+B", " d\n-e\n+E"]),
        ("a", "a", []),
        ("", "a", ["-\n+a"]),
        ("a\na\na", "a\na", [" a\n-a"]),
    ],
)
def test_diffs(before: str, after: str, expected: list[str]) -> None:
    assert diffs(before, after) == expected


def test_a_long_edit_shows_the_first_lines_of_both_sides() -> None:
    removed, added = ([f"    {side}_{number} = compute({number})" for number in range(40)] for side in ("old", "new"))
    diff = past_edit("a.py", removed, added, above="def f():").diff
    assert diff.startswith("-    old_0") and "+    new_0" in diff and "def f" not in diff
    assert LONGEST_DIFF / 2 < len(diff) <= LONGEST_DIFF


def test_what_one_side_leaves_is_the_others() -> None:
    added = [f"    new_{number} = compute({number})" for number in range(40)]
    diff = past_edit("a.py", ["    old = 1"], added).diff
    assert diff.startswith("-    old = 1\n+    new_0") and len(diff) > 0.8 * LONGEST_DIFF


def test_a_keystroke_in_a_long_file_is_one_small_edit() -> None:
    lines = [f"line {number}" for number in range(50_000)]
    before = "\n".join(lines)
    lines[25_000] += "!"
    assert diffs(before, "\n".join(lines)) == [" line 24999\n-line 25000\n+line 25000!"]


def test_a_pasted_file_is_one_edit() -> None:
    assert len(diffs("", "\n".join(f"x{number}" for number in range(2_000)))) == 1

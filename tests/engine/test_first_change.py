"""Where the first change of a rewriting ends."""

from __future__ import annotations

import pytest

from engine.first_change import first_change

REGION = "a = one\nb = two\nc = three\nd = four\ne = five"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a = one\nb = 2\nc = three\nd = four\n", "a = one\nb = 2\nc = three\nd = four\ne = five"),  # replaced
        ("a = one\nb = two\nx = 1\nc = three\nd = four\n", "a = one\nb = two\nx = 1\nc = three\nd = four\ne = five"),  # put in
        ("a = one\nc = three\nd = four\n", "a = one\nc = three\nd = four\ne = five"),  # taken out
        ("a = one\nb = 2\nc = 3\nd = four\ne = five\n", "a = one\nb = 2\nc = 3\nd = four\ne = five"),  # two lines
        ("a = one\nb = two\nc = three\n", None),  # nothing changed
        ("a = one\nb = 2\nc = three\n", None),  # one line alone follows
        ("a = one\nb = 2\nc = three\nd = fo", None),  # the second is not whole
        ("a = one\nb = 2\nc = 3\nd = 4\ne = 5\n", None),  # it never comes back
    ],
)
def test_where_it_ends(text: str, whole: str | None) -> None:
    assert first_change(REGION, text, 2) == whole


def test_a_line_that_is_put_in_twice_is_no_end() -> None:
    assert first_change("first()\nsecond()\nthird()", "first()\nfirst()\nsecond()\n", 2) is None


def test_brackets_alone_do_not_end_it() -> None:
    assert first_change("a {\n}\n}\nb {\n}\n}\nc", "a [\n}\n}\n", 2) is None

"""Drafts from the text being rewritten."""

from __future__ import annotations

from engine.follow import Follow


def after(text: str, written: str, most: int = 4) -> str:
    """What a text of letters proposes after some were written."""
    follow = Follow([ord(letter) for letter in text])
    for letter in written:
        follow.add(ord(letter))
    ids, likely = follow.draft(most)
    assert len(ids) == len(likely) and likely == sorted(likely) and all(0 < one < 1 for one in likely)
    return "".join(map(chr, ids))


def test_it_goes_on_where_the_result_has_come_to() -> None:
    assert after("abcdefgh", "") == "abcd"
    assert after("abcdefgh", "abc") == "defg"
    assert after("abcdefgh", "abcdefg") == "h"
    assert after("abcdefgh", "abcdefgh") == ""


def test_it_is_silent_where_the_result_leaves_the_text_and_finds_it_again() -> None:
    assert after("abcdefgh", "abX") == ""
    assert after("abcdefgh", "abXY") == ""
    assert after("abcdefgh", "abXYc") == "defg"  # something was put in
    assert after("abcdefgh", "abXd") == "efgh"  # one id gave way to another
    assert after("abcdefgh", "abef") == "gh"  # something was left out
    assert after("abcdefgh", "abXYef") == "gh"  # several gave way


def test_it_goes_on_at_the_nearest_of_equal_places() -> None:
    assert after("-ab1-ab2-ab3", "-ab1-aX-ab") == "3"
    assert after("f(a)f(b)f(c)", "f(aX)f") == "(b)f"


def test_it_never_goes_back() -> None:
    assert after("abcabd", "abcab") == "d"

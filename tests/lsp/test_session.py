"""The text the server believes in is the client's text, whatever is edited where."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsp_client import CURSOR, URI, cut, utf16_length

from mercury_lsp import utf16
from mercury_lsp.params import Change, Position, Range
from mercury_lsp.session import Session, Snapshot

LETTERS = st.lists(st.sampled_from(["a", "é", "名", "😀", "\n", "\r", "\r\n", "\x0c", "\u2028", "\x85"]), max_size=12).map("".join)
SPOTS = st.tuples(st.integers(0, 8), st.integers(0, 9))
EDITS = st.lists(st.tuples(SPOTS, SPOTS, LETTERS), max_size=6)
Spot = tuple[int, int]


def opened(text: str) -> Session:
    session = Session()
    session.open(URI, "python", 1, text)
    return session


def snapshot(session: Session, line: int, character: int) -> Snapshot:
    taken = session.snapshot(URI, line, character)
    assert taken is not None
    return taken


def span(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    return Change(text, Range(Position(*start), Position(*end)))


def check(marked: str, before: str, after: str) -> None:
    """The client's text with its cursor → what the snapshot has on both sides."""
    text, line, character = cut(marked)
    taken = snapshot(opened(text), line, character)
    assert (taken.before, taken.after) == (before, after)


@pytest.mark.parametrize(
    ("marked", "before", "after"),
    [
        ("a‸b", "a", "b"),
        ("‸", "", ""),
        ("a\n‸", "a\n", ""),
        ("a\r\nb‸c\r\n", "a\nb", "c\n"),
        ("a\rb‸\rc", "a\nb", "\nc"),
        ("a\x0cb\u2028c‸d", "a\x0cb\u2028c", "d"),  # no line ends in an editor
        ('"😀"‸ + x', '"😀"', " + x"),
        ("名前 = ‸\n", "名前 = ", "\n"),
        ("\ufeffa‸b\n", "a", "b\n"),
        ("\ufeffa\nb‸c", "a\nb", "c"),
    ],
)
def test_snapshot(marked: str, before: str, after: str) -> None:
    check(marked, before, after)


@pytest.mark.parametrize(
    ("line", "character", "before"),
    [(0, 99, "ab"), (0, -1, ""), (-1, 3, ""), (9, 0, "ab\n😀"), (1, 1, "ab\n"), (1, 2, "ab\n😀"), (1, 99, "ab\n😀")],
)
def test_positions_outside_are_moved_inside(line: int, character: int, before: str) -> None:
    assert snapshot(opened("ab\n😀"), line, character).before == before


def test_a_byte_order_mark_counts_for_the_client_only() -> None:
    taken = snapshot(opened("\ufeffab😀c"), 0, 5)
    assert (taken.before, taken.column) == ("ab😀", 3)
    assert [taken.character_of(column) for column in range(5)] == [1, 2, 3, 5, 6]
    assert taken.column_of(5) == 3


def test_a_full_text_change_replaces_everything() -> None:
    session = opened("old\nold\n")
    session.change(URI, 2, [span((0, 0), (0, 3), "x"), Change("new")])
    assert snapshot(session, 0, 3).text == "new"
    session.change(URI, 3, [Change("newer", None)])
    assert snapshot(session, 0, 3).text == "newer"


def test_carriage_return_and_line_feed_meet_and_part() -> None:
    session = opened("a\nb")
    session.change(URI, 2, [span((0, 1), (0, 1), "\r")])
    assert snapshot(session, 1, 1).text == "a\nb"  # one CRLF now, still two lines
    session.change(URI, 3, [span((1, 0), (1, 0), "\n")])
    assert snapshot(session, 2, 1).before == "a\n\nb"


def test_a_uri_is_the_same_however_it_is_escaped() -> None:
    session = Session()
    session.open("file:///c%3A/a%20b.py", "python", 1, "x")
    assert session.snapshot("file:///c:/a b.py", 0, 0) is not None


@pytest.mark.parametrize("version", [2, 1, None])
def test_current_is_the_text_the_snapshot_was_taken_of(version: int | None) -> None:
    session = opened("a")
    taken = snapshot(session, 0, 0)
    assert session.is_current(taken)
    session.change(URI, version, [Change("b")])
    assert not session.is_current(taken)
    session.close(URI)
    assert not session.is_current(snapshot(opened("a"), 0, 0)) and session.snapshot(URI, 0, 0) is None


def offset_of(text: str, line: int, character: int) -> int:
    """Where the protocol says a position is, worked out on the whole text."""
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    if line >= len(starts):
        return len(text)
    end = re.compile(r"\r|\n|\Z").search(text, starts[line])
    assert end is not None
    for offset in range(starts[line], end.start() + 1):
        if utf16_length(text[starts[line] : offset]) > character:
            return offset - 1
    return end.start()


@given(LETTERS, EDITS, SPOTS)
def test_edits_agree_with_edits_of_the_whole_text(text: str, edits: list[tuple[Spot, Spot, str]], spot: Spot) -> None:
    session = opened(text)
    for start, end, new in edits:
        low, high = offset_of(text, *min(start, end)), offset_of(text, *max(start, end))
        session.change(URI, 2, [span(min(start, end), max(start, end), new)])
        text = text[:low] + new + text[high:]
    taken = snapshot(session, *spot)
    assert taken.text == re.sub("\r\n?", "\n", text)
    assert taken.before == re.sub("\r\n?", "\n", text[: offset_of(text, *spot)])


@given(LETTERS, st.integers(0, 30))
def test_columns(line: str, character: int) -> None:
    column = utf16.to_column(line, character)
    assert utf16.to_units(line, column) == utf16_length(line[:column]) <= character or column == 0
    assert column == len(line) or utf16_length(line[: column + 1]) > character


def test_the_marker_is_no_character_of_a_text() -> None:
    assert cut(f"a\r\n😀{CURSOR}b") == ("a\r\n😀b", 1, 2)

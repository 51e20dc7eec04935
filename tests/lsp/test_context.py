"""What the model may see: bounded, and with edges that stay put while somebody types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsp_client import URI, cut

from mercury_lsp.context import Trigger, infill_request, near_prefix, near_suffix, shown_path, wants_lines
from mercury_lsp.session import Document, Snapshot
from mercury_lsp.settings import Settings


def snapshot(marked: str) -> Snapshot:
    text, line, character = cut(marked)
    return Document(URI, "python", 1, text).snapshot(line, character)


@given(st.integers(0, 40_000), st.integers(1, 90))
def test_prefix_is_bounded_and_begins_a_line(length: int, width: int) -> None:
    before = (("x" * (width - 1) + "\n") * (length // width + 1))[:length]
    near = near_prefix(before)
    assert before.endswith(near) and min(length, 8192 - width) <= len(near) < 12_288
    assert near == before or before[: -len(near)].endswith("\n")


def test_prefix_edge_moves_in_steps() -> None:
    text = "".join(f"line {number}\n" for number in range(5_000))
    edges = [size - len(near_prefix(text[:size])) for size in range(20_000, 32_000)]
    assert len(set(edges)) <= 4


def test_one_endless_line_is_cut_all_the_same() -> None:
    assert len(near_prefix("x" * 50_000)) < 12_288 and len(near_suffix("x" * 50_000)) < 4_096


@given(st.integers(0, 20_000), st.integers(1, 90))
def test_suffix_is_bounded_and_ends_a_line(length: int, width: int) -> None:
    after = (("x" * (width - 1) + "\n") * (length // width + 1))[:length]
    near = near_suffix(after)
    assert after.startswith(near) and min(length, 2048 - width) <= len(near) < 4_096
    assert near == after or near.endswith("\n")


def test_suffix_edge_stays_while_the_cursor_moves() -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    edges = [start + len(near_suffix(text[start:])) for start in range(2_000)]
    assert len(set(edges)) <= 2


@pytest.mark.parametrize(
    ("path", "roots", "shown"),
    [
        ("/project/src/a.py", ["/project"], "src/a.py"),
        ("/project/src/a.py", ["/project", "/project/src"], "a.py"),
        ("/projects/a.py", ["/project"], "a.py"),
        ("Untitled-1", [], "Untitled-1"),
    ],
)
def test_path(path: str, roots: list[str], shown: str) -> None:
    assert shown_path(path, roots) == shown


@pytest.mark.parametrize(
    ("marked", "trigger", "several"),
    [
        ("def f():\n    ‸\n", "automatic", True),
        ("def f():‸\n", "automatic", True),
        ("if (x) {‸\n}", "automatic", True),
        ("x = ‸\n", "automatic", False),
        ("x = ‸\n", "explicit", True),
        ("f(‸)\n", "explicit", False),
        ("def ‸  \n", "automatic", False),
        ("x = 1\n‸\ny = 2", "automatic", True),
    ],
)
def test_when_several_lines_are_welcome(marked: str, trigger: Trigger, several: bool) -> None:
    assert wants_lines(snapshot(marked), trigger) is several
    assert infill_request(snapshot(marked), Settings(), trigger).multiline is several
    assert not infill_request(snapshot(marked), Settings(multiline=False), trigger).multiline


def test_only_automatic_requests_have_a_deadline() -> None:
    assert infill_request(snapshot("‸"), Settings(), "explicit").deadline is None
    assert infill_request(snapshot("‸"), Settings(), "automatic").deadline is not None


def test_half_a_surrogate_pair_never_reaches_a_tokenizer() -> None:
    taken = Document(URI, "python", 1, "a\ud83d\n\ude00").snapshot(1, 0)
    request = infill_request(taken, Settings(), "explicit")
    assert (request.prefix, request.suffix) == ("a?\n", "?")

"""What the model may see: bounded, and with edges that stay put while somebody types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsp_client import URI, cut

from engine.dedent import ended
from mercury_lsp import present
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


@pytest.mark.parametrize(
    ("marked", "language", "columns"),
    [
        ("def f():\n    ‸\n", "python", 4),
        ("def f():\n    if a:‸\n", "python", 4),
        ("class A:\n    def f():‸\n", "python", 5),
        ("def f():\n    if a:\n‸\n", "python", 5),
        ("def f():\n    if a:\n    ‸\n", "python", 5),
        ("def f():‸\n", "python", 1),
        ("if a:‸\n", "python", None),
        ("‸\n", "python", None),
        ('def f():\n    """A\n    ‸\n', "python", None),
        ("f() {\n  ‸\n}\n", "javascript", 2),
        ("f() {\n  if (a) {‸\n", "javascript", 2),
        ("f() {\n\tif a {\n‸\n", "go", 5),
        ("f() {\n\t‸\n", "go", 4),
        ("- a\n  - ‸\n", "markdown", None),
        ("if a\n  ‸\nend\n", "ruby", None),
    ],
)
def test_where_a_draft_has_left_the_block(marked: str, language: str, columns: int | None) -> None:
    text, line, character = cut(marked)
    taken = Document(URI, language, 1, text).snapshot(line, character)
    assert infill_request(taken, Settings(), "explicit").dedent == columns


@pytest.mark.parametrize(
    ("marked", "draft", "language"),
    [
        ("class A:\n    def f(self):‸\n", "\n        return 1\n\n    def g(self):\n        return 2\n", "python"),
        ("def f():\n    x = g(\n        ‸\n", "1,\n        2,\n    )\n    return x\n", "python"),
        ("def f():\n    if a:\n‸\n", "        b()\n    else:\n        c()\n", "python"),
        ("f() {\n  ‸\n", "a();\n  if (b) {\n    c();\n  } else {\n    d();\n  }\n}\ne();\n", "javascript"),
        ("f() {\n  if (a) {\n    ‸\n", "b();\n  } else {\n    c();\n  }\n  d();\n}\ne();\n", "javascript"),
        ("void f() {\n\t‸\n", "a();\n#if B\n\tb();\n#endif\n\tc();\n}\nd();\n", "c"),
    ],
)
def test_all_that_would_be_shown_survives_the_dedent(marked: str, draft: str, language: str) -> None:
    text, line, character = cut(marked)
    columns = infill_request(Document(URI, language, 1, text).snapshot(line, character), Settings(), "explicit").dedent
    assert columns is not None
    kept = draft[: ended(draft, columns)]
    assert kept != draft or language == "python"
    assert present.item(text, line, character, kept, language=language) == present.item(text, line, character, draft, language=language)


def test_only_automatic_requests_have_a_deadline() -> None:
    assert infill_request(snapshot("‸"), Settings(), "explicit").deadline is None
    assert infill_request(snapshot("‸"), Settings(), "automatic").deadline is not None


def test_half_a_surrogate_pair_never_reaches_a_tokenizer() -> None:
    taken = Document(URI, "python", 1, "a\ud83d\n\ude00").snapshot(1, 0)
    request = infill_request(taken, Settings(), "explicit")
    assert (request.prefix, request.suffix) == ("a?\n", "?")

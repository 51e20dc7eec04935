"""The last suggestion answers while what is typed agrees with it."""

from __future__ import annotations

from typing import Literal

import pytest
from lsp_client import CURSOR, URI

from engine.api import Draft
from mercury_lsp.reuse import Reuse


def draft(text: str, ended: Literal["end", "deadline"] = "end") -> Draft:
    return Draft(text=text, confidence=0.9, tokens=1, denoise_steps=1, forwards=1, prefill_tokens=0, latency_ms=1.0, ended=ended, model="m")


def match(reuse: Reuse, marked: str, **how: bool) -> str | None:
    before, _, after = marked.partition(CURSOR)
    found = reuse.match(URI, before, after, **how)
    return found.text if found else None


def remembering(
    marked: str, text: str, shown: str | None = None, *, multiline: bool = False, ended: Literal["end", "deadline"] = "end"
) -> Reuse:
    before, _, after = marked.partition(CURSOR)
    reuse = Reuse()
    reuse.remember(URI, before, after, multiline, draft(text, ended))
    reuse.show(URI, before, after, text if shown is None else shown)
    return reuse


def test_typing_along_and_back() -> None:
    reuse = remembering("retu‸\n", "rn total")
    assert match(reuse, "return t‸\n") == "otal"
    assert match(reuse, "retur‸\n") == "n total"
    assert match(reuse, "retu‸\n") == "rn total"


def test_a_draft_that_is_used_up_answers_nothing_but_is_still_there_to_go_back_to() -> None:
    reuse = remembering("a‸", "bc")
    assert match(reuse, "abc‸") is None
    assert match(reuse, "ab‸") == "c"


@pytest.mark.parametrize("marked", ["retry‸\n", "ret‸\n", "retu‸x\n", "return‸", "\nretu‸\n"])
def test_divergence_drops_it(marked: str) -> None:
    reuse = remembering("retu‸\n", "rn total")
    assert match(reuse, marked) is None
    assert match(reuse, "retu‸\n") is None


@pytest.mark.parametrize(
    ("start", "text", "now", "rest"),
    [
        ("print‸\n", "(x)", "print(‸)\n", "x"),
        ("a = ‸", '"b"', 'a = "‸"', "b"),
        ("‸;", "f(g(x), [y])", "f(g(‸));", "x"),
        ("‸;", "f(g(x), [y])", "f(g(x)‸);", ", [y]"),
        ("‸\n", "f(a); g(b)", "f(‸)\n", "a); g(b"),
        ("‸\n", "f(a); g", "f(‸)\n", "a"),
        ("‸\n", "f(a); g", "f(a‸)\n", ""),  # until it is typed over
        ("‸\n", "f(a); g", "f(a)‸\n", "; g"),
        ("‸\n", "if (a) {\n  b();\n}\nc();", "if (a) {\n  ‸\n}\n", "b();"),
        ("‸\n", "<b>x</b>", "<b>‸</b>\n", "x"),
        ("x.‸\n", "items[", "x.items[‸]\n", None),  # used up
        ("‸\n", 'a["b', 'a["‸"]\n', "b"),  # what it leaves open is closed already
        ("print‸\n", "(x)", "print(x)‸\n", None),
        ("print‸\n", "(x)", "print(‸]\n", None),
        ("print‸\n", "(x)", "print‸)\n", None),
        ("print‸\n", "(x)", "print(‸) + y\n", None),
    ],
)
def test_brackets_that_the_editor_closes(start: str, text: str, now: str, rest: str | None) -> None:
    assert match(remembering(start, text), now) == rest


@pytest.mark.parametrize(
    ("now", "rest"),
    [
        ("if a:\n‸", "    b\n\n    c\nd"),
        ("if a:\n  ‸", "  b\n\n    c\nd"),
        ("if a:\n        ‸", ""),  # deeper than it goes on, and only the user can take that back
        ("if a:\n    b\n    ‸", "\n    c\nd"),
        ("if a:\n    b\n    \n    ‸", "c\nd"),
        ("if a:\n    b\n\n    c\n    ‸", ""),
        ("if a:\n    b\n\n    c\n‸", "d"),
        ("if a:\n        b‸", None),
    ],
)
def test_lines_that_the_editor_indents(now: str, rest: str | None) -> None:
    assert match(remembering("if a:‸", "\n    b\n\n    c\nd"), now) == rest


def test_only_what_was_shown_counts() -> None:
    reuse = remembering("x = ‸", " 1 + 2\ny = 3", "1 + 2")
    assert match(reuse, "x = 1 ‸") == "+ 2"
    assert match(reuse, "x = 1 + 2‸") is None
    assert match(reuse, "x = ‸") == "1 + 2"
    assert match(reuse, "x =  1‸") is None


def partly(marked: str, text: str, shown: str) -> Reuse:
    """Of `text`, the draft, only the beginning was shown."""
    before, _, after = marked.partition(CURSOR)
    reuse = Reuse()
    reuse.remember(URI, before, after, False, draft(text))
    reuse.show(URI, before, after, shown, len(shown))
    return reuse


def test_what_was_left_out_comes_when_what_was_shown_is_used_up() -> None:
    reuse = partly("x = ‸", "foo(a, b)", "foo")
    assert match(reuse, "x = f‸") == "oo"
    found = reuse.match(URI, "x = foo", "")
    assert found is not None
    assert (found.text, found.start, found.shown) == ("(a, b)", 3, False)
    reuse.show(URI, "x = foo", "", "(a", 5)
    assert match(reuse, "x = foo(‸") == "a"
    found = reuse.match(URI, "x = foo(a, ", "")
    assert found is not None
    assert (found.text, found.start, found.shown) == ("b)", 7, False)
    assert match(reuse, "x = f‸") == "oo(a"  # and back through all that was shown
    assert match(reuse, "x = foo(a, b)‸") is None


def test_what_was_left_out_is_no_answer_to_who_asks_for_more() -> None:
    assert match(partly("x = ‸", "foo(a)", "foo"), "x = f‸", complete=True) is None
    assert match(partly("x = ‸", "foo(a)", "foo(a)"), "x = f‸", complete=True) == "oo(a)"


def test_what_was_left_out_goes_up_to_the_closer_that_the_editor_puts_there() -> None:
    assert match(partly("x = ‸", "foo(a)", "foo"), "x = foo(‸)") == "a"


def test_a_draft_of_which_nothing_was_shown_is_there_still() -> None:
    reuse = Reuse()
    reuse.remember(URI, "x = ", "", False, draft("f(1"))
    found = reuse.match(URI, "x = f", "")
    assert found is not None and found.text == "(1" and not found.shown
    assert match(reuse, "x = f(‸)") == "1"
    assert match(reuse, "x = f‸", complete=True) is None
    assert match(reuse, "x = f(2‸)") is None


def test_who_asks_for_more_gets_no_hurried_draft() -> None:
    assert match(remembering("a‸", "bc", ended="deadline"), "a‸", complete=True) is None
    assert match(remembering("a‸", "bc", ended="deadline"), "a‸") == "bc"
    assert match(remembering("a‸", "bc"), "a‸", complete=True, multiline=True) is None
    assert match(remembering("a‸", "bc", multiline=True), "a‸", complete=True, multiline=True) == "bc"


def test_documents_are_apart() -> None:
    reuse = remembering("a‸", "bc")
    assert reuse.match("file:///other.py", "a", "") is None
    reuse.forget(URI)
    assert match(reuse, "a‸") is None

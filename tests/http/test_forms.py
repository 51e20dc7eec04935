"""Prompts of next-edit models, read and answered in their own form; and snippets laid over code."""

from __future__ import annotations

import asyncio

import pytest

from engine.api import RewriteRequest
from engine.serving.requests import Facts, Passage, Usage, Work
from mercury_lsp.http.answers import Answer
from mercury_lsp.http.applying import applied
from mercury_lsp.http.forms import form, unified
from mercury_lsp.http.rewriting import around_cursor, rewritten

ZETA_2 = """<[fim-suffix]>
after()
<[fim-prefix]><filename>lib.py
def helper(): ...
<filename>edit_history
--- a/main.py
+++ b/main.py
@@ -1,2 +1,2 @@
-old()
+new()

<filename>main.py
before()
<<<<<<< CURRENT
one = <|user_cursor|>1
two = 2
=======
<[fim-middle]>"""

ZETA_2_1 = """<[fim-suffix]>
after()
<[fim-prefix]><filename>edit_history
<filename>main.py
before()
<|marker_1|>
one = 1
<|marker_2|>
two = <|user_cursor|>2
<|marker_3|>
<[fim-middle]>"""

SWEEP = """<|file_sep|>lib.py
def helper(): ...
<|file_sep|>main.py.diff
original:
old()
updated:
new()
<|file_sep|>original/main.py
one = 0
two = 2
<|file_sep|>current/main.py
one = 1
two = 2
<|file_sep|>updated/main.py
"""


def test_zeta_2() -> None:
    found = form(ZETA_2)
    assert found is not None
    asked = found.request
    assert (asked.region, asked.cursor, asked.path) == ("one = 1\ntwo = 2", 6, "main.py")
    assert (asked.prefix, asked.suffix) == ("before()\n", "\nafter()\n")
    assert [(edit.path, edit.diff) for edit in asked.history] == [("main.py", "-old()\n+new()")]
    assert [(piece.path, piece.text) for piece in asked.related] == [("lib.py", "def helper(): ...")]
    assert found.said("one = 1\ntwo = 3") == "one = 1\ntwo = 3\n>>>>>>> UPDATED\n"
    assert found.said(asked.region) == "NO_EDITS\n>>>>>>> UPDATED\n"


def test_zeta_2_1() -> None:
    found = form(ZETA_2_1)
    assert found is not None
    assert (found.request.region, found.request.cursor, found.request.prefix) == ("one = 1\ntwo = 2", 14, "before()\n")
    assert found.request.suffix == "\nafter()\n"
    assert found.said("one = 9\ntwo = 2") == "<|marker_1|>\none = 9\ntwo = 2\n<|marker_3|>\n<[end▁of▁sentence]>"
    assert found.said(found.request.region) == "NO_EDITS<[end▁of▁sentence]>"


def test_sweep() -> None:
    found = form(SWEEP)
    assert found is not None
    assert (found.request.region, found.request.path) == ("one = 1\ntwo = 2", "main.py")
    assert [edit.diff for edit in found.request.history] == ["-old()\n+new()"]
    assert [(piece.path, piece.text) for piece in found.request.related] == [("lib.py", "def helper(): ...")]
    assert found.said("one = 1\ntwo = 3") == "one = 1\ntwo = 3\n"


def test_sweeps_original_is_history_where_no_diff_is_told() -> None:
    found = form("<|file_sep|>original/a.py\nx = 0\n<|file_sep|>current/a.py\nx = 1\n<|file_sep|>updated/a.py\n")
    assert found is not None and [edit.diff for edit in found.request.history] == ["-x = 0\n+x = 1"]


@pytest.mark.parametrize("prompt", ["", "def f(", "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>", "<[fim-suffix]>x", "<|file_sep|>a.py\n"])
def test_what_is_of_no_form(prompt: str) -> None:
    assert form(prompt) is None


def test_hunks_are_edits_and_what_was_accepted_is_not_text() -> None:
    first = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n keep\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"
    diff = first + "// User accepted prediction:\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n+e\n"
    assert [(edit.path, edit.diff) for edit in unified(diff)] == [("x.py", " keep\n-a\n+b"), ("x.py", "-c\n+d"), ("y.py", "+e")]


@pytest.mark.parametrize(
    ("chars", "expected"),
    [(1, ("a\nbb\n", "ccc", "\nd")), (5, ("a\nbb\n", "ccc\nd", "")), (8, ("a\n", "bb\nccc\nd", "")), (100, ("", "a\nbb\nccc\nd", ""))],
)
def test_a_region_is_cut_to_whole_lines_around_the_cursor(chars: int, expected: tuple[str, str, str]) -> None:
    assert around_cursor("a\nbb\nccc\nd", 6, chars) == expected


CODE = "import os\n\ndef first():\n    return 1\n\ndef second():\n    x = 2\n    return x\n"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def second():\n    x = 3\n    return x", CODE.replace("x = 2", "x = 3")),
        ("# ... existing code ...\ndef second():\n    x = 2\n    x += 1\n    return x", CODE.replace("x = 2\n", "x = 2\n    x += 1\n")),
        (
            "import os\nimport sys\n// ...\ndef first():\n    return 2\n...\n",
            CODE.replace("import os\n", "import os\nimport sys\n").replace("return 1", "return 2"),
        ),
        ("def first():\n    return 2", CODE.replace("return 1", "return 2")),
        ("def first():\n    return x", CODE.replace("return 1", "return x")),  # a line that another function has, too
        ("def first():\n    log()\n    # ...\n# ...", CODE.replace("first():\n", "first():\n    log()\n")),
        ("def second(y):\n    x = 2\n    return x + y", CODE.replace("second()", "second(y)").replace("return x", "return x + y")),
        ("whole = 'new'", "whole = 'new'"),
        ("# ... rest ...\nnowhere_to_be_found()\n# ...", None),
    ],
)
def test_a_snippet_takes_the_place_of_the_lines_it_shares(snippet: str, expected: str | None) -> None:
    assert applied(CODE, snippet) == expected


BRACES = "function f() {\n  return 1;\n}\n\nfunction g(x) {\n  const y = x;\n  return y;\n}\n"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("function f() {\n  return 2;\n}", BRACES.replace("return 1", "return 2")),
        ("// ...\nfunction g(x) {\n  return 2;\n}\n", BRACES.replace("  const y = x;\n  return y;", "  return 2;")),
        ("// ...\nfunction g(x) {\n  const y = x;\n  log(y);\n  // ...\n}\n", BRACES.replace("= x;\n", "= x;\n  log(y);\n")),
    ],
)
def test_a_block_that_is_shown_is_replaced_to_its_end(snippet: str, expected: str) -> None:
    assert applied(BRACES, snippet) == expected


@pytest.mark.parametrize(
    ("original", "snippet", "expected"),
    [
        ("a = 1\nb = 2\nc = 3", "a = 1\nc = 3", None),  # a line left out, or two that were not shown?
        ("a = 1\nb = 2\nc = 3", "a = 1\n# ...\nc = 4", None),
        ("def f(a):\n    x = a\n    return x", "    return x + 1", None),  # a part, not the file
        ("    a = 1\n    b = 2", "    a = 2", "    a = 2"),
        ("def f(a):\n    x = a\n    y = a\n    return x", "def f(a):\n    x = a\n    return x", "def f(a):\n    x = a\n    return x"),
    ],
)
def test_no_line_is_doubled_and_no_file_replaced_by_a_part(original: str, snippet: str, expected: str | None) -> None:
    assert applied(original, snippet) == expected


def test_what_may_be_all_of_a_block_or_an_addition_is_not_guessed() -> None:
    assert applied("class A:\n    x = 1\n\n    def f(self):\n        return 1\n", "class A:\n    x = 1\n    y = 2\n") is None


@pytest.mark.parametrize(
    ("region", "written", "expected"),
    [
        ("a\r\nb\r\nc", "a\nx\nc", "a\r\nx\r\nc"),
        ("a\r\nb\nc", "a\nb\nc", "a\r\nb\nc"),  # nothing is to change
        ("a\nb", "a\nx", "a\nx"),
        ("a", "a\nb", "a\nb"),
    ],
)
def test_a_region_keeps_its_line_ends_and_the_model_sees_others(region: str, written: str, expected: str) -> None:
    asked: list[RewriteRequest] = []

    async def ask(work: Work) -> Answer:
        assert isinstance(work.task, RewriteRequest)
        asked.append(work.task)
        return Answer(written, "end", Usage(prompt_tokens=1, completion_tokens=1))

    request = RewriteRequest(prefix="p\r\n", region=region, suffix="\r\ns", cursor=len(region))
    facts = Facts(model="m", context=1024, converses=False, rewrites=True, rewrite_chars=1000)
    text, _ = asyncio.run(rewritten(request, facts, Work(task=Passage("")), ask))
    assert text == expected
    assert "\r" not in asked[0].prefix + asked[0].region + asked[0].suffix and asked[0].cursor == len(asked[0].region)

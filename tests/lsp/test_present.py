"""Presentation: a document with the cursor at `‸` and a raw draft in, the document after accepting out."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercury_lsp import indent, present, syntax


def at_cursor(marked: str) -> tuple[str, int, int]:
    left, right = marked.split("‸")
    return left + right, left.count("\n"), len(left.rpartition("\n")[2])


def accept(text: str, item: present.Item) -> str:
    lines = text.split("\n")
    lines[item.line] = lines[item.line][: item.start] + item.insert_text + lines[item.line][item.end :]
    return "\n".join(lines)


def shown(marked: str, draft: str, language: str = "python", style: indent.Style | None = None) -> str | None:
    text, line, column = at_cursor(marked)
    item = present.item(text, line, column, draft, language=language, style=style)
    return None if item is None else accept(text, item)


def check(marked: str, draft: str, after: str | None, language: str = "python") -> None:
    assert shown(marked, draft, language) == after


# ------------------------------------------------------------------------------------------------ what is right of the cursor


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("print(‸)\n", "len(x))", "print(len(x))\n", "python"),
        ("f(a, ‸)\n", "b)", "f(a, b)\n", "python"),
        ("x = {‸}\n", '"a": 1}', 'x = {"a": 1}\n', "python"),
        ("f(g(h(‸)))\n", "1)))", "f(g(h(1)))\n", "python"),
        ("call(‸);\n", "a, b);", "call(a, b);\n", "javascript"),
        ("f(‸ )\n", "x)", "f(x )\n", "python"),
        ("use(‸);\n", "a[0]);", "use(a[0]);\n", "rust"),
    ],
)
def test_no_extra_closing_bracket_after_accept(marked: str, draft: str, after: str, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("x = '‸'\n", "it'", "x = 'it'\n", "python"),
        ('d["‸"]\n', 'key"]', 'd["key"]\n', "python"),
        ("s = `‸`;\n", "a ${b}`;", "s = `a ${b}`;\n", "javascript"),
        ('printf("‸");\n', '%d\\n", x);', None, "c"),  # the quote right of the cursor cannot stand in the middle of the draft
        ('f("‸")\n', 'say \\"hi\\""', 'f("say \\"hi\\"")\n', "python"),
    ],
)
def test_no_left_over_autopair_quote(marked: str, draft: str, after: str | None, language: str) -> None:
    assert shown(marked, draft, language) in (after, 'printf("%d\\n");\n')


@pytest.mark.parametrize(
    ("marked", "draft"),
    [("f(‸)", "x"), ("f(‸)", "x)"), ('f("‸")', 'a"'), ("{‸}", "a: 1"), ("if (a) {‸}", "\n  b();\n}"), ("f(‸, y)", "x")],
)
def test_the_closing_pair_stays_part_of_the_item(marked: str, draft: str) -> None:
    text, line, column = at_cursor(marked)
    item = present.item(text, line, column, draft, language="javascript")
    assert item is not None
    assert item.insert_text == text[:column] + item.completion + text[column:]
    assert (item.start, item.end) == (0, len(text))


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("foo(‸)\n", "bar()", "foo(bar())\n", "python"),
        ("foo(‸)\n", "[1, 2]", "foo([1, 2])\n", "python"),
        ("items.push(fn(‸)\n", "x)", "items.push(fn(x))\n", "javascript"),
        ("f(‸)\n", "x) + g(y)", "f(x) + g(y)\n", "python"),
        ("f(‸)\n", '")"', 'f(")")\n', "python"),
        ("print(‸)\n", '"a" + f("b")', 'print("a" + f("b"))\n', "python"),
        ("x = a[‸]\n", "b[0]", "x = a[b[0]]\n", "python"),
        ("f(‸)\n", "x) + g(y", "f(x) + g(y)\n", "python"),  # the one that is there closes the draft's own
        ("s.set('‸');\n", "a', 'b", "s.set('a', 'b');\n", "javascript"),
        ("x = d['‸']\n", "a'] + d['b", "x = d['a'] + d['b']\n", "python"),
    ],
)
def test_the_last_bracket_is_not_over_trimmed(marked: str, draft: str, after: str, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("return ‸ + 1\n", "x + 1", "return x + 1\n", "python"),
        ("foo(‸, b)\n", "a, b)", "foo(a, b)\n", "python"),
        ("def f(‸):\n    pass\n", "x, y):\n    return x", "def f(x, y):\n    pass\n", "python"),
        ("f(‸);\n", "x); g(y)", "f(x); g(y);\n", "javascript"),
        ("a = ‸a + 1\n", "banana", None, "python"),
        ("pri‸nt(x)\n", "nt(x)", None, "python"),
        ("return ‸if a else b\n", "x ", "return x if a else b\n", "python"),
        ("const a = <b>‸</b>;\n", "<i>x</i></b>;", "const a = <b><i>x</i></b>;\n", "javascript"),
        ('<img src="‸" alt="a">\n', 'x.png" alt="a">', '<img src="x.png" alt="a">\n', "html"),
    ],
)
def test_what_follows_on_the_line_is_not_repeated(marked: str, draft: str, after: str | None, language: str) -> None:
    check(marked, draft, after, language)


def test_the_closing_brace_moves_below_the_block() -> None:
    check("  if (a) {‸}\n", "\n    b();", "  if (a) {\n    b();\n  }\n", "javascript")


# ------------------------------------------------------------------------------------------------ what is below the cursor

BODY = "def f(x):\n    ‸\n    y = g(x)\n    return y\n"


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        (BODY, "x += 1\n    y = g(x)\n    return y", BODY.replace("‸", "x += 1"), "python"),
        (BODY, "x += 1\n    y = g(x)\n    retu", BODY.replace("‸", "x += 1"), "python"),
        (BODY, "x += 1\n\n    y = g(x)\n    print(y)", BODY.replace("‸", "x += 1"), "python"),
        ("def f():\n    ‸\n    b()\n    c()\n", "a()\n    b()\n    c()\n    d()", "def f():\n    a()\n    b()\n    c()\n", "python"),
        ("f = {\n    ‸\n    1,\n    2,\n    3,\n}\n", "0,\n    1,\n    2,\n    4,", "f = {\n    0,\n    1,\n    2,\n    3,\n}\n", "python"),
        (BODY, "y = g(x)\n    return y", None, "python"),
        (BODY, "y = g(x)", None, "python"),
        ("f() {\n  ‸\n}\n", "if (a) {\n    b();\n  }\n}", "f() {\n  if (a) {\n    b();\n  }\n}\n", "javascript"),
        ("a = [\n    1,\n    ‸\n]\n", "2,\n]", "a = [\n    1,\n    2,\n]\n", "python"),
        ("    ret‸\n    return x\n", "urn x", None, "python"),
    ],
)
def test_lines_below_are_not_repeated(marked: str, draft: str, after: str | None, language: str) -> None:
    check(marked, draft, after, language)


def test_a_brace_below_closes_what_it_always_closed() -> None:
    check("if (a) {\n‸\n}\n", "if (b) {\n}", "if (a) {\n  if (b) {\n}\n}\n".replace("  if", "if"), "c")


# ------------------------------------------------------------------------------------------------ indentation


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("def f():\n    ‸\n", "    return 1", "def f():\n    return 1\n", "python"),
        ("def f():\n    a = 1\n    ‸\n", "    b = 2\n    c = 3", "def f():\n    a = 1\n    b = 2\n    c = 3\n", "python"),
        ("def f():\n    a = 1\n    if a:\n        ‸\n", "            b()", "def f():\n    a = 1\n    if a:\n        b()\n", "python"),
    ],
)
def test_indentation_is_not_doubled(marked: str, draft: str, after: str, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("def f(x):\n    ‸\n", "if x:\n    return 1", "def f(x):\n    if x:\n        return 1\n", "python"),
        ("def f(x):\n    if x:\n        a()\n    ‸\n", "while x:\n        b()", None, "python"),
    ],
)
def test_indentation_is_not_lost(marked: str, draft: str, after: str | None, language: str) -> None:
    check(marked, draft, after or marked.replace("‸", draft), language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("def f():\n  if a:\n‸\n", "        b()\n        c()", "def f():\n  if a:\n    b()\n    c()\n", "python"),
        ("def f():\n  a()\n‸\n", "    b()\n    c()", "def f():\n  a()\n  b()\n  c()\n", "python"),
        ("def f():\n    a = 1\n    if a:\n‸\n", "return 1", "def f():\n    a = 1\n    if a:\n        return 1\n", "python"),
        ("class A:\n    x = 1\n\n    def f(self):\n  ‸\n", "pass", "class A:\n    x = 1\n\n    def f(self):\n        pass\n", "python"),
        ("func f() {\n\ta()\n\tif b {\n‸\n\t}\n}\n", "c()", "func f() {\n\ta()\n\tif b {\n\t\tc()\n\t}\n}\n", "go"),
    ],
)
def test_a_suggestion_comes_at_any_indentation(marked: str, draft: str, after: str, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("func f() {\n\tif a {\n\t\t‸\n\t}\n}\n", "b()\n        c()", "func f() {\n\tif a {\n\t\tb()\n\t\tc()\n\t}\n}\n", "go"),
        ("func f() {\n\t‸\n}\n", "if a {\n        b()\n    }", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "go"),
        ("func f() {\n\t‸\n}\n", "if a {\n  b()\n}", None, "go"),
        ("def f():\n    ‸\n", "if a:\n\t\tb()", "def f():\n    if a:\n        b()\n", "python"),
        ("function f() {\n  g();\n  ‸\n}\n", "a();\n    b();", "function f() {\n  g();\n  a();\n  b();\n}\n", "javascript"),
        ("function f() {\n  g();\n  ‸\n}\n", "a(\n    b);", "function f() {\n  g();\n  a(\n    b);\n}\n", "javascript"),
        (
            "void g() {\n\ta();\n}\n\n/* a\n   b ‸\n   c */\n",
            "d\n   e",
            "void g() {\n\ta();\n}\n\n/* a\n   b d\n   e\n   c */\n",
            "c",
        ),
        ("void g() {\n\ta();\n}\n\n/* a ‸\n */\n", "d\n    e", "void g() {\n\ta();\n}\n\n/* a d\n    e\n */\n", "c"),
        ("def f():\n    if a:\n \t‸\n", "b()", "def f():\n    if a:\n \t   b()\n", "python"),
        ('func f() {\n\tg("‸")\n}\n', 'a")\n    g("b")', 'func f() {\n\tg("a")\n\tg("b")\n}\n', "go"),
        ('func f() {\n\tg("a‸\n}\n', '\\"")\n    g("b")', 'func f() {\n\tg("a\\"")\n\tg("b")\n}\n', "go"),
        ("func f() {\n\tg(`‸\n`)\n}\n", "a\n    b", "func f() {\n\tg(`a\n    b\n`)\n}\n", "go"),
        ("/* a ‸\n*/\nvoid f() {\n\tg();\n}\n", "b */\nvoid h() {\n    g();\n}", None, "c"),
        ('s = """\n‸\n"""\n', "  a\n\tb", 's = """\n  a\n\tb\n"""\n', "python"),
    ],
)
def test_later_lines_indent_as_the_file_does(marked: str, draft: str, after: str | None, language: str) -> None:
    if after is None:
        text = shown(marked, draft, language)
        assert text is None or all(not line.startswith(" ") for line in text.split("\n"))
    else:
        check(marked, draft, after, language)


def test_a_file_without_indentation_takes_the_clients() -> None:
    draft = "def f():\n    return 1"
    assert shown("‸\n", draft, style=indent.Style(tabs=True, width=4)) == "def f():\n\treturn 1\n"
    assert shown("‸\n", draft) == draft + "\n"


INIT = "    def __init__(self, *args, **kwargs):"


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("‸", INIT, INIT.lstrip(), "python"),
        ("\ufeff‸", INIT, "\ufeff" + INIT.lstrip(), "python"),
        ("‸", INIT + "\n        self.a = 1\n", INIT.lstrip() + "\n    self.a = 1", "python"),
        ("‸", "\n" + INIT, "\n" + INIT.lstrip(), "python"),
        ("‸", "    a = 1\nb = 2", "a = 1", "python"),
        ("# one\n    # two\n\n‸\n", "    a = 1", "# one\n    # two\n\na = 1\n", "python"),
        ("def f():\n    return 1\n\n\n‸", "      a = 1", "def f():\n    return 1\n\n\na = 1", "python"),
        ("def f():\n    return 1\n\n\n‸", "    a = 1", "def f():\n    return 1\n\n\n    a = 1", "python"),
        ("a = f(\n    b)\n‸\n", "    c = 1", "a = f(\n    b)\nc = 1\n", "python"),
        ("a = 1  # so:\n‸\n", "    b = 1", "a = 1  # so:\nb = 1\n", "python"),
        ("a = 1\n    ‸\n", "b = 1", None, "python"),
        ("a = 1‸\n", "\n    b = 1", None, "python"),
        ("‸", "a = 1\n    b = 2", "a = 1", "python"),
        ("class A:\n‸", INIT, "class A:\n" + INIT, "python"),
        ("class A:  # so\n    # and so\n\n‸", INIT, "class A:  # so\n    # and so\n\n" + INIT, "python"),
        ("def f(\n    a,\n):\n‸", "    return a", "def f(\n    a,\n):\n    return a", "python"),
        ("a = [\n‸\n]\n", "    1,\n    2,", "a = [\n    1,\n    2,\n]\n", "python"),
        ("a = 1 + \\\n‸\n", "    2", "a = 1 + \\\n    2\n", "python"),
        ('s = """a:\n‸\n"""\n', "    b\n      c", 's = """a:\n    b\n      c\n"""\n', "python"),
        ("‸", "  a: 1\n  b: 2", "a: 1\nb: 2", "yaml"),
        ("# c\na:\n‸\n", "  b: 2", "# c\na:\n  b: 2\n", "yaml"),
        ("‸", "  a();\n  b();", "  a();\n  b();", "javascript"),
        ("‸", "    a", "    a", ""),
    ],
)
def test_a_line_is_indented_only_in_a_block(marked: str, draft: str, after: str | None, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after"),
    [
        ("def f():\n    if a:\n        b()\n  ‸\n", "c()", None),
        ("def f():\n    if a:\n        b()\n    ‸\n", "c()", "def f():\n    if a:\n        b()\n    c()\n"),
        (
            "class A:\n    def f(self):\n        def g():\n            pass\n‸\n",
            "        h()",
            "class A:\n    def f(self):\n        def g():\n            pass\n        h()\n",
        ),
        (
            "class A:\n    def f(self):\n        def g():\n            pass\n    ‸\n",
            "b = 1",
            "class A:\n    def f(self):\n        def g():\n            pass\n    b = 1\n",
        ),
        ("class A:\n    def f(self):\n        pass\n‸\n    def g(self):\n        pass\n", "b = 1", None),
        ("def f():\n    a()\n   ‸ b()\n", "c = ", None),
        ("def f():\n    if a:\n  ‸      b()\n", "  c()\n      ", None),
        ("a = 1\n‸\n    b = 1\n", "c = 1", "a = 1\nc = 1\n    b = 1\n"),
    ],
)
def test_no_line_stands_at_a_depth_that_none_has(marked: str, draft: str, after: str | None) -> None:
    check(marked, draft, after)


@pytest.mark.parametrize("style", [indent.Style(tabs=True, width=4), indent.Style(tabs=False, width=2)])
def test_a_clients_indentation_does_not_indent_an_empty_file(style: indent.Style) -> None:
    assert shown("‸\n", INIT, style=style) == INIT.lstrip() + "\n"


def test_an_exact_draft_is_not_shown_where_it_is_indented_for_no_reason() -> None:
    assert present.item("", 0, 0, "    a = 1", language="python", exact=True) is None


# ------------------------------------------------------------------------------------------------ where it ends


@pytest.mark.parametrize(
    ("marked", "draft", "after"),
    [
        ("def f(x):‸\n", "\n    return x\n\n\ndef g(x):\n    return 1", "def f(x):\n    return x\n"),
        ("class A:\n    ‸\n", "def f(self):\n        pass\n\n    def g(self):\n        pass", "class A:\n    def f(self):\n        pass\n"),
        ("def f(x):\n    if x:\n        ‸\n", "a()\n    else:\n        b()", "def f(x):\n    if x:\n        a()\n"),
        ("def f(x):\n    ‸\n", "if x:\n        a()\n    else:\n        b()", "def f(x):\n    if x:\n        a()\n    else:\n        b()\n"),
        ("x = f(\n    ‸\n", "a,\n    b,\n)\ny = 1", "x = f(\n    a,\n    b,\n)\n"),
        ("x = f(\n    ‸\n", "a,\n    b,\n).g(\n    c\n)\ny = 1", "x = f(\n    a,\n    b,\n).g(\n    c\n)\ny = 1\n"),
        ("def f(\n    ‸\n", "a,\n    b,\n):\n    return a\n\n\ndef g():", "def f(\n    a,\n    b,\n):\n    return a\n"),
        ("def f():\n    ‸\n", "a = 1\n\n    return a", "def f():\n    a = 1\n\n    return a\n"),
        ('def f():\n    """Do ‸\n', 'it.\n    """\n    a()\n\n\ndef g():\n    b()', 'def f():\n    """Do it.\n    """\n    a()\n'),
        ('def f():\n    a("‸")\n', 'b")\n\n\ndef g():\n    b()', 'def f():\n    a("b")\n'),
    ],
)
def test_a_python_block_ends_where_it_dedents(marked: str, draft: str, after: str) -> None:
    check(marked, draft, after)


@pytest.mark.parametrize(
    ("marked", "draft", "after"),
    [
        ("function f() {\n  ‸", "return 1;\n}\n\nfunction g() {\n  return 2;\n}", "function f() {\n  return 1;\n}"),
        ("function f() {\n  ‸\n}\n", "return 1;\n}\n\nfunction g() {\n  return 2;\n}", "function f() {\n  return 1;\n}\n"),
        ("‸\n", "function f() {\n  a();\n}\n\nfunction g() {\n  b();\n}", "function f() {\n  a();\n}\n"),
        ("if (a) {\n  ‸\n", "b();\n} else {\n  c();\n}\nd();", "if (a) {\n  b();\n} else {\n  c();\n}\nd();\n"),
        ("f() {\n  ‸\n}\n", "if (a) {\n    b();\n  }\n\n  c();", "f() {\n  if (a) {\n    b();\n  }\n\n  c();\n}\n"),
    ],
)
def test_a_braced_block_ends_where_it_is_closed(marked: str, draft: str, after: str) -> None:
    check(marked, draft, after, "javascript")


def test_spaces_at_the_cursor_of_a_tabbed_file_are_counted() -> None:
    check(
        "class A:\n\tdef f(self):\n\t\tpass\n\n\tdef g(self):\n    ‸\n",
        "return 1",
        "class A:\n\tdef f(self):\n\t\tpass\n\n\tdef g(self):\n        return 1\n",
    )


def test_a_draft_cut_short_ends_at_its_last_whole_line() -> None:
    check("def f(x):\n    ‸\n", "y = g(x)\n    z = h(y, [1,", "def f(x):\n    y = g(x)\n")
    check("function f() {\n  ‸\n}\n", "a();\n  b({", "function f() {\n  a();\n}\n", "javascript")


@pytest.mark.parametrize("draft", ["  ", "\n\n", "\t\n  ", "", "\ufeff", "\x00abc", "\r\n"])
def test_white_space_alone_is_not_shown(draft: str) -> None:
    check("x = 1\n‸\n", draft, None)


def test_a_space_behind_a_bracket_has_its_partner() -> None:
    check("x = { ‸}\n", '"a": 1 ', 'x = { "a": 1 }\n')
    check("x = {‸}\n", '"a": 1 ', 'x = {"a": 1}\n')
    check("x = { f(‸)}\n", "a ", "x = { f(a)}\n")
    check("x = { ‸}\n", " ", None)


def test_white_space_at_the_end_is_trimmed() -> None:
    check("x = ‸\n", "1  \n  ", "x = 1\n")
    check("x = ‸\n", " 1", "x = 1\n")


@pytest.mark.parametrize(
    "draft",
    [
        "a()\n    a()\n    a()",
        "a()\n\n    a()\n\n    a()",
        "b = 1\n    a()\n    a()\n    a()",
        "a()\n    b()\n    a()\n    b()\n    a()\n    b()",
    ],
)
def test_a_loop_is_not_shown(draft: str) -> None:
    check("def f():\n    ‸\n", draft, None)


@pytest.mark.parametrize("draft", ["a(1)\n    a(2)\n    a(3)\n    a(4)", "a()\n    a()", "a()\n    a()\n    b()\n    a()"])
def test_lines_that_only_resemble_each_other_are_shown(draft: str) -> None:
    check("def f():\n    ‸\n", draft, f"def f():\n    {draft}\n")


def test_closing_brackets_of_several_depths_are_no_loop() -> None:
    draft = "if (a) {\n  if (b) {\n    if (c) {\n      d();\n    }\n  }\n}"
    check("‸\n", draft, draft + "\n", "javascript")


# ------------------------------------------------------------------------------------------------ syntax


@pytest.mark.parametrize(
    ("marked", "draft", "language"),
    [
        ("x = 1\n‸\n", "y = (1", "python"),
        ("x = 1\n‸\n", "y = )", "python"),
        ('x = "a"‸\n', '"""', "python"),
        ("int x = 1;\n‸\n", "int y = };", "c"),
        ("{}\n‸", "{", "json"),
        ("a();\n‸\n", "if (a)) {", "javascript"),
        ("a();\n‸\n", "if (a] {", "javascript"),
        ("a();\n‸\n", "f(b", "javascript"),
        ("a();\n‸\n{\n  b();\n}\n", "if (a) {", "javascript"),
        ("a();\nif (a)‸\n{\n  b();\n}\n", " {", "javascript"),
        ("f([1, ‸]);\n", "g({", "javascript"),
        ('{\n  "a": 1\n  ‸\n}\n', '"b": {', "json"),
        ("let a = ;\nlet b = ‸;\n", "1]", "javascript"),  # one fault goes and another comes
        ("let a = ;\nlet b = ‸;\n", "f(]) + 1", "javascript"),
    ],
)
def test_a_new_syntax_error_is_not_shown(marked: str, draft: str, language: str) -> None:
    check(marked, draft, None, language)


@pytest.mark.parametrize(
    ("marked", "draft", "after", "language"),
    [
        ("def f(‸\n", "a, b", "def f(a, b\n", "python"),
        ("x = (1 +\nfoo(‸\n", "a)", "x = (1 +\nfoo(a)\n", "python"),
        ("function f() {\n  let a = ‸\n", "g(b);", "function f() {\n  let a = g(b);\n", "javascript"),
        (
            "async function f(a) {\n  try {\n    if (a) {\n      ‸\n",
            "const b = g(a, {c: 1});\n      return b",
            "async function f(a) {\n  try {\n    if (a) {\n      const b = g(a, {c: 1});\n      return b\n",
            "javascript",
        ),
        ('def f():\n    """Compute ‸\n', "the mean, and then don't", 'def f():\n    """Compute the mean, and then don\'t\n', "python"),
    ],
)
def test_an_unfinished_document_still_gets_suggestions(marked: str, draft: str, after: str, language: str) -> None:
    check(marked, draft, after, language)


@pytest.mark.parametrize(
    ("marked", "draft", "language"),
    [
        ("a();\n‸\nb();\n", "if (a) {", "javascript"),
        ("a();\n‸\nb();\n", "it('does', () => {", "javascript"),
        ("a();\n‸\nb();\n", "for (const x of y) {\n  f(x);", "javascript"),
        ("function f() {\n  g();‸\n}\n", "\n  if (a) {", "javascript"),
        ("func main() {\n\t‸\n}\n", "for i := 0; i < 3; i++ {", "go"),
        ("fn main() {\n    ‸\n}\n", "match x {", "rust"),
        ("‸\n", "int main(void) {", "c"),
        ('{\n  "a": 1,\n  ‸\n}\n', '"b": {', "json"),
        ("x = 1\n‸\n", "y = [", "python"),
    ],
)
def test_a_block_that_is_only_begun_is_shown(marked: str, draft: str, language: str) -> None:
    check(marked, draft, marked.replace("‸", draft), language)


def test_of_a_block_that_is_broken_off_the_whole_lines_are_shown() -> None:
    check("a();\n‸\n", "for (const x of y) {\n  f(x);\n  g(x, ", "a();\nfor (const x of y) {\n  f(x);\n", "javascript")
    check("if (‸)\n", "a) {", "if (a)\n", "javascript")


def test_a_language_without_a_grammar_is_trimmed_all_the_same() -> None:
    check("print(‸)\n", '"a")', 'print("a")\n', "swift")
    check("print(‸)\n", "f(x)", "print(f(x))\n", "")
    check("f(‸);\n", "x); g(y)", "f(x); g(y);\n", "")
    check("f(‸)\n", "x) + 1", "f(x)\n", "swift")


def test_a_contorted_document_is_shown_unchecked() -> None:
    line = "const a = [" + "1," * 100_000
    assert shown(line + "‸];\n", "2];", "javascript") == line + "2];\n"


# ------------------------------------------------------------------------------------------------ characters


@pytest.mark.parametrize("around", ["", "😀", "名前", "e\u0301", "\ufeff", "\x00", "\U0001f468\u200d\U0001f469", "\u2028", "\x0c", "ß"])
def test_characters_around_the_cursor_stay(around: str) -> None:
    marked = f"# {around}‸{around}\nx = 1\n"
    assert shown(marked, " and so on ") == marked.replace("‸", " and so on" + (" " if around and not around[0].isspace() else ""))


def test_no_carriage_return_comes_in_or_out() -> None:
    check("def f():\n    ‸\n", "a = 1\r\n    return a\r", "def f():\n    a = 1\n    return a\n")
    assert present.item("x = \ry", 0, 4, "1") is None  # a line that has one cannot be repeated without it


@pytest.mark.parametrize("char", ["\u202e", "\u2066", "\u2029", "\x1b", "\x08", "\x0c", "\x85", "\x7f"])
def test_what_cannot_be_seen_ends_the_text(char: str) -> None:
    check("s = ‸\n", f"t{char} + u", "s = t\n")


def test_half_a_character_ends_the_text() -> None:
    check("s = ‸\n", "t\ud83d", "s = t\n")
    check("s = ‸\n", "t\ufffd", "s = t\n")


@pytest.mark.parametrize(("line", "column"), [(-1, 0), (5, 0)])
def test_a_line_that_is_not_there_shows_nothing(line: int, column: int) -> None:
    assert present.item("a\nb", line, column, "x") is None


def test_a_column_beyond_the_line_is_its_end() -> None:
    assert present.item("x = ", 0, 99, "1") == present.Item("x = 1", 0, 0, 4, "1")


# ------------------------------------------------------------------------------------------------ properties

PIECES = st.sampled_from(
    ["\n", "\n    ", "\n\t", " ", "(", ")", "[", "]", "{", "}", '"', "'", "`", '"""', ":", ",", ";", "#", "//", "/*", "*/", "<a>", "</a>"]
    + ["def f(x):", "return", "if x", "else", "x = 1", "foo", "1", "\\", "\x00", "\ufeff", "😀", "e\u0301", "名", "\u2028", "\x0c", "\x85"]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join)
LANGUAGES = st.sampled_from(["python", "javascript", "c", "html", "yaml", "markdown", "swift", ""])


@given(left=TEXTS, right=TEXTS, draft=TEXTS, language=LANGUAGES)
def test_accepting_inserts_and_changes_nothing_else(left: str, right: str, draft: str, language: str) -> None:
    left, right = left.replace("\r", "\n"), right.replace("\r", "\n")
    text = left + right
    line, column = left.count("\n"), len(left.rpartition("\n")[2])
    item = present.item(text, line, column, draft, language=language)
    if item is None:
        return
    current = text.split("\n")[line]
    assert item.completion.strip() and "\r" not in item.insert_text
    assert (item.line, item.start, item.end) == (line, 0, len(current))
    assert item.insert_text == current[:column] + item.completion + current[column:]
    assert accept(text, item) == left + item.completion + right


# ------------------------------------------------------------------------------------------------ real files

SUFFIXES = ("py", "pyi", "js", "css", "html", "c", "h", "cpp", "json", "toml", "yaml", "md", "sh")


@cache
def sources() -> tuple[tuple[str, str], ...]:
    """(text, language) of some forty files that are installed with Python and the test tools."""
    found: list[tuple[str, str]] = []
    folder = Path(sysconfig.get_path("purelib"))
    for suffix in SUFFIXES:
        paths = sorted(path for path in folder.glob(f"*/**/*.{suffix}") if 300 < path.stat().st_size < 60_000)
        for path in paths[:: max(len(paths) // (15 if suffix == "py" else 3), 1)][: 15 if suffix == "py" else 3]:
            text = path.read_bytes().decode("utf-8", "ignore").replace("\r", "")
            found.append((text, syntax.language_of("", path.name)))
    return tuple(found)


def fuzzed(count: int, seed: int) -> Iterator[tuple[str, str, int, str]]:
    """(text, language, offset, draft): holes whose draft is what was there or what comes later, as it is or damaged."""
    rng = random.Random(seed)
    for _ in range(count):
        text, language = rng.choice(sources())
        offset = rng.randrange(len(text) + 1)
        gone = rng.choice([0, 0, rng.randrange(1, 80)])
        later = offset if gone else offset + rng.randrange(200)
        draft = damaged(text[later : later + rng.randrange(1, 300)], rng)
        yield text[:offset] + text[offset + gone :], language, offset, draft


def damaged(draft: str, rng: random.Random) -> str:
    """Half of them are left as they are."""
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randrange(len(draft) + 1)
        draft = draft[:at] + rng.choice(["", "\n", "(", ")", "}", '"', "\n\n  ", "\t", "😀", "x"]) + draft[at + rng.randrange(3) :]
    return draft


def violation(text: str, language: str, offset: int, draft: str, tree: syntax.Tree | None = None) -> str | None:
    """What is wrong with the item for `draft`, None where nothing is. `tree` is that of `text`; without it, it is made here."""
    line, column = text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)
    tree = tree or syntax.Tree.parse(text, language)
    item = present.item(text, line, column, draft, language=language, tree=tree)
    if item is None:
        return None
    after = accept(text, item)
    if after != text[:offset] + item.completion + text[offset:] or "\r" in item.insert_text:
        return "not an extension"
    if tree is None:
        return None
    before = tree.faults()
    # A document that does not parse has no fixed number of faults; one that does must go on doing so.
    if before is None or before.spans:
        return None
    then = syntax.Tree.parse(after, language)
    faults = None if then is None else then.faults()
    if faults is None or not faults.spans:
        return None
    end = offset + len(item.completion)
    finished = syntax.Tree.parse(after[:end] + "\n" + left_open(item.completion) + after[end:], language)
    if finished is not None and (finished.faults() or syntax.Faults(())).spans:
        return f"a new syntax error at {faults.spans[0]}"
    return None


def left_open(completion: str) -> str:
    """What would close a completion whose end is still to come. What stands in a string of one line is none of its brackets."""
    stack: list[str] = []
    quote = before = ""
    for char in completion:
        if char in (quote, "\n"):
            quote = "" if before != "\\" else quote
        elif not quote and char in "\"'`":
            quote = char
        elif not quote and char in "([{":
            stack.append(")]}"["([{".index(char)])
        elif not quote and stack and char == stack[-1]:
            stack.pop()
        before = "" if before == "\\" else char
    return "".join(reversed(stack))


def test_later_text_of_real_files_never_harms_them() -> None:
    assert len(sources()) >= 20
    for case in fuzzed(400, seed=1):
        assert violation(*case) is None, case[1:]

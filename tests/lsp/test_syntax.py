"""The syntax tree: languages, edits, faults, what the cursor is in."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercury_lsp import syntax

SOUND = {
    "python": "def f(x):\n    return x\n",
    "javascript": "const a = <b>{x}</b>;\n",
    "typescript": "let a: number = <number>b;\n",
    "tsx": "const a: X = <b>{x}</b>;\n",
    "go": "package a\n\nfunc f() {\n\tg()\n}\n",
    "rust": "fn f() -> i32 { 1 }\n",
    "java": "class A { int f() { return 1; } }\n",
    "c": "int f(void) { return 1; }\n",
    "cpp": "template <class T> T f(T x) { return x; }\n",
    "csharp": "class A { int F() => 1; }\n",
    "ruby": "def f(x)\n  x\nend\n",
    "php": "<?php\nfunction f($x) { return $x; }\n",
    "lua": "function f(x) return x end\n",
    "bash": 'if [ -n "$x" ]; then\n  echo "$x"\nfi\n',
    "html": '<a class="b">c</a>\n',
    "css": "a { color: red; }\n",
    "json": '{"a": [1, 2]}\n',
    "yaml": "a:\n  - b\n",
    "toml": "[a]\nb = 1\n",
    "sql": "SELECT a FROM b WHERE c = 1;\n",
}
BROKEN = {
    "python": "x = (1))\n",
    "yaml": "a: [b\nc: d]]\n",
    "html": "<a b=>c</a></d>\n",
    "css": "a { color: ; }}\n",
    "sql": "SELECT a FROM (b;\n",
    "bash": "if then )\n",
}


def parsed(text: str, language: str = "python") -> syntax.Tree:
    tree = syntax.Tree.parse(text, language)
    assert tree is not None
    return tree


def spans(tree: syntax.Tree) -> tuple[tuple[int, int], ...]:
    faults = tree.faults()
    assert faults is not None
    return faults.spans


@pytest.mark.parametrize("language", sorted(SOUND))
def test_each_grammar_tells_sound_from_broken(language: str) -> None:
    assert spans(parsed(SOUND[language], language)) == ()
    assert spans(parsed(BROKEN.get(language, SOUND[language] + "}} ) ("), language)) != ()


def test_markdown_has_no_errors() -> None:
    assert spans(parsed("# a\n\n- b\n```\n", "markdown")) == ()


@pytest.mark.parametrize(
    ("language_id", "path", "language"),
    [
        ("python", "", "python"),
        ("javascriptreact", "a.jsx", "javascript"),
        ("typescriptreact", "a.tsx", "tsx"),
        ("typescript", "a.ts", "typescript"),
        ("shellscript", "", "bash"),
        ("csharp", "", "csharp"),
        ("Python", "", "python"),
        ("plaintext", "/a/b.rs", "rust"),
        ("", "file:///a/b.py", "python"),
        ("", "C:\\a\\b.CS", "csharp"),
        ("", "/a/Makefile", "makefile"),
        ("", "/home/me/.bashrc", "bash"),
        ("", "a.tar.unknown", ""),
        ("", "py", ""),
        ("", "", ""),
    ],
)
def test_language_of(language_id: str, path: str, language: str) -> None:
    assert syntax.language_of(language_id, path) == language


def test_importing_loads_no_grammar() -> None:
    code = "import sys, mercury_lsp.present; print([name for name in sys.modules if name.startswith('tree_sitter')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_language_without_a_grammar_has_no_tree() -> None:
    assert syntax.Tree.parse("x", "swift") is None
    assert not syntax.has_grammar("") and syntax.has_grammar("tsx")


# ------------------------------------------------------------------------------------------------ bounds


def test_work_is_bounded_by_the_text_not_the_clock() -> None:
    text = "const a = [" + "1," * 100_000 + "];\n"
    assert syntax.Tree.parse(text, "javascript", budget=100) is None
    tree = syntax.Tree.parse(text, "javascript")
    assert tree is not None and tree.insert(len(text) - 4, "2") is None


@pytest.mark.parametrize("text", ["(" * 20_000, "{[" * 20_000, "x" * 200_000, '"' * 9_999, "<a>" * 5_000, "\\" * 10_000])
@pytest.mark.parametrize("language", ["python", "javascript", "html", "json", "cpp"])
def test_pathological_text_is_survived(text: str, language: str) -> None:
    tree = syntax.Tree.parse(text, language, budget=3_000)
    if tree is not None:
        tree.faults()
        tree.kind_at(len(text) // 2)


@pytest.mark.parametrize(
    ("opening", "closing", "language"),
    [("[", "]", "python"), ("{", "}", "javascript"), ("-", "", "python"), ("!", "", "javascript")],
)
def test_too_deep_a_document_has_no_tree(opening: str, closing: str, language: str) -> None:
    """A climb from its depth would take minutes."""
    began = time.process_time()
    assert syntax.Tree.parse(opening * 20_000 + "x" + closing * 20_000, language) is None
    assert time.process_time() - began < 5
    shallow = syntax.Tree.parse(opening * 100 + "x" + closing * 100, language)
    assert shallow is not None and shallow.kind_at(100 * len(opening)) == "code"


def test_too_large_a_document_has_no_tree() -> None:
    assert syntax.Tree.parse("x\n" * 500_001, "python") is None


def test_a_nul_has_no_tree() -> None:
    assert syntax.Tree.parse("x = 1\0\n", "python") is None
    assert parsed("x = 1\n").insert(5, "\0") is None


# ------------------------------------------------------------------------------------------------ edits

WORDS = st.sampled_from(
    ["def f():\n", "    return ", "(", ")", "[", "]", '"', '"""', "\n", "x", " = ", "1", "#", "é", "名", "😀", "\ud800"]
)
TEXTS = st.lists(WORDS, max_size=30).map("".join)


@given(text=TEXTS, edits=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 20), TEXTS), max_size=5))
def test_edits_give_the_tree_of_the_text(text: str, edits: list[tuple[int, int, str]]) -> None:
    tree = parsed(text)
    for at, length, inserted in edits:
        start = min(at, len(text))
        end = min(start + length, len(text))
        text = text[:start] + inserted + text[end:]
        edited = tree.edit(start, end, start + len(inserted), text)
        assert edited is not None
        tree = edited
    assert tree.text == text
    assert tree._data == text.encode("utf-8", "replace")
    # Where nothing is wrong there is one tree; a broken text's repair may depend on how it came about.
    fresh = parsed(text)
    if not spans(fresh):
        assert str(tree._tree.root_node) == str(fresh._tree.root_node)


def test_an_edit_leaves_the_old_tree_alone() -> None:
    tree = parsed("x = 1\n")
    broken = tree.insert(4, "(")
    assert broken is not None and spans(broken) and not spans(tree)
    assert tree.text == "x = 1\n" and broken.text == "x = (1\n"


def test_faults_are_counted_in_characters() -> None:
    text = 's = "😀名é"\nx = )\n'
    ((start, end),) = spans(parsed(text))
    assert ")" in text[start:end] and text[start:end].strip() in ("x = )", "= )", ")")


# ------------------------------------------------------------------------------------------------ the cursor


@pytest.mark.parametrize(
    ("marked", "language", "kind"),
    [
        ('x = "he‸llo"\n', "python", "string"),
        ('x = "hello"‸\n', "python", "code"),
        ('x = ‸"hello"\n', "python", "code"),
        ('x = "hel‸\n', "python", "string"),
        ('f"a{n‸}"\n', "python", "code"),
        ('f"a‸{n}"\n', "python", "string"),
        ('"""a\n‸\nb"""\n', "python", "string"),
        ('def f():\n    """a\n    b‸\n', "python", "string"),
        ("# a ‸\n", "python", "comment"),
        ("x = 1  # a‸\ny = 2\n", "python", "comment"),
        ("print(‸)\n", "python", "code"),
        ("‸", "python", "code"),
        ("`a‸${b}`", "javascript", "string"),
        ("`a${b‸}`", "javascript", "code"),
        ("/* a ‸*/ b", "javascript", "comment"),
        ("/* a */‸ b", "javascript", "code"),
        ("// a‸\n", "javascript", "comment"),
        ('<a class="‸">', "html", "string"),
        ("x := `‸`", "go", "string"),
        ('let x = "a‸";', "rust", "string"),
        ('{"a": "‸"}', "json", "string"),
        ("-- x‸", "lua", "comment"),
        ('a: "b‸"\n', "yaml", "string"),
        ('x = "é名😀‸"\n', "python", "string"),
    ],
)
def test_what_the_cursor_is_in(marked: str, language: str, kind: str) -> None:
    at = marked.index("‸")
    assert parsed(marked.replace("‸", ""), language).kind_at(at) == kind


@pytest.mark.parametrize(
    ("marked", "language", "end"),
    [
        ("def f():\n    a = ‸1\n    b\nc\n", "python", "    b"),
        ("if (a) {\n  b(‸);\n}\nc();\n", "javascript", "}"),
        ("x = ‸1\n", "python", None),
    ],
)
def test_where_the_block_ends(marked: str, language: str, end: str | None) -> None:
    at = marked.index("‸")
    text = marked.replace("‸", "")
    found = parsed(text, language).block_end(at)
    assert (found is None) == (end is None)
    assert end is None or text[:found].endswith(end)

"""Commands whose text the model writes: what is kept of a draft, what is refused, and that nothing else of the file changes."""

from __future__ import annotations

from typing import Any

import pytest
from refactor_client import Told, check, draft, editor, refused

# ------------------------------------------------------------------------------------------------ bodies and comments

BODIES: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "python",
        'def area(width, height):\n    """The area."""\n    «raise NotImplementedError»\n\n\nprint(area(1, 2))\n',
        "return width * height",
        'def area(width, height):\n    """The area."""\n    return width * height\n\n\nprint(area(1, 2))\n',
    ),
    "python, nothing but documentation": (
        "python",
        'class Shape:\n    def area(self, width):«»\n        """The area."""\n\n    other = 1\n',
        "total = width\n        return total\n\n    def more(self):\n        pass",
        'class Shape:\n    def area(self, width):\n        """The area."""\n        total = width\n        return total\n\n    other = 1\n',
    ),
    "python, in one line": ("python", "def f(a): «...»\n", "return a + 1", "def f(a):\n    return a + 1\n"),
    "javascript": (
        "javascript",
        "class Cart {\n  total«»(lines) {\n    // TODO: add up\n  }\n}\n",
        "return lines.reduce((sum, line) => sum + line.price, 0);",
        "class Cart {\n  total(lines) {\n    return lines.reduce((sum, line) => sum + line.price, 0);\n  }\n}\n",
    ),
    "typescript": (
        "typescript",
        'const area = (w: number): number => {«»\n  throw new Error("not implemented");\n};\n',
        "return w * w;",
        "const area = (w: number): number => {\n  return w * w;\n};\n",
    ),
    "go": (
        "go",
        'package m\n\nfunc Area(w int) int {\n\t«panic("not implemented")»\n}\n',
        "return w * w",
        "package m\n\nfunc Area(w int) int {\n\treturn w * w\n}\n",
    ),
    "rust": ("rust", "fn area(w: u8) -> u8 {\n    «todo!()»\n}\n", "w * w", "fn area(w: u8) -> u8 {\n    w * w\n}\n"),
    "java": (
        "java",
        "class A {\n    int area(int w) {«»\n    }\n}\n",
        "int s = w;\n        return s * w;\n    }\n\n    int more() {",
        "class A {\n    int area(int w) {\n        int s = w;\n        return s * w;\n    }\n}\n",
    ),
}


@pytest.mark.parametrize("language, before, draft, after", BODIES.values(), ids=BODIES)
def test_complete_the_body(language: str, before: str, draft: str, after: str) -> None:
    check("mercury.completeBody", before, after, language, Told(infill=[draft]))


def test_a_stub_is_masked_and_the_model_sees_what_is_around() -> None:
    told = Told(infill=["return a"])
    check("mercury.completeBody", "def f(a):\n    «pass»\n\n\nx = f(1)\n", "def f(a):\n    return a\n\n\nx = f(1)\n", engine=told)
    (request,) = told.infills
    assert request.prefix == "def f(a):\n    " and request.suffix == "\n\n\nx = f(1)\n" and request.path == "main.py"


COMMENTS: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "python",
        "def f(xs):\n    # «»The largest of them.\n    return best\n",
        "best = max(xs)",
        "def f(xs):\n    # The largest of them.\n    best = max(xs)\n    return best\n",
    ),
    "javascript": (
        "javascript",
        "function f(xs) {\n  «// Add them up.\n  // All.»\n}\n",
        "const sum = xs.reduce((a, b) => a + b, 0);\n  return sum;\n}",
        "function f(xs) {\n  // Add them up.\n  // All.\n  const sum = xs.reduce((a, b) => a + b, 0);\n  return sum;\n}\n",
    ),
    "rust": (
        "rust",
        "fn f(xs: &[u8]) -> usize {\n    // How many there are.«»\n}\n",
        "xs.len()",
        "fn f(xs: &[u8]) -> usize {\n    // How many there are.\n    xs.len()\n}\n",
    ),
}


@pytest.mark.parametrize("language, before, draft, after", COMMENTS.values(), ids=COMMENTS)
def test_comment_to_code(language: str, before: str, draft: str, after: str) -> None:
    check("mercury.commentToCode", before, after, language, Told(infill=[draft]))


def test_a_comment_that_stays_a_comment_is_no_code() -> None:
    refused("mercury.commentToCode", "x = 1\n# «»Two.\ny = 2\n", "no code", engine=Told(infill=["# Three."] * 9))
    refused("mercury.commentToCode", "x = 1«»\n", "no comment")


# ------------------------------------------------------------------------------------------------ documentation

DOCS: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "python",
        "class A:\n    @property\n    def f«»(self):\n        # A note.\n        return 1\n",
        'the number of things""" and so on',
        'class A:\n    @property\n    def f(self):\n        """the number of things."""\n        # A note.\n        return 1\n',
    ),
    "typescript": (
        "typescript",
        "class A {\n  f«»(a: number) {\n    return a;\n  }\n}\n",
        "Gives it back.",
        "class A {\n  /**\n   * Gives it back.\n   */\n  f(a: number) {\n    return a;\n  }\n}\n",
    ),
    "go": (
        "go",
        "package m\n\nfunc Area«»(w int) int {\n\treturn w\n}\n",
        "returns the area",
        "package m\n\n// Area returns the area.\nfunc Area(w int) int {\n\treturn w\n}\n",
    ),
    "rust": (
        "rust",
        "struct S;\n\n#[inline]\npub fn area«»(w: u8) -> u8 {\n    w\n}\n",
        "The area of a square.",
        "struct S;\n\n/// The area of a square.\n#[inline]\npub fn area(w: u8) -> u8 {\n    w\n}\n",
    ),
    "java": (
        "java",
        "class A {\n    @Override\n    int f«»() {\n        return 1;\n    }\n}\n",
        "Returns one */ x",
        "class A {\n    /**\n     * Returns one.\n     */\n    @Override\n    int f() {\n        return 1;\n    }\n}\n",
    ),
}


@pytest.mark.parametrize("language, before, draft, after", DOCS.values(), ids=DOCS)
def test_write_documentation(language: str, before: str, draft: str, after: str) -> None:
    check("mercury.writeDocstring", before, after, language, Told(infill=[draft]))


def test_documentation_that_is_there_is_updated_and_nothing_else() -> None:
    before = 'def f(a, b):«»\n    """Add a.\n\n    More.\n    """\n    return a + b\n'
    good = 'def f(a, b):\n    """Add a and b.\n\n    More.\n    """\n    return a + b'
    told = Told(rewrite=[good])
    check("mercury.writeDocstring", before, good + "\n", engine=told)
    assert told.rewrites[0].instruction == "update the docstring"
    bad = good.replace("return a + b", "return a - b")
    refused("mercury.writeDocstring", before, "more than the documentation", engine=Told(rewrite=[bad] * 9))


def test_documentation_of_one_word_is_none() -> None:
    refused("mercury.writeDocstring", "def f«»():\n    return 1\n", "no words", engine=Told(infill=["F", ""] * 5))
    refused("mercury.writeDocstring", "def f«»(): return 1\n", "first line")
    refused("mercury.writeDocstring", "x = 1«»\n", "no function")


# ------------------------------------------------------------------------------------------------ rewriting

REWRITTEN: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "python",
        "def f(a):\n«    if a:\n        return True\n    return False\n»\n\nprint(f(1))\n",
        "    return bool(a)",
        "def f(a):\n    return bool(a)\n\n\nprint(f(1))\n",
    ),
    "javascript": (
        "javascript",
        "function f(a) {\n  «if (a) {\n    return true;\n  }\n  return false;»\n}\n",
        "  return Boolean(a);",
        "function f(a) {\n  return Boolean(a);\n}\n",
    ),
    "go": (
        "go",
        "package m\n\nfunc f(a bool) bool {\n\t«if a == true {\n\t\treturn true\n\t}\n\treturn false»\n}\n",
        "\treturn a",
        "package m\n\nfunc f(a bool) bool {\n\treturn a\n}\n",
    ),
}


@pytest.mark.parametrize("language, before, answer, after", REWRITTEN.values(), ids=REWRITTEN)
@pytest.mark.parametrize("command", ["mercury.simplify", "mercury.rewrite"])
def test_rewrite_and_simplify(command: str, language: str, before: str, answer: str, after: str) -> None:
    told = Told(rewrite=[answer])
    check(command, before, after, language, told, instruction="make it short")
    assert told.rewrites[0].instruction == ("simplify" if command == "mercury.simplify" else "make it short")
    assert told.rewrites[0].prefix + told.rewrites[0].region + told.rewrites[0].suffix == before.replace("«", "").replace("»", "")


@pytest.mark.parametrize(
    "language, mark, before, answer",
    [
        ("python", "#", "x = 1\n# Count down,\n# not up.\n«for i in range(3):\n    print(i)»\n", "for i in range(3, 0, -1):\n    print(i)"),
        ("java", "//", "class A {\n    // Count down,\n    // not up.\n    «int a = 1;»\n}\n", "    int a = -1;"),
        ("rust", "//", "fn f() {\n    // Count down,\n    // not up.\n    «g(1);»\n}\n", "    g(-1);"),
    ],
)
def test_the_instruction_is_the_comment_above(language: str, mark: str, before: str, answer: str) -> None:
    told = Told(rewrite=[answer])
    with editor(before, language, told) as opened:
        opened.choose("Rewrite: Count down, not up.")
        assert answer in opened.text and f"{mark} not up.\n" in opened.text
    assert told.rewrites[0].instruction == "Count down, not up."


BAD = {
    "no code": ("    return (a", "does not parse"),
    "another signature": ("def g(b):\n    return b", "`f` is used elsewhere"),
    "names that nobody knows": ("def f(a):\n    return helper(a)", "`helper` is not known"),
    "out of its place": ("def f(a):\n    return a\nimport os", "instead"),
    "round and round": ("def f(a):\n    a()\n    a()\n    a()\n    a()", "repeats itself"),
    "nothing": ("\n", "wrote nothing"),
    "characters that hide": ("def f(a):\n    return a  # \u202e", "do not belong"),
    "not to its end": (draft("def f(a):\n    return a", ended="deadline"), "did not come to an end"),
}


@pytest.mark.parametrize("answer, why", [pair for name, pair in BAD.items() if name != "out of its place"])
def test_a_bad_draft_changes_nothing(answer: Any, why: str) -> None:
    before = "«def f(a):\n    if a:\n        return a\n    return None»\n\n\nprint(f(1))\n"
    refused("mercury.rewrite", before, why, engine=Told(rewrite=[answer] * 9), instruction="shorter")


def test_simplifying_keeps_signatures() -> None:
    before = "«def f(a, b):\n    return a»\n\n\nprint(f(1, 2))\n"
    refused("mercury.simplify", before, "signature", engine=Told(rewrite=["def f(a):\n    return a"] * 9))


@pytest.mark.parametrize("answer", ["    pass", "    # return a * b", "    a * b\n    return"])
def test_simplifying_keeps_what_is_returned(answer: str) -> None:
    refused("mercury.simplify", "def f(a, b):\n    «return a * b»\n", "returns nothing", engine=Told(rewrite=[answer] * 9))


def test_a_model_that_changes_nothing_is_no_error_of_the_user() -> None:
    refused("mercury.simplify", "«x = 1»\n", "nothing to change")


def test_a_bad_line_is_masked_and_filled_again() -> None:
    told = Told(rewrite=["def f(a):\n    b = (a\n    return b"], infill=["b = a + 1"])
    before = "«def f(a):\n    return a + 1»\n"
    check("mercury.rewrite", before, "def f(a):\n    b = a + 1\n    return b\n", engine=told, instruction="name it")
    (request,) = told.infills
    assert request.prefix == "def f(a):\n    " and request.suffix == "\n    return b\n"


def test_an_instant_rewriting_is_one_pass() -> None:
    told = Told(rewrite=["x = ("], infill=["x = 2"])
    refused("mercury.rewrite", "«x = 1»\n", "does not parse", engine=told, instruction="two", effort="instant")
    assert len(told.rewrites) == 1 and told.infills == []


PASSES = {"instant": 1, "low": 3, "medium": 4, "high": 8}


@pytest.mark.parametrize("effort", PASSES)
@pytest.mark.parametrize(
    "command, source, bad",
    [
        ("mercury.rewrite", "«x = 1»\n", "x = ({}"),
        ("mercury.simplify", "«x = 1»\n", "x = ({}"),
        ("mercury.fix", "«x = y»\n", "x = ({}"),
        ("mercury.completeBody", "def f«»(a):\n    pass\n", "return b{}"),
        ("mercury.commentToCode", "# Add«» them.\n", "x = b{}"),
        ("mercury.redenoise", "def f(a):\n    «return a»\n", "return b{}"),
        ("mercury.generateTest", "def f«»(a):\n    return a\n", "f({})"),
    ],
)
def test_the_effort_is_how_many_passes_are_spent(command: str, source: str, bad: str, effort: str) -> None:
    """Where no draft holds; the passes that mask a line again count among them."""
    drafts = [bad.format(number) for number in range(30)]
    told = Told(infill=list(drafts), rewrite=list(drafts))
    with editor(source, "python", told) as opened:
        answer = opened.run(command, instruction="two", message="undefined name 'y'", effort=effort)
        assert answer["applied"] is False and opened.text == source.replace("«", "").replace("»", "")
        assert any(word in answer["message"] for word in ("no draft held", "the model"))
    asked = len(told.rewrites) + len(told.infills)
    assert asked == PASSES[effort]
    if command == "mercury.rewrite":
        assert bool(told.infills) == (effort != "instant")


def test_with_more_effort_the_likeliest_is_taken() -> None:
    answers = [draft("x = 2", 0.3), draft("x = 3", 0.9), draft("x = 4", 0.5)]
    for effort, after in (("low", "x = 2\n"), ("high", "x = 3\n")):
        told = Told(rewrite=list(answers))
        check("mercury.rewrite", "«x = 1»\n", after, engine=told, effort=effort, instruction="another number")


# ------------------------------------------------------------------------------------------------ types and diagnostics

TYPES: dict[str, tuple[str, str, str, str]] = {
    "python": (
        "python",
        "def f«»(a, b=2):\n    return a\n",
        "def f(a: int, b: int = 2) -> int:\n    return a",
        "def f(a: int, b: int = 2) -> int:\n    return a\n",
    ),
    "typescript": (
        "typescript",
        "function f«»(a, b = 2) {\n  return a;\n}\n",
        "function f(a: number, b: number = 2): number {\n  return a;\n}",
        "function f(a: number, b: number = 2): number {\n  return a;\n}\n",
    ),
    "tsx": (
        "typescriptreact",
        "const F = (p) => {«»\n  return <b>{p.a}</b>;\n};\n",
        "const F = (p: Props): Element => {\n  return <b>{p.a}</b>;\n};",
        "const F = (p: Props): Element => {\n  return <b>{p.a}</b>;\n};\n",
    ),
}


@pytest.mark.parametrize("language, before, answer, after", TYPES.values(), ids=TYPES)
def test_add_types(language: str, before: str, answer: str, after: str) -> None:
    check("mercury.addTypes", before, after, language, Told(rewrite=[answer]))


@pytest.mark.parametrize(
    "before, after",
    [
        ("def f«»(a, b='x', *, c=True, d=1):\n    print(a)\n", "def f(a, b: str = 'x', *, c: bool = True, d=1) -> None:\n    print(a)\n"),
        ("class A:\n    def __init__«»(self):\n        pass\n", "class A:\n    def __init__(self) -> None:\n        pass\n"),
        ("def f«»(a=b'x', b=''):\n    yield a\n", "def f(a=b'x', b: str = ''):\n    yield a\n"),
        ("def f«»(a=''):\n    raise NotImplementedError\n", "def f(a: str = ''):\n    raise NotImplementedError\n"),
    ],
)
def test_types_that_the_tree_tells(before: str, after: str) -> None:
    check("mercury.addTypes", before, after)


def test_types_change_nothing_else() -> None:
    bad = Told(rewrite=["def f(a: int) -> int:\n    return -a"] * 9)
    refused("mercury.addTypes", "def f«»(a):\n    return a\n", "more than types", engine=bad)
    refused("mercury.addTypes", "func f«»(a int) {}\n", "types are not written apart", "go")


FIXES: dict[str, tuple[str, str, str, str, str]] = {
    "python": ("python", "def f(a):\n    return «b»\n", "undefined name 'b'", "def f(a):\n    return a", "def f(a):\n    return a\n"),
    "go": (
        "go", "package m\n\nfunc f(a int) int {\n\treturn «b»\n}\n", "undefined: b", "package m\n\nfunc f(a int) int {\n\treturn a\n}",
        "package m\n\nfunc f(a int) int {\n\treturn a\n}\n",
    ),
    "javascript, which does not parse": (
        "javascript", "function f(a) {\n  return g(a«»;\n}\n", "')' expected", "function f(a) {\n  return g(a);\n}",
        "function f(a) {\n  return g(a);\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language, before, message, answer, after", FIXES.values(), ids=FIXES)
def test_fix(language: str, before: str, message: str, answer: str, after: str) -> None:
    told = Told(rewrite=[answer])
    check("mercury.fix", before, after, language, told, message=message)
    (request,) = told.rewrites
    assert request.instruction == f"fix: {message}" and request.cursor is not None
    assert (request.prefix + request.region)[len(request.prefix) :][request.cursor :][:1] in ("b", ";")


@pytest.mark.parametrize(
    "before, message, after",
    [
        ("«import os»\nimport sys\n\nprint(sys.path)\n", "'os' imported but unused", "import sys\n\nprint(sys.path)\n"),
        ("«import os»\n\n\nx = 1\n", "'os' imported but unused", "x = 1\n"),
        ("«from os import path, sep»\n\nprint(sep)\n", "`os.path` imported but unused", "from os import sep\n\nprint(sep)\n"),
        ("«from os import path, sep»\n\nprint(path)\n", '"sep" is not accessed', "from os import path\n\nprint(path)\n"),
        ('"""Doc."""\nimport os\n\nos.sep\n«json».x\n', 'Undefined name `json`', '"""Doc."""\nimport json\nimport os\n\nos.sep\njson.x\n'),
    ],
)  # fmt: skip
def test_what_the_tree_knows_needs_no_model(before: str, message: str, after: str) -> None:
    told = Told()
    check("mercury.fix", before, after, engine=told, message=message)
    assert told.rewrites == told.infills == []


def test_an_import_that_is_used_stays() -> None:
    refused("mercury.fix", "«import os»\n\nprint(os.sep)\n", "nothing to change", message="'os' imported but unused")


# ------------------------------------------------------------------------------------------------ variants

ANEW: dict[str, tuple[str, str, list[str], list[str]]] = {
    "python, lines": (
        "python", "def f(a):\n    «x = 1\n    y = 2»\n    return a\n", ["x = 1\n    y = 2", "x = a", "y = (", "x = a", "y = a + 1"],
        ["def f(a):\n    x = a\n    return a\n", "def f(a):\n    y = a + 1\n    return a\n"],
    ),
    "javascript, a part of a line": ("javascript", "f(«1»);\n", ["2", "3"], ["f(2);\n", "f(3);\n"]),
    "rust": ("rust", "fn f() {\n    «g(1);»\n}\n", ["g(2);", "g(3);"], ["fn f() {\n    g(2);\n}\n", "fn f() {\n    g(3);\n}\n"]),
}  # fmt: skip


@pytest.mark.parametrize("language, before, drafts, after", ANEW.values(), ids=ANEW)
def test_write_anew(language: str, before: str, drafts: list[str], after: list[str]) -> None:
    for number, text in enumerate(after, 1):
        check("mercury.redenoise", before, text, language, Told(infill=list(drafts)), variant=number)
    refused("mercury.redenoise", before, "are 2 variants", language, Told(infill=list(drafts)), variant=3)


# ------------------------------------------------------------------------------------------------ tests

TESTS: dict[str, tuple[str, str, str, str, str]] = {
    "python": (
        "python", "def add«»(a, b):\n    return a + b\n", "assert add(1, 2) == 3", "file:///project/test_main.py",
        "from main import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    ),
    "javascript": (
        "javascript", "export function add«»(a, b) {\n  return a + b;\n}\n", "expect(add(1, 2)).toBe(3);", "file:///project/main.test.js",
        'import { add } from "./main";\n\ntest("add", () => {\n  expect(add(1, 2)).toBe(3);\n});\n',
    ),
    "go": (
        "go", "package m\n\nfunc add«»(a, b int) int {\n\treturn a + b\n}\n", 'if add(1, 2) != 3 {\n\tt.Error("three")\n}',
        "file:///project/main_test.go",
        'package m\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error("three")\n\t}\n}\n',
    ),
    "java": (
        "java", "package a.b;\n\nclass Sum {\n    int add«»(int a) {\n        return a;\n    }\n}\n", "assertEquals(1, new Sum().add(1));",
        "file:///project/SumTest.java",
        "package a.b;\n\nimport static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n\nclass SumTest {\n"
        "    @Test\n    void add() {\n        assertEquals(1, new Sum().add(1));\n    }\n}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language, source, answer, uri, written", TESTS.values(), ids=TESTS)
def test_generate_a_test(language: str, source: str, answer: str, uri: str, written: str) -> None:
    told = Told(infill=[answer])
    with editor(source, language, told) as opened:
        assert opened.run("mercury.generateTest") == {"applied": True, "message": ""}
        assert opened.created == {uri: written}
        assert opened.text == source.replace("«»", "")
    assert "add" in told.infills[0].related[-1].text


def test_a_rust_test_stands_in_the_file() -> None:
    after = "fn add(a: u8) -> u8 {\n    a\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn test_add() {\n"
    after += "        assert_eq!(add(1), 1);\n    }\n}\n"
    check("mercury.generateTest", "fn add«»(a: u8) -> u8 {\n    a\n}\n", after, "rust", Told(infill=["assert_eq!(add(1), 1);"]))


def test_a_test_that_tests_nothing_is_not_written(tmp_path: Any) -> None:
    source = "def add«»(a, b):\n    return a + b\n"
    refused("mercury.generateTest", source, "asserts nothing", engine=Told(infill=["print(add(1, 2))"] * 9))
    refused("mercury.generateTest", source, "does not use `add`", engine=Told(infill=["assert 1"] * 9))
    (tmp_path / "test_sums.py").write_text("")
    with editor(source, uri=(tmp_path / "sums.py").as_uri()) as opened:
        assert "already a test_sums.py" in opened.run("mercury.generateTest")["message"]

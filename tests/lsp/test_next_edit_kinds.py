"""What the syntax trees tell: texts of a document, one after the other → the next one, or none. The scenarios in benchmarks/ have more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mercury_lsp.definitions import Definition, Source
from mercury_lsp.nextedit.history import History
from mercury_lsp.nextedit.moment import Moment, Proposal, Text
from mercury_lsp.nextedit.predict import predictions
from mercury_lsp.trees import Trees

PATHS = {
    "python": "py",
    "typescript": "ts",
    "javascript": "js",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "lua": "lua",
}


def document(language: str, content: str, path: str = "/p/main") -> Text:
    name = f"{path}.{PATHS[language]}"
    return Text(name, f"file://{name}", name, language, content)


def moment(language: str, *texts: str, others: Sequence[Text] = (), defined: Sequence[Definition] = (), cursor: int = 0) -> Moment:
    history, trees = History(), Trees()
    history.open(document(language, texts[0]))
    for text in texts[1:]:
        history.change(document(language, text))
    return Moment(
        here=document(language, texts[-1]),
        cursor=cursor,
        intentions=history.intentions(),
        others=others,
        tree=lambda text: trees.tree(text.document, text.text, text.language),
        defined=lambda name: [each for each in defined if each.name == name],
        roots=["/p"],
    )


def applied(moment: Moment, proposal: Proposal) -> str:
    text = moment.text(proposal.edit.document)
    assert text is not None
    return text.text[: proposal.edit.start] + proposal.edit.text + text.text[proposal.edit.end :]


def following(
    language: str, before: str, *changes: tuple[str, str], others: Sequence[Text] = (), defined: Sequence[Definition] = ()
) -> str | None:
    """The text after the next edit; `changes` are made one after the other, each once."""
    texts = [before]
    for old, new in changes:
        assert texts[-1].count(old) == 1, old
        texts.append(texts[-1].replace(old, new))
    made = moment(language, *texts, others=others, defined=defined)
    best = next((each for each in predictions(made) if each.edit.document == made.here.document), None)
    return None if best is None else applied(made, best)


def all_following(language: str, before: str, change: tuple[str, str]) -> str:
    """The text when everything that follows from one change was taken, one edit after the other."""
    texts = [before, before.replace(*change, 1)]
    for _ in range(20):
        made = moment(language, *texts)
        best = next(predictions(made), None)
        if best is None:
            break
        texts.append(applied(made, best))
    return texts[-1]


# ------------------------------------------------------------------------------------------------ renames


def test_edit_after_edit_a_rename_is_finished() -> None:
    before = "def f(n):\n    a = n\n\n    b = n\n\n    return a + b + n\n\n\ndef g(n):\n    return f(n=n)\n"
    assert all_following("python", before, ("f(n)", "f(size)")) == before.replace("f(n):", "f(size):").replace("= n\n", "= size\n").replace(
        "+ n", "+ size"
    ).replace("f(n=n)", "f(size=n)")


@pytest.mark.parametrize(
    ("language", "before", "change", "after"),
    [
        ("python", "def f(a):\n    return {'a': a, 'b': x.a}\n", ("f(a)", "f(key)"), "def f(key):\n    return {'a': key, 'b': x.a}\n"),
        ("python", "for i in xs:\n    print(f'{i} of i')\n", ("for i", "for each"), "for each in xs:\n    print(f'{each} of i')\n"),
        ("typescript", "const a = 1;\nconst b = { a };\n", ("const a", "const c"), "const c = 1;\nconst b = { a: c };\n"),
        (
            "go",
            "package p\n\ntype T struct{ x int }\n\nvar t = T{x: 1}\n",
            ("{ x int", "{ y int"),
            "package p\n\ntype T struct{ y int }\n\nvar t = T{y: 1}\n",
        ),
        (
            "rust",
            "struct P { x: u8 }\nfn f(x: u8) -> P { P { x } }\n",
            ("P { x:", "P { y:"),
            "struct P { y: u8 }\nfn f(x: u8) -> P { P { y: x } }\n",
        ),
        (
            "lua",
            "local M = {}\nfunction M.f() end\nreturn M\n",
            ("local M", "local mod"),
            "local mod = {}\nfunction mod.f() end\nreturn mod\n",
        ),
    ],
    ids=["python", "f-string", "shorthand", "go-key", "rust-shorthand", "lua"],
)
def test_a_rename(language: str, before: str, change: tuple[str, str], after: str) -> None:
    assert following(language, before, change) == after


@pytest.mark.parametrize(
    ("language", "before", "change"),
    [
        ("python", "a = 1\nb = 2\nprint(a)\n", ("a = 1", "b = 1")),  # the new name is taken
        ("python", "def f():\n    return total(1)\n", ("total", "sum")),  # a use, not a declaration
        ("python", "x = 1\nx = 2\nprint(x)\n", ("x = 1", "y = 1")),  # and given another value below
        ("python", "import os\nos.path\n# os\n", ("# os", "# sys")),
        ("javascript", "let a = 1;\n{\n  let a = 2;\n  use(a);\n}\n", ("let a = 1", "let b = 1")),
        ("java", "class A {\n  void f(int a) {}\n  void f(String a) {}\n}\n", ("f(int", "g(int")),  # an overload
        ("go", "package p\n\nfunc f() {\n\tx := 1\n\tg(func() { x := 2; use(x) })\n}\n", ("x := 1", "y := 1")),
        ("c", "struct a { int n; };\nint n(struct b *b) { return b->m; }\n", ("int n;", "int k;")),
    ],
)
def test_no_rename(language: str, before: str, change: tuple[str, str]) -> None:
    assert following(language, before, change) is None


@pytest.mark.parametrize(
    ("language", "before", "change", "old", "new"),
    [
        (
            "python",
            'def f(a):\n    """Sum.\n\n    :param a: a number\n    """\n    return a\n',
            ("f(a)", "f(size)"),
            ":param a:",
            ":param size:",
        ),
        (
            "python",
            'def f(a):\n    """Sum.\n\n    Args:\n        a (int): a number\n    """\n    return a\n',
            ("f(a)", "f(size)"),
            "        a (",
            "        size (",
        ),
        (
            "typescript",
            "/**\n * Sum.\n * @param {number} a a number\n */\nfunction f(a) {\n  return a;\n}\n",
            ("f(a)", "f(size)"),
            "} a a",
            "} size a",
        ),
        ("lua", "---@param a number\nlocal function f(a)\n  return a\nend\n", ("f(a)", "f(size)"), "@param a", "@param size"),
    ],
)
def test_the_documentation_of_a_parameter_follows(language: str, before: str, change: tuple[str, str], old: str, new: str) -> None:
    assert all_following(language, before, change) == before.replace(*change).replace(old, new).replace("return a", "return size")


def test_what_is_imported_has_its_name_from_elsewhere() -> None:
    before = "import lib.command.install as orig\n\n\nclass install(orig.install):\n    pass\n\n\ninstall()\n"
    change = ("class install", "class setup")
    assert following("python", before, change) == before.replace(*change).replace("\ninstall()", "\nsetup()")


def test_a_parameter_that_is_about_to_be_written_is_not_gone() -> None:
    texts = ["def f(a, b):\n    pass\n\n\nf(1, 2)\n", "def f(a, ):\n    pass\n\n\nf(1, 2)\n"]
    assert list(predictions(moment("python", *texts, cursor=len("def f(a, ")))) == []
    assert [each.kind for each in predictions(moment("python", *texts, cursor=len("def f(a, ):")))] == ["signature"]


def test_a_name_that_is_being_typed_is_none() -> None:
    before, now = "def f(count):\n    return count\n", "def f(co):\n    return count\n"
    assert list(predictions(moment("python", before, now, cursor=8))) == []
    assert len(list(predictions(moment("python", before, now, cursor=len(now))))) == 1  # the user went elsewhere and left it so


def test_another_file_that_has_the_name_from_this_one() -> None:
    use = document("python", "from main import load\n\nload()\n", "/p/use")
    stranger = document("python", "from other import load\n\nload()\n", "/p/stranger")
    made = moment("python", "def load():\n    pass\n", "def read():\n    pass\n", others=[use, stranger])
    elsewhere = {"other": Definition("load", Source("/p/other.py", "/p/other.py", "python"), "def load():")}
    made_with = moment(
        "python", "def load():\n    pass\n", "def read():\n    pass\n", others=[use, stranger], defined=list(elsewhere.values())
    )
    assert [(each.edit.document, applied(made_with, each)) for each in predictions(made_with)][0] == (
        use.document,
        "from main import read\n\nload()\n",
    )
    assert all(each.edit.document == use.document for each in predictions(made_with))
    assert next(predictions(made)).edit.document == use.document


# ------------------------------------------------------------------------------------------------ signatures


@pytest.mark.parametrize(
    ("language", "before", "change", "after"),
    [
        ("python", "def f(a, b, c):\n    pass\n\n\nf(1, 2, 3)\n", ("(a, b, c)", "(c, a)"), "def f(c, a):\n    pass\n\n\nf(3, 1)\n"),
        ("python", "def f(a, b=1):\n    pass\n\n\nf(1)\nf(2, b=3)\n", ("(a, b=1)", "(a)"), "def f(a):\n    pass\n\n\nf(1)\nf(2)\n"),
        (
            "typescript",
            "class A {\n  constructor(a: number, b: number) {}\n}\n\nnew A(1, 2);\n",
            (", b: number", ""),
            "class A {\n  constructor(a: number) {}\n}\n\nnew A(1);\n",
        ),
        ("rust", "fn f(a: u8, b: u8) {}\nfn g() { f(1, 2); }\n", ("a: u8, ", ""), "fn f(b: u8) {}\nfn g() { f(2); }\n"),
        ("cpp", "int f(int a, int b);\nint g() { return f(1, 2); }\n", (", int b", ""), "int f(int a);\nint g() { return f(1); }\n"),
    ],
    ids=["moved", "keyword", "constructor", "rust", "cpp"],
)
def test_calls_follow(language: str, before: str, change: tuple[str, str], after: str) -> None:
    assert following(language, before, change) == after


@pytest.mark.parametrize(
    ("language", "before", "change"),
    [
        ("python", "def f(a):\n    pass\n\n\nf(1)\n", ("(a)", "(a, b)")),  # nothing tells its value
        ("python", "def f(a):\n    pass\n\n\nf(1)\n", ("(a)", "(a, *more)")),
        ("python", "def f(a, b):\n    pass\n\n\nf(*both)\n", ("(a, b)", "(a)")),
        ("python", "def f(a):\n    pass\n\n\nf(1)\n", ("(a)", "(a: int)")),
        ("java", "class A {\n  void f(int a, int b) {}\n  void f(String a, int b) { f(1, 2); }\n}\n", ("f(int a, int b)", "f(int a)")),
    ],
)
def test_calls_do_not_follow(language: str, before: str, change: tuple[str, str]) -> None:
    assert following(language, before, change) is None


@pytest.mark.parametrize("parameters", ["long a", "const int a", "int a, int b"])
def test_a_type_is_followed_in_the_prototype(parameters: str) -> None:
    """In the same file, and in the header that belongs to it."""
    prototype, body = "int f({});\n", "int f({}) {{\n    return a;\n}}\n"
    made = moment("c", prototype.format("int a") + "\n" + body.format("int a"), prototype.format("int a") + "\n" + body.format(parameters))
    assert applied(made, next(predictions(made))) == prototype.format(parameters) + "\n" + body.format(parameters)
    header = Text("/p/main.h", "file:///p/main.h", "/p/main.h", "c", prototype.format("int a"))
    made = moment("c", body.format("int a"), body.format(parameters), others=[header])
    assert applied(made, next(predictions(made))) == prototype.format(parameters)


def test_a_call_that_was_put_in_order_is_left_alone() -> None:
    before = "def f(a, b):\n    pass\n\n\nf(1, 2)\n"
    swapped = ("(a, b)", "(b, a)")
    assert following("python", before, swapped) == before.replace(*swapped).replace("1, 2", "2, 1")
    assert following("python", before, swapped, ("1, 2", "2, 1")) is None


@pytest.mark.parametrize(
    ("language", "before", "change", "after"),
    [
        (
            "python",
            "class A:\n    def __init__(self, a):\n        self.a = a\n",
            ("(self, a)", "(self, a, b)"),
            "        self.a = a\n        self.b = b\n",
        ),
        (
            "typescript",
            "class A {\n  constructor(a: number) {\n    this.a = a;\n  }\n}\n",
            ("(a: number)", "(a: number, b: number)"),
            "    this.a = a;\n    this.b = b;\n",
        ),
        ("java", "class A {\n  A(int a) {\n    this.a = a;\n  }\n}\n", ("(int a)", "(int a, int b)"), "    this.a = a;\n    this.b = b;\n"),
    ],
)
def test_a_new_parameter_is_kept_as_the_one_before_it(language: str, before: str, change: tuple[str, str], after: str) -> None:
    made = following(language, before, change)
    assert made is not None and after in made
    without = before.replace("self.a = a", "pass").replace("this.a = a;", "")
    assert following(language, without, change) is None


# ------------------------------------------------------------------------------------------------ repeats

LINES = "a.go(1)\nb = 2\nb.go(b)\nc = 3\nif c:\n    c.go(c)\nd.stay(4)\n"


def test_the_third_line_follows_two() -> None:
    one, two = ("a.go(1)", "a.go(1, x)"), ("b.go(b)", "b.go(b, x)")
    assert following("python", LINES, one) is None
    assert (
        following("python", "first(1)\nfirst(2)\nfirst(3)\n", ("first(1)", "later(1)"), ("first(2)", "later(2)"))
        == "later(1)\nlater(2)\nlater(3)\n"
    )
    assert following("python", LINES, one, two) is None  # nothing but a bracket in common


def test_what_differs_is_taken_over() -> None:
    before = "#define LOW 1\n#define MID 2\n#define TOP 3\n"
    made = following("c", before, ("LOW", "GRADE_LOW"), ("MID", "GRADE_MID"))
    assert made == "#define GRADE_LOW 1\n#define GRADE_MID 2\n#define GRADE_TOP 3\n"


def test_a_line_that_was_passed_over_is_meant_to_stay() -> None:
    before = "first(1)\nx = 0\nfirst(2)\ny = 0\nfirst(3)\nz = 0\nfirst(4)\n"
    assert following("python", before, ("first(1)", "later(1)"), ("first(3)", "later(3)")) is None
    assert following("python", before, ("first(1)", "later(1)"), ("first(2)", "later(2)")) is not None


def test_what_a_tool_did_is_not_repeated() -> None:
    made = moment("python", "first(1)\nx\nfirst(2)\ny\nfirst(3)\n", "later(1)\nx\nlater(2)\ny\nfirst(3)\n")
    assert list(predictions(made)) == []


# ------------------------------------------------------------------------------------------------ imports


@pytest.mark.parametrize(
    ("language", "before", "change", "after"),
    [
        ("python", "x = 1\n", ("1", "os.getcwd()"), "import os\n\nx = os.getcwd()\n"),
        ("python", '"""Doc."""\n\nx = 1\n', ("1", "os.getcwd()"), '"""Doc."""\n\nimport os\n\nx = os.getcwd()\n'),
        (
            "python",
            "from __future__ import annotations\n\nimport sys\n\nx = 1\n",
            ("1", "os.sep"),
            "from __future__ import annotations\n\nimport os\nimport sys\n\nx = os.sep\n",
        ),
        (
            "go",
            "package p\n\nfunc f() {\n}\n",
            ("{\n}", "{\n\tfmt.Println()\n}"),
            'package p\n\nimport "fmt"\n\nfunc f() {\n\tfmt.Println()\n}\n',
        ),
        ("c", "int main(void) { return 0; }\n", ("0;", 'puts("a");'), '#include <stdio.h>\n\nint main(void) { return puts("a"); }\n'),
    ],
    ids=["first", "docstring", "future", "go", "c"],
)
def test_an_import_is_put_in(language: str, before: str, change: tuple[str, str], after: str) -> None:
    assert following(language, before, change) == after


def test_an_import_of_what_the_workspace_defines() -> None:
    there = Definition("load_all", Source("/p/lib/io.py", "/p/lib/io.py", "python"), "def load_all():")
    assert following("python", "x = 1\n", ("1", "load_all()"), defined=[there]) == "from lib.io import load_all\n\nx = load_all()\n"
    twice = Definition("load_all", Source("/p/lib/net.py", "/p/lib/net.py", "python"), "def load_all():")
    assert following("python", "x = 1\n", ("1", "load_all()"), defined=[there, twice]) is None
    script = Definition("loadAll", Source("/p/lib/io.ts", "/p/lib/io.ts", "typescript"), "export function loadAll() {")
    hidden = Definition("loadAll", Source("/p/lib/io.ts", "/p/lib/io.ts", "typescript"), "function loadAll() {")
    assert (
        following("typescript", "x = 1;\n", ("1", "loadAll()"), defined=[script])
        == "import { loadAll } from './lib/io';\n\nx = loadAll();\n"
    )
    assert following("typescript", "x = 1;\n", ("1", "loadAll()"), defined=[hidden]) is None


@pytest.mark.parametrize(
    ("language", "before", "change"),
    [
        ("python", "x = 1\n", ("1", "os")),  # a variable may be meant
        ("python", "def f(os):\n    return 1\n", ("1", "os.sep")),
        ("python", "x = 1\n", ("1", "a.os.sep")),
        ("python", "from x import y\n\ny()\nz = ['y']\n", ("y()\n", "")),  # named in a string
        ("python", "import a\n\n\ndef f():\n    return a\n\n\ndef g():\n    a()\n", ("return a", "return 1")),
        ("javascript", "x = 1;\n", ("1", "new Map()")),
        ("python", "x = 1\n", ("1", 'f("on this platform.')),  # a string that is not closed yet
        ("python", "def f():\n    pass\n", ("pass", '"""Does it.\n\n    The code.')),
        ("rust", "fn f() {\n    g();\n}\n", ("g();", 'g("an Arc is')),
        ("python", "import sys\n\nx = 1\n", ("sys\n", "sys\nfrom os.\n")),  # an import that is being written
    ],
)
def test_no_import(language: str, before: str, change: tuple[str, str]) -> None:
    assert following(language, before, change) is None


@pytest.mark.parametrize(
    ("language", "imported", "use"),
    [
        ("python", "from pathlib import (\n    Path,\n)\n", "Path(1)"),
        ("python", "import json  # noqa\n", "json.loads(1)"),
        ("python", "def f():\n    import json\n\n", "json.loads(1)"),
        ("python", "from lib import *\n", "Path(1)"),
        ("rust", "use std::sync::{\n    Arc,\n    Mutex,\n};\n", "let a = Arc::new(1);"),
        ("rust", "use std::{io, sync::{Arc, Mutex}};\n", "let a = Arc::new(1);"),
        ("rust", "use lib::prelude::*;\n", "let a = Arc::new(1);"),
        ("java", "import java.util.*;\n", "List<String> a;"),
    ],
    ids=["lines", "remark", "inside", "star", "rust lines", "rust nested", "rust star", "java star"],
)
def test_what_is_imported_already_in_another_form(language: str, imported: str, use: str) -> None:
    before = {"rust": "fn g() {\n    x();\n}\n", "java": "class A {\n  void f() {\n    x();\n  }\n}\n"}.get(language, "x()\n")
    assert following(language, imported + before, ("x();" if language != "python" else "x()", use)) is None
    assert following(language, before, ("x();" if language != "python" else "x()", use)) is not None


def test_a_comprehension_may_bind_a_name_yet() -> None:
    texts = ["x = 1\n", "x = [code.a\n", "x = [code.a]\n"]
    assert list(predictions(moment("python", *texts[:2], cursor=len("x = [code.a")))) == []
    assert [each.kind for each in predictions(moment("python", *texts, cursor=len("x = [code.a]")))] == ["import"]


def test_an_import_that_is_no_longer_used_goes() -> None:
    assert following("python", "import os\n\nx = os.sep\n", ("os.sep", "1")) == "x = 1\n"
    assert (
        following("go", 'package p\n\nimport (\n\t"fmt"\n)\n\nfunc f() { fmt.Println() }\n', ("fmt.Println()", ""))
        == "package p\n\nfunc f() {  }\n"
    )
    assert following("rust", "use a::{b, c};\n\nfn f() { b(c); }\n", ("b(c)", "b(1)")) == "use a::b;\n\nfn f() { b(1); }\n"


def test_the_import_of_what_was_only_commented_out_stays() -> None:
    before = "import os\n\n\ndef f():\n    return os.sep\n"
    assert following("python", before, ("return os.sep", "# return os.sep\n    return 2")) is None
    assert following("python", before, ("return os.sep", "return 2")) is not None


# ------------------------------------------------------------------------------------------------ all of them


def test_nothing_that_breaks_the_syntax_and_nothing_without_a_history() -> None:
    assert list(predictions(moment("python", "def f(a):\n    return a\n"))) == []
    broken = moment("python", "def f(a:\n    return a\n", "def f(b:\n    return a\n")
    assert all(applied(broken, each) for each in predictions(broken))


@pytest.mark.parametrize("language", PATHS)
def test_any_text_is_borne(language: str) -> None:
    for texts in (
        ("", "\n"),
        ("(((", "(("),
        ("a b c\n" * 300, "a b d\n" + "a b c\n" * 299),
        ("\0x = 1\n", "\0y = 1\n"),
        ("é = '😀'\n", "è = '😀'\n"),
    ):
        list(predictions(moment(language, *texts)))

"""Instructions made from source files: what is asked about, what is to come out, and that both are laid out as serving sends them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec
import pytest
from snippets import PYTHON, SNIPPETS
from tiny import LAYOUT, tokenizer

from engine.api import SettingInvalid
from engine.instructions import INSTRUCTIONS, instruction
from engine.layout import rewrite_ids
from engine.training.corpus import Corpus, SourceFile
from engine.training.instructions import InstructionRows, InstructionRules
from engine.training.rewriting import rewriting_row
from engine.training.run import EDIT_IDS
from engine.training.syntax import Source, parses
from engine.training.tasks import bodies, docs, fixes, names, signatures, simplify, statements
from engine.training.tasks.task import Maker, Task
from engine.training.tasks.wordings import wording

EDITS = msgspec.structs.replace(LAYOUT, context=2048, edit=EDIT_IDS)
WHOLE = InstructionRules(contexts=((2048, 1.0),))
MAKERS: dict[str, Maker] = {
    "docstring": docs.docstring,
    "update_docstring": docs.update_docstring,
    "types": signatures.types,
    "parameter": signatures.parameter,
    "body": bodies.body,
    "comment": bodies.comment,
    "rename": names.rename,
    "fix": fixes.fix,
    "simplify": simplify.simplify,
    "log": statements.log,
    "handle_errors": statements.handle_errors,
    "add_comments": statements.add_comments,
    "remove_comments": statements.remove_comments,
}


def drawn(maker: Maker, language: str, text: str, seeds: int = 60) -> Iterator[Task]:
    """The tasks that a maker finds in a text."""
    for seed in range(seeds):
        task = maker(Source(text, language), random.Random(seed))
        if task is not None:
            yield task


def exchanged(text: str, task: Task, new: str) -> str:
    """The file with `new` in the task's rows."""
    rows = text.split("\n")
    return "\n".join([*rows[: task.first], *new.split("\n"), *rows[task.end :]])


def rows_from(language: str, start: str, count: int) -> str:
    """So many rows of a snippet from the one that begins with `start`."""
    lines = SNIPPETS[language].split("\n")
    first = next(row for row, line in enumerate(lines) if line.startswith(start))
    return "\n".join(lines[first : first + count])


def without(text: str, first: int, end: int) -> str:
    """The text without some rows."""
    lines = text.split("\n")
    return "\n".join(lines[:first] + lines[end:])


HAS = rows_from("python", "    def has(", 3)
ADD = rows_from("typescript", "  /** Adds", 5)
NAMES = rows_from("python", "    def names(", 4)
TRY = rows_from("python", "        try:", 4)


@pytest.mark.parametrize(
    ("maker", "language", "region", "answer"),
    [
        (docs.docstring, "python", without(HAS, 1, 2), HAS),
        (docs.docstring, "typescript", without(ADD, 0, 1), ADD),
        (docs.docstring, "go", without(rows_from("go", "// Join", 9), 0, 1), rows_from("go", "// Join", 9)),
        (docs.docstring, "rust", without(rows_from("rust", "///", 13), 0, 1), rows_from("rust", "///", 13)),
        (docs.docstring, "java", without(rows_from("java", "  /**", 11), 0, 3), rows_from("java", "  /**", 11)),
        (docs.docstring, "c", without(rows_from("c", "/**", 9), 0, 1), rows_from("c", "/**", 9)),
        (docs.docstring, "lua", without(rows_from("lua", "---", 11), 0, 1), rows_from("lua", "---", 11)),
        (
            docs.update_docstring,
            "python",
            without(rows_from("python", "    def __init__", 7), 3, 4),
            rows_from("python", "    def __init__", 7),
        ),
        (signatures.types, "python", HAS.replace("name: str", "name").replace(" -> bool", ""), HAS),
        (signatures.types, "typescript", ADD.replace(": number", ""), ADD),
        (signatures.parameter, "go", rows_from("go", "// Join", 9).replace(", limit int", ""), rows_from("go", "// Join", 9)),
        (bodies.body, "python", without(NAMES, 2, 4) + "\n        pass", NAMES),
        (bodies.body, "typescript", "  isEmpty(): boolean {}", rows_from("typescript", "  isEmpty", 3)),
        (bodies.comment, "go", rows_from("go", "\t// join", 1), rows_from("go", "\t// join", 3)),
        (bodies.comment, "java", rows_from("java", "    // refuse", 1), rows_from("java", "    // refuse", 6)),
        (bodies.comment, "c", rows_from("c", "    // add", 1), rows_from("c", "    // add", 5)),
        (statements.handle_errors, "python", TRY.split("\n")[1][4:], TRY),
    ],
)
def test_a_region_and_what_it_becomes(maker: Maker, language: str, region: str, answer: str) -> None:
    assert (region, answer) in {(task.region, task.answer) for task in drawn(maker, language, SNIPPETS[language], seeds=300)}


@pytest.mark.parametrize(
    ("language", "plain", "roundabout"),
    [
        ("python", "def f(x):\n    if x:\n        go()\n", "    if x == True:"),
        ("python", "def f(x):\n    return [g(y) for y in x if y]\n",
         "    result = []\n    for y in x:\n        if y:\n            result.append(g(y))"),
        ("python", "def f(x):\n    names = {y: len(y) for y in x}\n", "    names = {}\n    for y in x:\n        names[y] = len(y)"),
        ("python", "def f(x):\n    if x:\n        return 1\n    go()\n    return 2\n", "    else:\n        go()\n        return 2"),
        ("python", "def f(x):\n    return x > 3\n", "    if x > 3:\n        return True"),
        ("python", "def f(x):\n    return any(y > 3 for y in x)\n",
         "    for y in x:\n        if y > 3:\n            return True\n    return False"),
        ("python", "def f(x):\n    for i, y in enumerate(x):\n        go(i, y)\n", "    for i in range(len(x)):\n        y = x[i]\n"),
        ("python", "def f(x):\n    y = 1 if x else 2\n", "    if x:\n        y = 1\n    else:\n        y = 2"),
        ("python", "def f(x):\n    if x and go():\n        stop()\n", "    if x:\n        if go():\n            stop()"),
        ("python", 'def f(x):\n    print(f"{x} is here")\n', '"{} is here".format(x)'),
        ("python", "def f(x):\n    x += 1\n", "    x = x + 1"),
        ("typescript", "function f(x: boolean) {\n  if (!x) {\n    go();\n  }\n}\n", "if (x === false) {"),
        ("typescript", "const f = (x: string) => x.trim();\n", "=> {\n  return x.trim();\n};"),
        ("typescript", "for (const x of xs) {\n  go(x);\n}\n", "for (let i = 0; i < xs.length; i++) {\n  const x = xs[i];\n  go(x);"),
        ("javascript", "console.log(`hello ${name}`);\nlet y = `${name}!`;\n", "name + '!'"),
        ("go", "package a\n\nfunc f(x int) bool {\n\treturn x == 3\n}\n", "\tif x == 3 {\n\t\treturn true\n\t}"),
        ("java", "class A {\n  void f() {\n    List<String> x = new ArrayList<>();\n  }\n}\n", "new ArrayList<String>()"),
        ("rust", "fn f(x: &str) -> usize {\n    x.trim().len()\n}\n", "return x.trim().len();"),
        ("c", "int f(int x) {\n    if (x) {\n        return 1;\n    }\n    x += 2;\n    return x;\n}\n",
         " else {\n        x += 2;\n        return x;\n    }"),
    ],
)  # fmt: skip
def test_roundabout_code_becomes_plain(language: str, plain: str, roundabout: str) -> None:
    found = [task for task in drawn(simplify.simplify, language, plain, seeds=120) if roundabout in task.region]
    assert found
    for task in found:
        assert exchanged(plain, task, task.answer) == plain
        assert task.answer != task.region


@pytest.mark.parametrize(
    ("language", "text", "broken", "messages"),
    [
        ("python", "def area(width):\n    return width\n", "def area(width)", {"expected ':'"}),
        ("python", "def area(width):\n    print(width)\n", "    print(width", {"'(' was never closed"}),
        ("python", "import json\nimport os\n\nprint(json.dumps(os.environ))\n", "import os", {"undefined name 'json'"}),
        ("python", "class A:\n    def f(self, x):\n        self.go(x)\n", "        go(x)", {"undefined name 'go'"}),
        ("python", "print('hello')\nwidth = 3\n", "print('hello)", {"unterminated string literal"}),
        ("python", "if a:\n    go()\n    stop()\n", "if a:\ngo()", {"expected an indented block after 'if' statement"}),
        ("typescript", "const user = find();\nconst a = user === b;\n", "user == b", {"Expected '===' and instead saw '=='."}),
        ("typescript", "const user = find();\nshow(user);\n", "cosnt user", {"Unexpected keyword or identifier."}),
        ("go", "package a\n\nfunc f() {\n\tx := 3\n\tgo(x)\n}\n", "\tx = 3", {"undefined: x"}),
        ("rust", "fn f() {\n    let mut x = 3;\n    x += 1;\n}\n", "let x = 3;", {"cannot assign twice to immutable variable `x`"}),
        ("java", "class A {\n  int a = 3;\n}\n", "int a = 3", {"';' expected"}),
    ],
)  # fmt: skip
def test_a_broken_line_has_the_message_of_a_checker(language: str, text: str, broken: str, messages: set[str]) -> None:
    found = [task for task in drawn(fixes.fix, language, text, seeds=1500) if broken in task.region and task.region != task.answer]
    assert messages <= {task.values["message"] for task in found}


def test_the_cursor_of_a_fix_stands_where_the_checker_points() -> None:
    text = "def area(width, height):\n    product = width * height\n    return product\n"
    pointed = [
        task for task in drawn(fixes.fix, "python", text, seeds=400) if task.cursor is not None and "undefined" in task.values["message"]
    ]
    assert pointed
    for task in pointed:
        name = task.values["message"].split("'")[1]
        assert task.region[task.cursor :].startswith(name)


def test_a_rename_takes_every_use_of_the_name_and_nothing_else() -> None:
    text = (
        "def area(width, height):\n    shape = Shape(width=width)\n    shape.width = 1\n    return width * height\n\n\n"
        "depth = depth or depth\n"
    )
    answers = {task.answer for task in drawn(names.rename, "python", text, seeds=200) if task.values == {"old": "width", "new": "depth"}}
    assert answers == {
        "def area(depth, height):\n    shape = Shape(width=depth)\n    shape.width = 1\n    return depth * height",
    }


@pytest.mark.parametrize("name", MAKERS)
def test_the_answer_fits_into_the_file(name: str) -> None:
    """In every language: the file parses with the answer in it, and, unless something was to be fixed, with the region in it."""
    count = 0
    for language, text in SNIPPETS.items():
        assert parses(text, language)
        for task in drawn(MAKERS[name], language, text):
            count += 1
            assert task.name == name and parses(exchanged(text, task, task.answer), language), (language, task)
            if name not in ("remove_comments", "rename", "parameter"):
                assert exchanged(text, task, task.answer) == text
            if name not in ("fix", "comment", "handle_errors"):
                assert parses(exchanged(text, task, task.region), language), (language, task)
    assert count > 10


def test_a_mended_fix_changes_nothing() -> None:
    tasks = list(drawn(fixes.fix, "python", PYTHON, seeds=400))
    mended = [task for task in tasks if task.region == task.answer]
    assert 0.01 < len(mended) / len(tasks) < 0.12


# ------------------------------------------------------------------------------------------------ wordings


def test_an_instruction_is_filled_in_and_one_line() -> None:
    assert instruction("fix", message="expected ':'\n  in line 3") == "fix: expected ':'"
    assert instruction("rename", old="a{0}", new="b") == "rename a{0} to b"


def test_every_task_has_a_wording_and_is_mostly_asked_for_as_its_command_does() -> None:
    values = dict.fromkeys(("message", "old", "new", "parameter", "error"), "x")
    for name in INSTRUCTIONS:
        said = [wording(name, "area", values, random.Random(seed)) for seed in range(300)]
        assert 0.5 < said.count(instruction(name, **values)) / len(said) < 0.9
        assert len({words.lower().rstrip(".") for words in said}) >= 4


# ------------------------------------------------------------------------------------------------ rows


def rows_of(*languages: str) -> InstructionRows:
    files = tuple(SourceFile(repo="shop", path=f"src/{name}", language=name, text=SNIPPETS[name]) for name in languages)
    return InstructionRows(Corpus(files), tokenizer(), EDITS, WHOLE)


def test_the_same_generator_gives_the_same_rows() -> None:
    first, second = ([rows_of(*SNIPPETS).row(rng) for rng in map(random.Random, range(12))] for _ in range(2))
    assert first == second
    assert len({row.kind for row in first}) > 3


def test_a_row_is_what_serving_sends_and_ends() -> None:
    file = SourceFile(repo="shop", path="shop.py", language="python", text=PYTHON)
    task = next(task for task in drawn(docs.docstring, "python", PYTHON, seeds=300) if task.region != task.answer)
    rules = InstructionRules(contexts=((2048, 1.0),), with_suffix=1.0, with_path=1.0)
    row = InstructionRows(Corpus((file,)), tokenizer(), EDITS, rules).lay_out(file, task, random.Random(0))
    assert row is not None and row.kind == "instruction/docstring"
    lines = PYTHON.split("\n")
    sent = {
        rewriting
        for seed in range(50)
        for rewriting in [
            tuple(
                rewrite_ids(
                    tokenizer(),
                    EDITS,
                    path="shop.py",
                    prefix="".join(line + "\n" for line in lines[: task.first]),
                    region=task.region,
                    suffix="".join("\n" + line for line in lines[task.end :]),
                    instruction=wording("docstring", task.symbol, {}, random.Random(seed)),
                    context=2048,
                )
            )
        ]
    }
    assert row.ids[: row.start] in sent
    assert tokenizer().decode(row.ids[row.start : -1]) == task.answer and row.ids[-1] == EDITS.end_id


def test_where_nothing_changes_the_row_ends_at_once() -> None:
    row = rewriting_row(
        tokenizer(), EDITS, path="a.py", prefix="", region="a = 1", suffix="", answer="a = 1", context=512, kind="", language="python"
    )  # fmt: skip
    assert row is not None and row.ids[row.start :] == (EDITS.end_id,) and row.copied == frozenset()


def test_a_row_that_is_too_long_is_none() -> None:
    long = "a = 1\n" * 50
    for region, answer in ((long, "b"), ("b", long)):
        row = rewriting_row(
            tokenizer(), EDITS, path="", prefix="", region=region, suffix="", answer=answer, context=256, kind="", language=""
        )  # fmt: skip
        assert row is None


def test_a_layout_without_edits_and_a_corpus_without_code_are_refused() -> None:
    file = SourceFile(repo="r", path="a.py", language="python", text=PYTHON)
    with pytest.raises(SettingInvalid, match="no edits"):
        InstructionRows(Corpus((file,)), tokenizer(), LAYOUT)
    with pytest.raises(SettingInvalid, match="no source files"):
        InstructionRows(Corpus((yaml_file(),)), tokenizer(), EDITS)


def yaml_file() -> SourceFile:
    return SourceFile(repo="r", path="a.yaml", language="yaml", text="a: 1\n")

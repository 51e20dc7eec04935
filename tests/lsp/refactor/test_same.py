"""What a simplification may change: only what is seen to do the same. Nothing that computes something else passes."""

from __future__ import annotations

import ast
import itertools
import random
from typing import Any

import pytest
from refactor_client import Told, refused

from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.same import check_same
from mercury_lsp.syntax import Tree

SAME: list[tuple[str, str, str]] = [
    ("python", "def f(a):\n    if a:\n        return True\n    return False\n", "def f(a):\n    return bool(a)\n"),
    ("python", "def f(a, b):\n    x = a * b\n    return x + 1\n", "def f(a, b):\n    return a * b + 1\n"),
    ("python", "def f(a, b):\n    if a:\n        if b:\n            go()\n", "def f(a, b):\n    if a and b:\n        go()\n"),
    (
        "python",
        "def f(a, b):\n    if not a == b:\n        return 1\n    else:\n        return 2\n",
        "def f(a, b):\n    return 1 if a != b else 2\n",
    ),
    (
        "python",
        "def f(a):\n    if a is None:\n        return 0\n    else:\n        return a\n",
        "def f(a):\n    return 0 if a is None else a\n",
    ),
    (
        "python",
        "def f(x):\n    total = 0\n    for i in x:\n        total = total + 1\n    return total\n",
        "def f(x):\n    total = 0\n    for i in x:\n        total += 1\n    return total\n",
    ),
    ("python", "def f(a):\n    if a > 1 and a < 5:\n        return True\n    return False\n", "def f(a):\n    return 1 < a < 5\n"),
    (
        "javascript",
        "function f(a) {\n  if (a) {\n    return true;\n  }\n  return false;\n}\n",
        "function f(a) {\n  return Boolean(a);\n}\n",
    ),
    (
        "javascript",
        "function f(a) {\n  if (a === 1) {\n    return true;\n  } else {\n    return false;\n  }\n}\n",
        "function f(a) {\n  return a === 1;\n}\n",
    ),
    (
        "typescript",
        "const f = (a: number) => {\n  const b = a * 2;\n  return b;\n};\n",
        "const f = (a: number) => {\n  return a * 2;\n};\n",
    ),
    (
        "go",
        "package m\n\nfunc f(a bool) bool {\n\tif a == true {\n\t\treturn true\n\t}\n\treturn false\n}\n",
        "package m\n\nfunc f(a bool) bool {\n\treturn a\n}\n",
    ),
    ("rust", "fn f(a: bool) -> bool {\n    if a {\n        return true;\n    }\n    false\n}\n", "fn f(a: bool) -> bool {\n    a\n}\n"),
    ("rust", "fn f(a: u8) -> u8 {\n    let b = a + 1;\n    return b;\n}\n", "fn f(a: u8) -> u8 {\n    a + 1\n}\n"),
    (
        "java",
        "class A {\n    boolean f(int a) {\n        if (a > 1) {\n            return true;\n        }\n        return false;\n    }\n}\n",
        "class A {\n    boolean f(int a) {\n        return a > 1;\n    }\n}\n",
    ),
    (
        "c",
        "int f(int a) {\n    if (a > 1) {\n        return 2;\n    } else {\n        return 3;\n    }\n}\n",
        "int f(int a) {\n    return a > 1 ? 2 : 3;\n}\n",
    ),
]

OTHER: list[tuple[str, str, str]] = [
    ("python", "def f(w, h):\n    return w * h\n", "def f(w, h):\n    return w + h\n"),
    ("python", "def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
    ("python", "def f(a):\n    if a == True:\n        return True\n    return False\n", "def f(a):\n    return bool(a)\n"),
    ("python", "def f(a, b):\n    if a and b:\n        go()\n", "def f(a, b):\n    if a or b:\n        go()\n"),
    ("python", "def f(a):\n    g(a)\n    h(a)\n", "def f(a):\n    h(a)\n    g(a)\n"),
    ("python", "def f(a):\n    g(a)\n    g(a)\n", "def f(a):\n    g(a)\n"),
    ("python", "def f(a):\n    x = a.b\n    g()\n    return x\n", "def f(a):\n    g()\n    return a.b\n"),
    ("python", "def f(a):\n    return a + 1\n", "def f(a):\n    return a + 2\n"),
    ("python", "def f(a):\n    return 'x'\n", "def f(a):\n    return 'y'\n"),
    ("python", "def f(a):\n    return f'{a}x'\n", "def f(a):\n    return f'{a}y'\n"),
    ("python", "def f(a):\n    a = a + [1]\n    return a\n", "def f(a):\n    a += [1]\n    return a\n"),
    (
        "python",
        "def f(x):\n    t = 0\n    for i in x:\n        t += 1\n    return t\n",
        "def f(x):\n    t = 0\n    for i in x:\n        t += 2\n    return t\n",
    ),
    (
        "python",
        "def f(x):\n    t = 0\n    for i in x:\n        t += 1\n    return t\n",
        "def f(x):\n    t = 0\n    for i in y:\n        t += 1\n    return t\n",
    ),
    ("python", "def f(a):\n    a.x = 1\n    return a\n", "def f(a):\n    a.x = 2\n    return a\n"),
    ("python", "def f(a):\n    return [x for x in a]\n", "def f(a):\n    return [y for x in a]\n"),
    ("python", "def f(a):\n    return g(a, key=1)\n", "def f(a):\n    return g(a, key=2)\n"),
    ("python", "x = 1\ny = x\n", "x = 2\ny = x\n"),
    ("python", "def f(a):\n    if a < 1:\n        return 1\n    return 2\n", "def f(a):\n    if a <= 1:\n        return 1\n    return 2\n"),
    ("python", "def f(a, b):\n    with a:\n        b()\n", "def f(a, b):\n    with b:\n        b()\n"),
    (
        "python",
        "def f(a):\n    try:\n        a()\n    except E:\n        pass\n",
        "def f(a):\n    try:\n        a()\n    except G:\n        pass\n",
    ),
    ("python", "def f(a):\n    return lambda: a\n", "def f(a):\n    return lambda: 1\n"),
    ("javascript", "const f = (a) => a * 2;\n", "const f = (a) => a + 2;\n"),
    ("javascript", "function f(a) {\n  return a === 1;\n}\n", "function f(a) {\n  return a !== 1;\n}\n"),
    ("javascript", "function f(a) {\n  a++;\n  return a;\n}\n", "function f(a) {\n  a--;\n  return a;\n}\n"),
    ("javascript", "function f(a) {\n  return `x${a}`;\n}\n", "function f(a) {\n  return `y${a}`;\n}\n"),
    ("go", "package m\n\nfunc f(a int) int {\n\treturn a * 2\n}\n", "package m\n\nfunc f(a int) int {\n\treturn a + 2\n}\n"),
    ("go", "package m\n\nfunc f(a int) int {\n\ta++\n\treturn a\n}\n", "package m\n\nfunc f(a int) int {\n\ta--\n\treturn a\n}\n"),
    ("rust", "fn f(a: u8) -> u8 {\n    a * 2\n}\n", "fn f(a: u8) -> u8 {\n    a + 2\n}\n"),
    ("rust", "fn f(a: u8) -> u8 {\n    a * 2\n}\n", "fn f(a: u8) -> u8 {\n    a * 2;\n}\n"),
    ("rust", "fn f(a: u8) -> u8 {\n    match a { 1 => 2, _ => 3 }\n}\n", "fn f(a: u8) -> u8 {\n    match a { 1 => 2, _ => 4 }\n}\n"),
    (
        "java",
        "class A {\n    int f(int a) {\n        long b = a;\n        return (int) (b * 3);\n    }\n}\n",
        "class A {\n    int f(int a) {\n        int b = a;\n        return (int) (b * 3);\n    }\n}\n",
    ),
    (
        "java",
        "class A {\n    int f(A a) {\n        return a.g(1);\n    }\n}\n",
        "class A {\n    int f(A a) {\n        return a.h(1);\n    }\n}\n",
    ),
    ("c", "int f(int *a) {\n    return *a;\n}\n", "int f(int *a) {\n    return a;\n}\n"),
    ("lua", "local function f(a)\n  return a * 2\nend\n", "local function f(a)\n  return a + 2\nend\n"),
    ("ruby", "def f(a)\n  a * 2\nend\n", "def f(a)\n  a + 2\nend\n"),
    ("bash", "f() {\n  echo one\n}\n", "f() {\n  echo two\n}\n"),
    ("python", "def f(a):\n    return -a\n", "def f(a):\n    return a\n"),
    ("python", "def f(a, b):\n    b = a\n    a = 1\n    return b\n", "def f(a, b):\n    a = 1\n    b = a\n    return b\n"),
    (
        "python",
        "def f(a):\n    x = 1\n    def g():\n        return x\n    x = 2\n    return g\n",
        "def f(a):\n    x = 1\n    def g():\n        return x\n    return g\n",
    ),
    ("python", "x = 0\ndef f():\n    y = x\n    g()\n    return y\n", "x = 0\ndef f():\n    g()\n    return x\n"),
    ("python", "def f(a):\n    assert a > 1\n    return a\n", "def f(a):\n    assert a > 2\n    return a\n"),
    ("python", "def f(a):\n    return a[0]\n", "def f(a):\n    return a[1]\n"),
    ("python", "def f(a):\n    return a, 1\n", "def f(a):\n    return 1, a\n"),
    (
        "python",
        "def f(a):\n    while a > 1:\n        a -= 1\n    return a\n",
        "def f(a):\n    while a > 0:\n        a -= 1\n    return a\n",
    ),
    (
        "python",
        "def f(a):\n    for x in a:\n        if x:\n            break\n    else:\n        g()\n",
        "def f(a):\n    for x in a:\n        if x:\n            break\n",
    ),
    ("python", "class A:\n    x = 1\n", "class A:\n    x = 2\n"),
    ("python", "@d\ndef f(a):\n    return a\n", "@e\ndef f(a):\n    return a\n"),
    ("python", "def f(a):\n    return a\n", "def f(b):\n    return a\n"),
    ("python", "def f(a=1):\n    return a\n", "def f(a=2):\n    return a\n"),
    ("python", "def f(a):\n    yield a\n", "def f(a):\n    yield 1\n"),
    ("python", "def f(a):\n    a, b = a\n    return b\n", "def f(a):\n    b, a = a\n    return b\n"),
    ("python", "def f(a):\n    (x, y) = a, 1\n    return y\n", "def f(a):\n    (x, y) = 1, a\n    return y\n"),
    ("python", "def f(a):\n    del a[0]\n", "def f(a):\n    del a[1]\n"),
    ("python", "def f(a):\n    if a:\n        return 1\n", "def f(a):\n    if a:\n        return\n"),
    (
        "typescript",
        "function f(a: number) {\n  const { x, y } = a;\n  return x;\n}\n",
        "function f(a: number) {\n  const { x, y } = a;\n  return y;\n}\n",
    ),
    (
        "typescript",
        "function f(a: number) {\n  switch (a) {\n    case 1: return 2;\n  }\n}\n",
        "function f(a: number) {\n  switch (a) {\n    case 2: return 2;\n  }\n}\n",
    ),
]


def passes(language: str, before: str, after: str) -> bool:
    old, new = Tree.parse(before, language), Tree.parse(after, language)
    assert old is not None and new is not None and not old.faults() and not new.faults(), after
    try:
        check_same(old, new)
    except Unfit:
        return False
    return True


@pytest.mark.parametrize("language, before, after", SAME)
def test_what_does_the_same(language: str, before: str, after: str) -> None:
    assert passes(language, before, after)


@pytest.mark.parametrize("language, before, after", OTHER)
def test_what_does_something_else(language: str, before: str, after: str) -> None:
    assert not passes(language, before, after)


def test_too_many_tests_to_follow_are_refused() -> None:
    before = "def f(*a):\n" + "".join(f"    if a[{number}]:\n        return {number}\n" for number in range(12))
    assert not passes("python", before, before.replace("return 11", "return 12"))


def test_a_product_is_no_sum() -> None:
    before = "def area(w, h):\n    «return w * h»\n"
    refused("mercury.simplify", before, "not certain that the result does the same", engine=Told(rewrite=["    return w + h"] * 9))


# ------------------------------------------------------------------------------------------------ programs, and what they compute

NAMES = ("a", "b", "c")
INPUTS = list(itertools.product((-1, 0, 1, 2), repeat=3))


class Writer:
    """Small functions of three numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.rng.random() < 0.4:
            return self.rng.choice([*NAMES, "0", "1", "2"])
        if self.rng.random() < 0.2:
            return f"({self.number(depth - 1)} if {self.test(depth - 1)} else {self.number(depth - 1)})"
        return f"({self.number(depth - 1)} {self.rng.choice('+-*')} {self.number(depth - 1)})"

    def test(self, depth: int = 1) -> str:
        if depth and self.rng.random() < 0.4:
            return self.rng.choice(
                [f"not ({self.test(depth - 1)})", f"({self.test(depth - 1)} {self.rng.choice(['and', 'or'])} {self.test(depth - 1)})"]
            )
        return f"{self.number(1)} {self.rng.choice(['==', '!=', '<', '<=', '>', '>='])} {self.number(1)}"

    def lines(self, depth: int = 2) -> list[str]:
        found: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if depth and kind < 0.4:
                found += [f"if {self.test()}:", *(f"    {line}" for line in self.lines(depth - 1))]
                if self.rng.random() < 0.5:
                    found += ["else:", *(f"    {line}" for line in self.lines(depth - 1))]
            elif kind < 0.6:
                found.append(f"{self.rng.choice(NAMES)} = {self.number()}")
            elif kind < 0.7:
                found.append(f"{self.rng.choice(NAMES)} += {self.number()}")
            elif kind < 0.8:
                found.append(f"done.append({self.number()})")
            elif kind < 0.87:
                found += [f"for c in range({self.rng.choice(NAMES)}):", *(f"    {line}" for line in self.lines(0))]
            else:
                found.append(f"return {self.rng.choice([self.number(), self.test()])}")
        return found

    def program(self) -> str:
        return "\n".join(["def f(a, b, c, done):", *(f"    {line}" for line in self.lines()), "    return a"]) + "\n"


class Changed(ast.NodeTransformer):
    """One place of a program made otherwise: some of that computes the same."""

    def __init__(self, place: int, rng: random.Random) -> None:
        self.place, self.rng = place, rng

    def generic_visit(self, node: ast.AST) -> Any:
        super().generic_visit(node)
        self.place -= 1
        return self.other(node) if self.place == 0 else node

    def other(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.If):
            if len(node.body) == len(node.orelse) == 1 and all(isinstance(each, ast.Return) for each in (node.body[0], node.orelse[0])):
                return ast.Return(ast.IfExp(node.test, node.body[0].value, node.orelse[0].value))  # type: ignore[attr-defined]
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse or [ast.Pass()], node.body)
        if isinstance(node, ast.BinOp):
            return ast.BinOp(node.right, node.op, node.left) if self.rng.random() < 0.5 else ast.BinOp(node.left, ast.Add(), node.right)
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        if isinstance(node, ast.Compare):
            turned = self.rng.choice([ast.Lt(), ast.LtE(), ast.Eq(), ast.NotEq()])
            return ast.Compare(node.left, [turned], node.comparators)
        if isinstance(node, ast.UnaryOp):
            return node.operand
        if isinstance(node, ast.AugAssign):
            target = node.target
            return ast.Assign([target], ast.BinOp(ast.Name(target.id), node.op, node.value))  # type: ignore[union-attr]
        if isinstance(node, ast.Assign | ast.Expr):
            return ast.Pass()
        if isinstance(node, ast.Constant):
            return ast.Constant(1 if node.value != 1 else 2)
        if isinstance(node, ast.Name) and node.id in NAMES:
            return ast.Name(self.rng.choice(NAMES))
        return node


def computed(program: str) -> list[object]:
    space: dict[str, Any] = {}
    exec(program, space)  # of numbers, written above
    results: list[object] = []
    for values in INPUTS:
        done: list[object] = []
        results.append((space["f"](*values, done), done))
    return results


def test_what_passes_computes_the_same() -> None:
    accepted = rejected = 0
    for seed in range(1200):
        rng = random.Random(seed)
        before = ast.unparse(ast.parse(Writer(rng).program())) + "\n"
        changed = Changed(rng.randint(1, 30), rng).visit(ast.parse(before))
        after = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        if before == after:
            continue
        if passes("python", before, after):
            accepted += 1
            assert computed(before) == computed(after), f"{before}\n{after}"
        else:
            rejected += computed(before) != computed(after)
    assert accepted > 20 and rejected > 100

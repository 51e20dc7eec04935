"""An expression becomes a variable, a variable becomes its value: only where the program computes the same afterwards."""

from __future__ import annotations

import pytest
from moved import check, refused

EXTRACTED = {
    "python: an argument": (
        "python",
        "def f(a):\n    if g(«a.b[3]», 1):\n        return 2\n",
        "def f(a):\n    value = a.b[3]\n    if g(value, 1):\n        return 2\n",
    ),
    "python: a body in one line": (
        "python", "def f(a): return x(«a.b(1)»)\n", "def f(a): value = a.b(1); return x(value)\n",
    ),
    "python: in an f-string": (
        "python", "def f(a):\n    return f'{«a + 1»}!'\n", "def f(a):\n    value = a + 1\n    return f'{value}!'\n",
    ),
    "python: what is gone through": (
        "python", "def f(a):\n    for x in «sorted(a)»:\n        print(x)\n",
        "def f(a):\n    value = sorted(a)\n    for x in value:\n        print(x)\n",
    ),
    "javascript: with a function in it": (
        "javascript",
        "function f(a) {\n  return render(«a.items.map((x) => x + 1)», 2);\n}\n",
        "function f(a) {\n  const value = a.items.map((x) => x + 1);\n  return render(value, 2);\n}\n",
    ),
    "javascript: without semicolons, but where it would go on": (
        "javascript",
        "f('a')\nlet a = 1, b = 2;\n[a, b] = «[b, a]»\n",
        "f('a')\nlet a = 1, b = 2;\nconst value = [b, a];\n[a, b] = value\n",
    ),
    "typescript": (
        "typescript", "function f(a: number) {\n  log(«a * 2»);\n}\n",
        "function f(a: number) {\n  const value = a * 2;\n  log(value);\n}\n",
    ),
    "go: a condition": (
        "go", "package m\n\nfunc f(a int) {\n\tif g(«a * 2») > 1 {\n\t}\n}\n",
        "package m\n\nfunc f(a int) {\n\tvalue := a * 2\n\tif g(value) > 1 {\n\t}\n}\n",
    ),
    "rust: in the last expression": (
        "rust", "fn f(a: u8) -> u8 {\n    g(«a * 2», 3)\n}\n", "fn f(a: u8) -> u8 {\n    let value = a * 2;\n    g(value, 3)\n}\n",
    ),
    "java: with the type that is known": (
        "java",
        "class A {\n    int f(int a) {\n        return g(«a * 2», 3);\n    }\n}\n",
        "class A {\n    int f(int a) {\n        int value = a * 2;\n        return g(value, 3);\n    }\n}\n",
    ),
}  # fmt: skip

NOT_EXTRACTED = {
    "without braces": ("javascript", "function f(a) {\n  if (a) g(«a.b»);\n}\n", "without braces"),
    "evaluated each time": ("python", "def f(a):\n    while «a.b»:\n        pass\n", "again and again"),
    "after a call": ("python", "def f(a):\n    return h() + «a.b»\n", "before it"),
    "perhaps": ("python", "def f(a):\n    return a and «a.b»\n", "some cases"),
    "one of two": ("javascript", "function f(a) {\n  return a ? «a.b» : 1;\n}\n", "some cases"),
    "optional": ("javascript", "function f(a) {\n  return a?.b(«c()»);\n}\n", "before it"),
    "a loop's step": ("go", "package m\n\nfunc f(a T) {\n\tfor i := 0; i < «a.n()»; i++ {\n\t}\n}\n", "again and again"),
    "in a comprehension": ("python", "def f(a):\n    return [«x + 1» for x in a]\n", "comprehension|inside"),
    "a method that is called": ("javascript", "function f(a) {\n  return «a.b»();\n}\n", "method that is called"),
    "what is set": ("python", "def f(a):\n    «a.b» = 1\n", "not a value"),
    "a default": ("python", "def f(a=«g(1)»):\n    pass\n", "some cases|function"),
    "a statement": ("python", "def f(a):\n    «g(a)»\n", "statement of its own"),
    "a diamond": ("java", "class A { void f() { List<B> b = «new ArrayList<>()»; } }\n", "where it stands"),
    "an else if": ("javascript", "function f(a) {\n  if (a) {\n  } else if («a.b») {\n  }\n}\n", "some cases|again"),
    "a copy's method": ("go", "package m\n\nfunc f(a *T) {\n\t«a.b».c()\n}\n", "copy"),
    "several values": ("go", "package m\n\nfunc f(a T) {\n\tg(«a.h(1)»)\n}\n", "more than one value"),
    "with whether it is there": ("go", "package m\n\nfunc f(a M) {\n\tif v, ok := «a[1]»; ok {\n\t\tg(v)\n\t}\n}\n", "more than one value"),
    "a type, with whether it is that": ("go", "package m\n\nfunc f(a any) {\n\tv, ok := «a.(T)»\n\tg(v, ok)\n}\n", "more than one value"),
    "an address": ("go", "package m\n\nfunc f(a *T) {\n\tg(&«a.b»)\n}\n", "place"),
    "a guard": ("rust", "fn f(a: &M) {\n    g(«a.lock().unwrap().len()», h())\n}\n", "at another time"),
    "only known inside": ("go", "package m\n\nfunc f(a *T) {\n\tif b := a.n(); g(«b + 1») {\n\t}\n}\n", "only known"),
}  # fmt: skip

INLINED = {
    "python: with brackets, the remark stays": (
        "python", "def f(a):\n    «x» = a + 1  # why\n    return x * 2\n", "def f(a):\n    # why\n    return (a + 1) * 2\n",
    ),
    "python: a constant, everywhere": (
        "python",
        "def f():\n    limit = 3\n    return [i for i in r if i < «limit»], lambda: limit\n",
        "def f():\n    return [i for i in r if i < 3], lambda: 3\n",
    ),
    "python: a tuple": ("python", "def f(a):\n    «x» = 1, 2\n    return g(x)\n", "def f(a):\n    return g((1, 2))\n"),
    "python: a number before a dot": ("python", "def f(a):\n    «x» = 3\n    return x.real\n", "def f(a):\n    return (3).real\n"),
    "typescript: what is read only if it is there": (
        "typescript",
        "function f(a: any) {\n  const «x» = a?.b;\n  return x.c;\n}\n", "function f(a: any) {\n  return (a?.b).c;\n}\n",
    ),
    "python: another name": (
        "python", "def f(a):\n    b = a\n    b.c()\n    return «b»\n", "def f(a):\n    a.c()\n    return a\n",
    ),
    "javascript: without semicolons, where the line above would go on": (
        "javascript",
        "function f(a) {\n  let b = g\n  const «x» = [1, 2]\n  x.forEach(h)\n}\n",
        "function f(a) {\n  let b = g\n  ;[1, 2].forEach(h)\n}\n",
    ),
    "javascript: short for a property": (
        "javascript",
        "function f(a) {\n  const x = 2;\n  g(a);\n  return { x, y: «x» * 2 };\n}\n",
        "function f(a) {\n  g(a);\n  return { x: 2, y: 2 * 2 };\n}\n",
    ),
    "javascript: a call, right where it is used": (
        "javascript", "function f(a) {\n  const «x» = g(a);\n  return x.y;\n}\n", "function f(a) {\n  return g(a).y;\n}\n",
    ),
    "go": (
        "go", "package m\n\nfunc f(a int) int {\n\tx := a * 2\n\treturn «x» + 1\n}\n",
        "package m\n\nfunc f(a int) int {\n\treturn (a * 2) + 1\n}\n",
    ),
    "rust": ("rust", "fn f(a: u8) -> u8 {\n    let x = a * 2;\n    g(«x», 3)\n}\n", "fn f(a: u8) -> u8 {\n    g(a * 2, 3)\n}\n"),
    "java": (
        "java",
        "class A {\n    int f(int a) {\n        int x = a * 2;\n        return g(«x», x);\n    }\n}\n",
        "class A {\n    int f(int a) {\n        return g(a * 2, a * 2);\n    }\n}\n",
    ),
}  # fmt: skip

NOT_INLINED = {
    "later": ("python", "def f(a):\n    x = a.b()\n    y = 1\n    return «x» * y\n", "later|between"),
    "twice": ("python", "def f(a):\n    x = a.b()\n    return g(«x», x)\n", "used 2 times"),
    "a wider type": ("java", "class A { int f(int a) {\n    double x = a;\n    return g(«x» / 2);\n  } }\n", "type of `x`"),
    "made of itself": ("python", "def f():\n    «x» = lambda: x\n    return x\n", "cannot go"),
    "a boxed number": ("java", "class A { void f(int a) {\n    Object x = a;\n    g(«x» instanceof B);\n  } }\n", "type of `x`"),
    "changed meanwhile": ("python", "def f(a):\n    x = a\n    for i in a:\n        a = 2\n        print(«x»)\n", "`a` changes"),
    "two values": ("python", "def f(a):\n    x = a\n    x = 2\n    return «x»\n", "more than once"),
    "a parameter": ("python", "def f(«a»):\n    return a\n", "not set by a statement"),
    "of the file": ("python", "«x» = 1\nprint(x)\n", "others may use it"),
    "two at once": ("go", "package m\n\nfunc f() int {\n\t«x», y := 1, 2\n\treturn x + y\n}\n", "along with others|along with other"),
    "in a loop": ("javascript", "function f(a) {\n  const x = g();\n  while (a) { h(«x»); }\n}\n", "deeper inside"),
    "a format string": ("rust", "fn f() {\n    let x = 1;\n    println!(\"{x}\");\n    g(«x»);\n}\n", "cannot go"),
    "a guard": ("rust", "fn f(a: &M) {\n    let «guard» = a.lock();\n    g(guard);\n    h();\n}\n", "at another time"),
    "what a guard gave": ("rust", "fn f(a: &M) {\n    let «n» = a.lock().unwrap().len();\n    g(n);\n}\n", "at another time"),
    "a copy that is changed": ("go", "package m\n\nfunc f(p T) T {\n\t«q» := p\n\tq.a = 1\n\treturn q\n}\n", "is changed"),
    "a method without its object": ("typescript", "function f(a: any) {\n  const «x» = a.b;\n  return x();\n}\n", "called on something"),
    "nothing": ("python", "def f(a):\n    return a «+» 1\n", "select a variable"),
}  # fmt: skip


@pytest.mark.parametrize("language, before, after", EXTRACTED.values(), ids=EXTRACTED)
def test_extract(language: str, before: str, after: str) -> None:
    check("variable", language, before, after, "value")


@pytest.mark.parametrize("language, marked, why", NOT_EXTRACTED.values(), ids=NOT_EXTRACTED)
def test_not_extracted(language: str, marked: str, why: str) -> None:
    refused("variable", language, marked, why)


@pytest.mark.parametrize("language, before, after", INLINED.values(), ids=INLINED)
def test_inline(language: str, before: str, after: str) -> None:
    check("inline", language, before, after)


@pytest.mark.parametrize("language, marked, why", NOT_INLINED.values(), ids=NOT_INLINED)
def test_not_inlined(language: str, marked: str, why: str) -> None:
    refused("inline", language, marked, why)

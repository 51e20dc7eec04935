"""A selection becomes a function: what it reads comes in, what it sets and is read later goes out, and nothing else changes."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from moved import check, moved, plain, refused

PYTHON = {
    "a loop with what it sums up": (
        '''
        import os

        # Totals.
        def report(orders, rate: float = 0.2):
            total = 0
            names = []
        «    for order in orders:
                if order.paid:
                    continue
                total += order.price * rate
                names.append(order.name)
            # A note.
            text = """a
          b"""
        »    print(names, total)
            return text
        ''',
        '''
        import os

        def extracted(orders, total, rate: float, names):
            for order in orders:
                if order.paid:
                    continue
                total += order.price * rate
                names.append(order.name)
            # A note.
            text = """a
          b"""
            return total, text


        # Totals.
        def report(orders, rate: float = 0.2):
            total = 0
            names = []
            total, text = extracted(orders, total, rate, names)
            print(names, total)
            return text
        ''',
    ),
    "statements of a method": (
        """
        class Cart:
            def total(self, lines):
                «subtotal = sum(line.price for line in lines)
                taxed = subtotal * self.rate»
                return taxed

            def clear(self):
                pass
        """,
        """
        class Cart:
            def total(self, lines):
                taxed = self.extracted(lines)
                return taxed

            def extracted(self, lines):
                subtotal = sum(line.price for line in lines)
                taxed = subtotal * self.rate
                return taxed

            def clear(self):
                pass
        """,
    ),
    "a class method": (
        """
        class A:
            @classmethod
            def make(cls, a):
                «x = cls.get(a)
                x.run()»
                return x
        """,
        """
        class A:
            @classmethod
            def make(cls, a):
                x = cls.extracted(a)
                return x

            @classmethod
            def extracted(cls, a):
                x = cls.get(a)
                x.run()
                return x
        """,
    ),
    "the rest of a function, which returns": (
        """
        def sign(a):
            try:
                y = int(a)
            except ValueError:
                return None
            «if y < 0:
                return -1
            return 1»
        """,
        """
        def extracted(y):
            if y < 0:
                return -1
            return 1


        def sign(a):
            try:
                y = int(a)
            except ValueError:
                return None
            return extracted(y)
        """,
    ),
    "an expression in a comprehension": (
        """
        def f(xs, k):
            return [abs(«x * k + 1») for x in xs]
        """,
        """
        def extracted(x, k):
            return x * k + 1


        def f(xs, k):
            return [abs(extracted(x, k)) for x in xs]
        """,
    ),
    "an expression over several lines": (
        """
        def f(a, b):
            return max(«a
                       + b», 1)
        """,
        """
        def extracted(a, b):
            return (a
                       + b)


        def f(a, b):
            return max(extracted(a, b), 1)
        """,
    ),
    "the body of a script": (
        """
        import sys

        if __name__ == "__main__":
            «name = sys.argv[0]
            print(name)»
        """,
        """
        import sys

        def extracted():
            name = sys.argv[0]
            print(name)
            return name


        if __name__ == "__main__":
            name = extracted()
        """,
    ),
    "a variable that is only set here and read in the next round": (
        """
        def f(xs):
            last = None
            for x in xs:
                «if last is not None:
                    print(last, x)
                last = x»
        """,
        """
        def extracted(last, x):
            if last is not None:
                print(last, x)
            last = x
            return last


        def f(xs):
            last = None
            for x in xs:
                last = extracted(last, x)
        """,
    ),
    "what two branches set": (
        """
        def f(a):
            «if a:
                b = 1
            else:
                b = 2»
            return b
        """,
        """
        def extracted(a):
            if a:
                b = 1
            else:
                b = 2
            return b


        def f(a):
            b = extracted(a)
            return b
        """,
    ),
    "a loop variable of its own that an earlier loop has too": (
        """
        def f(xs):
            for i in xs:
                print(i)
            «for i in xs:
                print(i + 1)»
        """,
        """
        def extracted(xs):
            for i in xs:
                print(i + 1)


        def f(xs):
            for i in xs:
                print(i)
            extracted(xs)
        """,
    ),
}


@pytest.mark.parametrize("before, after", PYTHON.values(), ids=PYTHON)
def test_python(before: str, after: str) -> None:
    check("function", "python", before, after)


OTHERS = {
    "javascript: a method": (
        "javascript",
        """
        class Cart {
          total(lines) {
            let sum = 0;
            const seen = [];
            «// Each line.
            for (const line of lines) {
              sum += line.price * this.rate;
              seen.push(line);
            }»
            return [sum, seen];
          }
        }
        """,
        """
        class Cart {
          total(lines) {
            let sum = 0;
            const seen = [];
            sum = this.extracted(lines, sum, seen);
            return [sum, seen];
          }

          extracted(lines, sum, seen) {
            // Each line.
            for (const line of lines) {
              sum += line.price * this.rate;
              seen.push(line);
            }
            return sum;
          }
        }
        """,
    ),
    "javascript: a new and an old variable": (
        "javascript",
        """
        function f(a) {
          let n = 1;
          «n += a;
          const m = n * 2;»
          return n + m;
        }
        """,
        """
        function f(a) {
          let n = 1;
          let m;
          [n, m] = extracted(n, a);
          return n + m;
        }

        function extracted(n, a) {
          n += a;
          const m = n * 2;
          return [n, m];
        }
        """,
    ),
    "javascript: statements of the file": (
        "javascript",
        """
        const a = read();
        «const b = a + 1;
        show(b);»
        show(a);
        """,
        """
        const a = read();
        const b = extracted();

        function extracted() {
          const b = a + 1;
          show(b);
          return b;
        }
        show(a);
        """,
    ),
    "javascript: a variable of the whole function": (
        "javascript",
        """
        function f(n, m) {
          if (n) {
            «m += 1;
            var x = n * m;»
            log(m);
          }
          return x;
        }
        """,
        """
        function f(n, m) {
          if (n) {
            var x;
            [m, x] = extracted(m, n);
            log(m);
          }
          return x;
        }

        function extracted(m, n) {
          m += 1;
          var x = n * m;
          return [m, x];
        }
        """,
    ),
    "javascript: without semicolons": (
        "javascript",
        """
        function f(a, b) {
          log('a')
          «a += 1
          b += 1»
          log('b')
          return [a, b]
        }
        """,
        """
        function f(a, b) {
          log('a')
          ;[a, b] = extracted(a, b)
          log('b')
          return [a, b]
        }

        function extracted(a, b) {
          a += 1
          b += 1
          return [a, b]
        }
        """,
    ),
    "typescript: types are kept": (
        "typescript",
        """
        export function f<T>(a: number, items: T[]): string {
          «const total = items.length * a;
          const label = `x ${total}`;»
          return label + total;
        }
        """,
        """
        export function f<T>(a: number, items: T[]): string {
          const [total, label] = extracted(items, a);
          return label + total;
        }

        function extracted<T>(items: T[], a: number) {
          const total = items.length * a;
          const label = `x ${total}`;
          return [total, label] as const;
        }
        """,
    ),
    "typescript: an early end": (
        "typescript",
        """
        function kind(n: number): string {
          «if (n < 0) {
            return "less";
          }
          return "more";»
        }
        """,
        """
        function kind(n: number): string {
          return extracted(n);
        }

        function extracted(n: number) {
          if (n < 0) {
            return "less";
          }
          return "more";
        }
        """,
    ),
    "go: a method with what it counts": (
        "go",
        """
        package main

        func (s *Store) Load(path string, n int) (int, error) {
        →data, err := os.ReadFile(path)
        →if err != nil {
        →→return 0, err
        →}
        →count := 0
        →«for i := 0; i < n; i++ {
        →→count += s.size + i
        →}»
        →return count + len(data), nil
        }
        """,
        """
        package main

        func (s *Store) Load(path string, n int) (int, error) {
        →data, err := os.ReadFile(path)
        →if err != nil {
        →→return 0, err
        →}
        →count := 0
        →count = s.extracted(n, count)
        →return count + len(data), nil
        }

        func (s *Store) extracted(n int, count int) int {
        →for i := 0; i < n; i++ {
        →→count += s.size + i
        →}
        →return count
        }
        """,
    ),
    "go: new variables, with the types of a function of the file": (
        "go",
        """
        package main

        func both(a string) (string, error) { return a, nil }

        func f(name string) string {
        →«text, err := both(name)
        →words := strings.Split(text, " ")»
        →if err != nil {
        →→return ""
        →}
        →return words[0]
        }
        """,
        """
        package main

        func both(a string) (string, error) { return a, nil }

        func f(name string) string {
        →words, err := extracted(name)
        →if err != nil {
        →→return ""
        →}
        →return words[0]
        }

        func extracted(name string) ([]string, error) {
        →text, err := both(name)
        →words := strings.Split(text, " ")
        →return words, err
        }
        """,
    ),
    "go: a part of what is shared": (
        "go",
        """
        package main

        func (s *Store) f(p *Pair, counts map[string]int, w io.Writer) {
        →«p.a = 1
        →counts["a"]++
        →s.n++
        →w.Write(nil)»
        →show(p, counts)
        }
        """,
        """
        package main

        func (s *Store) f(p *Pair, counts map[string]int, w io.Writer) {
        →s.extracted(p, counts, w)
        →show(p, counts)
        }

        func (s *Store) extracted(p *Pair, counts map[string]int, w io.Writer) {
        →p.a = 1
        →counts["a"]++
        →s.n++
        →w.Write(nil)
        }
        """,
    ),
    "java: static, and throws what it may": (
        "java",
        """
        class A {
            static int sum(List<Integer> xs, String name) throws IOException {
                int total = 0;
                «for (int x : xs) {
                    total += x;
                }
                write(name);»
                return total;
            }
        }
        """,
        """
        class A {
            static int sum(List<Integer> xs, String name) throws IOException {
                int total = 0;
                total = extracted(xs, total, name);
                return total;
            }

            private static int extracted(List<Integer> xs, int total, String name) throws IOException {
                for (int x : xs) {
                    total += x;
                }
                write(name);
                return total;
            }
        }
        """,
    ),
    "java: a variable without a value yet": (
        "java",
        """
        class A {
            String f(int n) {
                String s;
                «if (n > 0) {
                    s = "more";
                } else {
                    s = "less";
                }»
                return s;
            }
        }
        """,
        """
        class A {
            String f(int n) {
                String s;
                s = extracted(n);
                return s;
            }

            private String extracted(int n) {
                String s;
                if (n > 0) {
                    s = "more";
                } else {
                    s = "less";
                }
                return s;
            }
        }
        """,
    ),
    "java: a case": (
        "java",
        """
        class A {
            int f(int n) {
                int a;
                switch (n) {
                    case 1:
                        a = 1;
                        break;
                    default:
                        «a = n;»
                }
                return a;
            }
        }
        """,
        """
        class A {
            int f(int n) {
                int a;
                switch (n) {
                    case 1:
                        a = 1;
                        break;
                    default:
                        a = extracted(n);
                }
                return a;
            }

            private int extracted(int n) {
                int a;
                a = n;
                return a;
            }
        }
        """,
    ),
    "rust: a method, copies and references": (
        "rust",
        """
        impl Store {
            fn total(&self, rate: f64, names: Vec<String>) -> f64 {
                let mut sum: f64 = 0.0;
                «for item in &self.items {
                    sum += item.price * rate;
                    println!("{sum} {}", names.len());
                }»
                sum
            }
        }
        """,
        """
        impl Store {
            fn total(&self, rate: f64, names: Vec<String>) -> f64 {
                let mut sum: f64 = 0.0;
                sum = self.extracted(sum, rate, &names);
                sum
            }

            fn extracted(&self, mut sum: f64, rate: f64, names: &Vec<String>) -> f64 {
                for item in &self.items {
                    sum += item.price * rate;
                    println!("{sum} {}", names.len());
                }
                sum
            }
        }
        """,
    ),
    "rust: the value of the function, with a question mark": (
        "rust",
        """
        fn parse(text: &str) -> Result<u32, ParseIntError> {
            let short = text.trim();
            «let n = text.parse::<u32>()?;
            Ok(n + 1)»
        }
        """,
        """
        fn parse(text: &str) -> Result<u32, ParseIntError> {
            let short = text.trim();
            extracted(text)
        }

        fn extracted(text: &str) -> Result<u32, ParseIntError> {
            let n = text.parse::<u32>()?;
            Ok(n + 1)
        }
        """,
    ),
}


@pytest.mark.parametrize("language, before, after", OTHERS.values(), ids=OTHERS)
def test_other_languages(language: str, before: str, after: str) -> None:
    check("function", language, before, after)


REFUSED = {
    "a return that is not the end": ("python", "def f(a):\n    «if a:\n        return 1»\n    return 2\n",
    "a `return`, and may also go on"),
    "a break": ("python", "def f(a):\n    for x in a:\n        «print(x)\n        break»\n", "`break`"),
    "a continue": ("go", "package m\nfunc f(a []int) {\n\tfor range a {\n\t\t«continue»\n\t}\n}\n", "`continue`"),
    "a labelled break": ("java", "class A { void f() { a: for (;;) { «for (;;) { break a; }» } } }\n", "`break`"),
    "yield": ("python", "def f(a):\n    «yield a»\n    print(a)\n", "`yield`"),
    "await": ("javascript", "async function f(a) {\n  «const b = await a;»\n  return b;\n}\n", "`await`"),
    "await in python": ("python", "async def f(a):\n    «b = await a»\n    return b\n", "`await`"),
    "async with": ("python", "async def f(a):\n    «async with a:\n        print(1)»\n", "`async`"),
    "defer": ("go", "package m\nfunc f(a int) {\n\t«defer g(a)»\n}\n", "`defer`"),
    "a question mark in the middle": ("rust", "fn f(a: &str) -> R {\n    «let b: u8 = a.parse()?;»\n    Ok(b)\n}\n", "`\\?`"),
    "a global": ("python", "def f():\n    global n\n    «n = 1»\n    return n\n", "global"),
    "part of a statement": ("python", "def f(a):\n    «if a:\n        g(a)\n        h»(a)\n", "whole"),
    "two functions": ("python", "def f(a):\n    «return a\n\ndef g(b):\n    return» b\n", "whole|edge"),
    "a class's own variable": ("python", "class A:\n    n = 1\n    m = «n + 1»\n", "class"),
    "set in a try": ("python", "def f(a):\n    x = 0\n    try:\n        «x = 1\n        g(a)»\n    except E:\n        print(x)\n",
    "catches errors"),
    "captured": ("javascript", "function f(a) {\n  let n = 0;\n  const g = () => n;\n  «n += a;»\n  return g();\n}\n", "another function"),
    "captured inside": ("python", "def f(a):\n    «g = lambda: a»\n    a = 2\n    return g()\n", "changes afterwards"),
    "locals": ("python", "def f(a):\n    «b = locals()»\n    return b\n", "`locals`"),
    "this of no class": ("javascript", "function F(a) {\n  «this.a = a;»\n}\n", "`this`"),
    "arguments": ("javascript", "function f() {\n  «g(arguments)»;\n}\n", "arguments"),
    "a type that nobody wrote": ("go", "package m\nfunc f() {\n\ta := g()\n\t«h(a)»\n}\n", "type of `a`"),
    "a part of a copy": ("go", "package m\nfunc f(p T) T {\n\t«p.a = 1»\n\treturn p\n}\n", "copy"),
    "a method of a copy": ("go", "package m\nfunc f() {\n\tvar w sync.WaitGroup\n\t«w.Add(1)»\n\tw.Wait()\n}\n", "copy"),
    "an address": ("go", "package m\nfunc f(p T) T {\n\t«g(&p)»\n\treturn p\n}\n", "copy"),
    "two values in java": ("java", "class A { int f() { «int a = 1; int b = 2;» return a + b; } }\n", "one value"),
    "a macro that may do anything": ("rust", "fn f(a: u8) {\n    «bail!(a);»\n}\n", "macro `bail!`"),
    "a moved value": ("rust", "fn f(a: String) {\n    «g(a);»\n}\n", "move `a`"),
    "a guard": ("rust", "fn f(a: &M) {\n    «let g = a.lock();\n    h();»\n    i();\n}\n", "hold something"),
    "a guard in a pattern": ("rust", "fn f(a: &M) {\n    «let (g, n) = (a.lock(), 1);\n    h(n);»\n    i();\n}\n", "hold something"),
    "a guard by its type": ("rust", "fn f(a: &M) {\n    «let g: MutexGuard<u8> = open(a);\n    h();»\n    i();\n}\n", "hold something"),
    "what is dropped in a way of its own": (
        "rust",
        "impl Drop for Bell {\n    fn drop(&mut self) {}\n}\n\nfn f() {\n    «let b = Bell::new();\n    h();»\n    i();\n}\n",
        "hold something",
    ),
    "a guard until the statement ends": ("rust", "fn f(a: &M) {\n    let n: usize = g(«a.lock().unwrap().len()»);\n}\n", "hold something"),
    "perhaps without a value": ("python", "def f(a):\n    if a:\n        b = 1\n    «print(b)»\n", "may not have a value"),
    "set in the other branch": ("python", "def f(a):\n    if a:\n        b = 1\n    else:\n        «print(b)»\n", "may not have a value"),
    "set in a loop's body": (
        "python", "def f(a):\n    for c in a:\n        b = c\n    else:\n        «print(b)»\n", "may not have a value",
    ),
    "set in another case": (
        "python",
        "def f(a):\n    match a:\n        case 1:\n            b = 1\n        case _:\n            «print(b)»\n",
        "may not have a value",
    ),
    "the future": ("python", "«from __future__ import annotations»\nx = 1\n", "future"),
    "set sometimes": ("python", "def f(a):\n    «if a:\n        b = 1»\n    print(b)\n", "does not always get a value"),
    "a function used elsewhere": ("python", "def f(a):\n    «def g():\n        return 1»\n    return g()\n", "defines `g`"),
    "super": ("python", "class A(B):\n    def f(self):\n        «super().f()»\n", "super"),
    "a private name": ("python", "class A:\n    @staticmethod\n    def f(a):\n        «print(a.__x)»\n", "private"),
    "set where errors are passed over": (
        "python",
        "def f(a):\n    «with suppress(E):\n        b = g(a)»\n    return b\n",
        "does not always",
    ),
    "a pattern": ("python", "def f(a):\n    match a:\n        case «'b'»:\n            pass\n", "whole"),
    "a method that is called": ("javascript", "function f(a) {\n  «a.b»(1);\n}\n", "method that is called"),
    "what is deleted": ("javascript", "function f(a) {\n  delete «a.b»;\n}\n", "place"),
    "a type used elsewhere": ("go", "package m\nfunc f() {\n\t«type t struct{}»\n\tg(t{})\n}\n", "defines `t`"),
    "a function used above": ("javascript", "function f() {\n  g();\n  «function g() {}»\n}\n", "defines `g`"),
    "a type of the function's own": (
        "typescript", "function f() {\n  const a = { b: 1 };\n  const c: typeof a = a;\n  «show(c);»\n}\n", "only this function knows",
    ),
    "a private field": ("javascript", "class A {\n  #a = 1;\n  static f(b) {\n    «log(b.#a)»;\n  }\n}\n", "private"),
    "a comment only": ("python", "def f(a):\n    «# nothing»\n    return a\n", "comments|whole"),
}  # fmt: skip


@pytest.mark.parametrize("language, marked, why", REFUSED.values(), ids=REFUSED)
def test_what_would_change_the_program_is_refused(language: str, marked: str, why: str) -> None:
    refused("function", language, marked, why)


RUN = {
    "sums": "def f(xs):\n    total, seen = 0, []\n    «for x in xs:\n        total += x\n        seen.append(total)\n    top = max(seen)»\n"
    "    return total, seen, top\nprint(f([3, 1, 2]))\n",
    "a search": "def f(xs):\n    best = None\n    for i, x in enumerate(xs):\n        «if best is None or x > xs[best]:\n"
    "            best = i»\n"
    "    return best\nprint(f([3, 9, 2]), f([]))\n",
    "a method": "class A:\n    k = 2\n    def f(self, n):\n        m = n\n        «while m > 1:\n            m -= self.k\n        r = m»\n"
    "        return r, m\nprint(A().f(7))\n",
    "nested": "def f(n):\n    def g(k):\n        «t = n * k\n        u = t + 1»\n        return t, u\n"
    "    return [g(k) for k in range(n)]\nprint(f(3))\n",
    "with and strings": "import io\ndef f(a):\n    with io.StringIO() as out:\n        «for c in a:\n            out.write(f'{c}-')\n"
    "        text = out.getvalue()»\n    return text\nprint(f('abc'))\n",
    "a width": "def f(a):\n    return f'{a:>«{a + 1}»}'\nprint(f(4))\n",
    "errors passed over": "import contextlib\ndef f(a):\n    b = 1\n    «with contextlib.suppress(KeyError):\n        b = a['x']»\n"
    "    return b\nprint(f({}), f({'x': 2}))\n",
    "returns": "def f(a):\n    b = a * 2\n    «if b > 3:\n        return 'big'\n    elif b:\n        return 'small'\n    else:\n"
    "        raise ValueError(b)»\n"
    "print(f(1), f(2))\n",
}  # fmt: skip


@pytest.mark.parametrize("marked", RUN.values(), ids=RUN)
def test_the_program_prints_the_same(marked: str) -> None:
    before = marked.replace("«", "").replace("»", "")
    after = moved("function", "python", marked, "extracted")
    assert after != before and printed(after) == printed(before) != ""


def printed(program: str) -> str:
    out, scope = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(out):
        exec(compile(plain(program), "program", "exec"), scope)
    return out.getvalue()

"""Every command on files of real code, in three languages at least: what the whole file is afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from refactor_client import Told, check, editor, refused

from mercury_lsp.refactor.commands import COMMANDS

CODE = Path(__file__).with_name("code")
FILES = {"python": "runs.py", "typescript": "find.ts", "go": "pages.go", "typescriptreact": "panel.tsx"}


class Case(NamedTuple):
    """`at` is a piece of the file, once, with the selection in it; `becomes` is what stands in its place afterwards."""

    language: str
    at: str
    becomes: str
    engine: dict[str, Any] = {}
    more: dict[str, Any] = {}


CASES: dict[str, list[Case]] = {
    "extractFunction": [
        Case(
            "python",
            "        «surplus = len(self._views) - self.most\n        if surplus > 0:\n            self._views = self._views[surplus:]»\n",
            "        self.forget()\n\n    def forget(self):\n        surplus = len(self._views) - self.most\n        if surplus > 0:\n"
            "            self._views = self._views[surplus:]\n",
            more={"name": "forget"},
        ),
        Case(
            "typescript",
            "      «this.tried.push(place);\n      return runnable(place);»\n    });\n    return found;\n  }\n",
            "      return this.tryOut(place);\n    });\n    return found;\n  }\n\n  tryOut(place: any) {\n    this.tried.push(place);\n"
            "    return runnable(place);\n  }\n",
            more={"name": "tryOut"},
        ),
        Case(
            "go",
            "\t«for _, page := range taken {\n\t\tp.owner[page] = name\n\t}»\n\treturn taken, nil\n}\n",
            "\tp.own(taken, name)\n\treturn taken, nil\n}\n\nfunc (p *Pool) own(taken []int, name string) {\n"
            "\tfor _, page := range taken {\n\t\tp.owner[page] = name\n\t}\n}\n",
            more={"name": "own"},
        ),
    ],
    "extractVariable": [
        Case(
            "python",
            "        if «(document, line)» not in",
            "        place = (document, line)\n        if place not in",
            engine={"infill": ["place"]},
        ),
        Case(
            "typescript",
            "    return «fs.statSync(file)».isFile();",
            "    const stats = fs.statSync(file);\n    return stats.isFile();",
            engine={"infill": ["stats = fs"]},
        ),
        Case(
            "go",
            "\tif wanted > «len(p.free)» {",
            "\tleft := len(p.free)\n\tif wanted > left {",
            more={"name": "left"},
        ),
    ],
    "inlineVariable": [
        Case("python", "    «room» = _LONGEST\n    kept = []\n", "", more={"refused": "more than once"}),
        Case("python", '    «whole» = "\\n".join(kept)\n    return whole\n', '    return "\\n".join(kept)\n'),
        Case(
            "typescript",
            "    const «local» = this.folders.filter((folder) => folder.scheme === 'file');\n    return local.flatMap",
            "    return this.folders.filter((folder) => folder.scheme === 'file').flatMap",
        ),
        Case(
            "typescript",
            "  const folders = variable.split(path.delimiter).filter(Boolean);\n  return «folders».map",
            "  return variable.split(path.delimiter).filter(Boolean).map",
        ),
        Case("go", '\t«line» := strings.Join(parts, " ")\n\treturn line', '\treturn strings.Join(parts, " ")'),
    ],
    "completeBody": [
        Case(
            "python",
            "        «raise NotImplementedError»\n\n    def is_seen",
            "        return [document for document, _ in self._views]\n\n    def is_seen",
            engine={"infill": ["return [document for document, _ in self._views]\n\n    def more(self):\n        pass"]},
        ),
        Case(
            "typescript",
            "    throw new Error('not «»implemented');\n",
            "    return [...this.tried];\n",
            engine={"infill": ["return [...this.tried];\n  }\n\n  other() {"]},
        ),
        Case(
            "go",
            '\tpanic("not «»implemented")\n',
            "\tfor _, page := range pages {\n\t\tdelete(p.owner, page)\n\t}\n\tp.free = append(p.free, pages...)\n",
            engine={"infill": ["for _, page := range pages {\n\t\tdelete(p.owner, page)\n\t}\n\tp.free = append(p.free, pages...)\n}"]},
        ),
    ],
    "commentToCode": [
        Case(
            "python",
            "    # The «»first lines that fit.\n",
            "    # The first lines that fit.\n    lines = [line for line in lines if line]\n",
            engine={"infill": ["lines = [line for line in lines if line]"]},
        ),
        Case(
            "typescript",
            "    // Only files «»can be run.\n",
            "    // Only files can be run.\n    if (file === '') {\n      return false;\n    }\n",
            engine={"infill": ["if (file === '') {\n      return false;\n    }"]},
        ),
        Case(
            "go",
            "\t\t// Pad the «»number to the width.\n",
            '\t\t// Pad the number to the width.\n\t\ttext := fmt.Sprintf("%*d", width, page)\n',
            engine={"infill": ['text := fmt.Sprintf("%*d", width, page)']},
        ),
    ],
    "writeDocstring": [
        Case(
            "python",
            "def changed_«»runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:\n",
            "def changed_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:\n"
            '    """The runs of lines that differ, runs near each other joined."""\n',
            engine={"infill": ["The runs of lines that differ, runs near each other joined."]},
        ),
        Case(
            "typescript",
            "export function «»onPath(variable",
            "/**\n * The program in every folder of PATH.\n */\nexport function onPath(variable",
            engine={"infill": ["The program in every folder of PATH."]},
        ),
        Case(
            "go",
            "func (p *Pool) «»Take(name string",
            "// Take hands out pages for so many tokens.\nfunc (p *Pool) Take(name string",
            engine={"infill": ["hands out pages for so many tokens"]},
        ),
    ],
    "addTypes": [
        Case(
            "python",
            "def is_«»word(text):\n",
            "def is_word(text: str) -> bool:\n",
            engine={
                "rewrite": [
                    "def is_word(text: str) -> bool:\n    if _WORD.fullmatch(text) is None:\n        return False\n"
                    "    else:\n        return True"
                ]
            },
        ),
        Case(
            "typescript",
            "export function «»isScript(file: string, suffix = '.cmd') {\n",
            "export function isScript(file: string, suffix = '.cmd'): boolean {\n",
            engine={
                "rewrite": [
                    "export function isScript(file: string, suffix = '.cmd'): boolean {\n  if (WINDOWS) {\n"
                    "    return file.endsWith(suffix);\n  } else {\n    return false;\n  }\n}"
                ]
            },
        ),
        Case(
            "typescriptreact",
            "  const total = «»(rows) => {\n",
            "  const total = (rows: Row[]): number => {\n",
            engine={
                "rewrite": ["  const total = (rows: Row[]): number => {\n    return rows.reduce((sum, row) => sum + row.count, 0);\n  };"]
            },
        ),
    ],
    "rewrite": [
        Case(
            "python",
            "«        for view, _ in self._views:\n            if view == document:\n                return True\n        return False\n»",
            "        return any(view == document for view, _ in self._views)\n",
            engine={"rewrite": ["        return any(view == document for view, _ in self._views)"]},
            more={"instruction": "use any"},
        ),
        Case(
            "typescript",
            "  «const folders = variable.split(path.delimiter).filter(Boolean);\n"
            "  return folders.map((folder) => path.join(folder, PROGRAM));»\n",
            "  const folders = new Set(variable.split(path.delimiter).filter(Boolean));\n"
            "  return [...folders].map((folder) => path.join(folder, PROGRAM));\n",
            engine={
                "rewrite": [
                    "  const folders = new Set(variable.split(path.delimiter).filter(Boolean));\n"
                    "  return [...folders].map((folder) => path.join(folder, PROGRAM));"
                ]
            },
            more={"instruction": "each folder once"},
        ),
        Case(
            "go",
            "\t«parts := []string{}»\n",
            "\tparts := make([]string, 0, len(pages))\n",
            engine={"rewrite": ["\tparts := make([]string, 0, len(pages))"]},
            more={"instruction": "allocate once"},
        ),
    ],
    "simplify": [
        Case(
            "python",
            "    «if _WORD.fullmatch(text) is None:\n        return False\n    else:\n        return True»\n",
            "    return _WORD.fullmatch(text) is not None\n",
            engine={"rewrite": ["    return _WORD.fullmatch(text) is None", "    return _WORD.fullmatch(text) is not None"]},
        ),
        Case(
            "typescript",
            "  «if (WINDOWS) {\n    return file.endsWith(suffix);\n  } else {\n    return false;\n  }»\n",
            "  return WINDOWS ? file.endsWith(suffix) : false;\n",
            engine={"rewrite": ["  return WINDOWS || file.endsWith(suffix);", "  return WINDOWS ? file.endsWith(suffix) : false;"]},
            more={"effort": "high"},
        ),
        Case(
            "go",
            "\t«if owned {\n\t\treturn true\n\t} else {\n\t\treturn false\n\t}»\n",
            "\treturn owned\n",
            engine={"rewrite": ["\treturn !owned", "\treturn owned"]},
            more={"effort": "medium"},
        ),
    ],
    "redenoise": [
        Case(
            "python",
            "        room -= «len(line) + 1»\n",
            "        room -= len(line) + 2\n",
            engine={"infill": ["len(line) + 1", "len(line) + 2"]},
        ),
        Case(
            "typescript",
            "  return path.join(«folder, BIN, program»);\n",
            "  return path.join(BIN, program);\n",
            engine={"infill": ["folder, BIN, program", "BIN, folder, program", "BIN, program"]},
            more={"variant": 2},
        ),
        Case(
            "go",
            "\twanted := «(tokens + p.size - 1) / p.size»\n",
            "\twanted := tokens / p.size\n",
            engine={"infill": ["tokens / (", "tokens / p.size"]},
        ),
    ],
    "fix": [
        Case(
            "python",
            "«import re»\nfrom collections.abc",
            "import re\nfrom collections.abc",
            more={"message": "`re` imported but unused", "refused": "nothing to change"},
        ),
        Case(
            "python",
            '    whole = "\\n".join(«kept»)\n',
            '    whole = "\\n".join(kept or [])\n',
            engine={"rewrite": [lambda request: request.region.replace("join(kept)", "join(kept or [])")]},
            more={"message": "kept may be None"},
        ),
        Case(
            "typescript",
            "    return «fs.statSync(file).isFile()»;\n",
            "    return fs.statSync(file)?.isFile() ?? false;\n",
            engine={"rewrite": [lambda request: request.region.replace("(file).isFile()", "(file)?.isFile() ?? false")]},
            more={"message": "Object is possibly undefined."},
        ),
        Case(
            "go",
            '\t«line» := strings.Join(parts, " ")\n',
            '\tline := strings.Join(parts, "\\n")\n',
            engine={"rewrite": [lambda request: request.region.replace('parts, " "', 'parts, "\\n"')]},
            more={"message": "want one page a line"},
        ),
    ],
}

TESTS = {
    "python": (
        "def is_«»word(text):\n", ["assert is_word('a') and not is_word('a b')"], "test_runs.py",
        "from runs import is_word\n\n\ndef test_is_word():\n    assert is_word('a') and not is_word('a b')\n",
    ),
    "typescript": (
        "export function «»within(folder", ["expect(within('a', 'b')).toBe('a/bin/b');"], "find.test.ts",
        'import { within } from "./find";\n\ntest("within", () => {\n  expect(within(\'a\', \'b\')).toBe(\'a/bin/b\');\n});\n',
    ),
    "go": (
        "func «»New(count", ["if len(New(3, 4).free) != 3 {\n\t\tt.Error(\"three\")\n\t}"], "pages_test.go",
        'package pages\n\nimport "testing"\n\nfunc TestNew(t *testing.T) {\n'
        '\tif len(New(3, 4).free) != 3 {\n\t\tt.Error("three")\n\t}\n}\n',
    ),
}  # fmt: skip
ANSWER = "So:\n```\n{block}\n```\n"
BLOCKS = {
    "python": (
        "    «if _WORD.fullmatch(text) is None:\n        return False\n    else:\n        return True»\n",
        "return bool(_WORD.fullmatch(text))",
    ),
    "typescript": ("  «return path.join(folder, BIN, program);»\n", "return [folder, BIN, program].join(path.sep);"),
    "go": ("\t«parts := []string{}»\n", "parts := make([]string, 0)"),
}


def marked(language: str, at: str) -> tuple[str, str]:
    """The file's text with the selection in it, and the piece without its marks."""
    source, plain = (CODE / f"{FILES[language]}.txt").read_text(), at.replace("«", "").replace("»", "")
    assert source.count(plain) == 1
    return source.replace(plain, at), plain


ALL = [(command, case) for command, cases in CASES.items() for case in cases]


@pytest.mark.parametrize("command, case", ALL, ids=[f"{command} {case.language}" for command, case in ALL])
def test_the_whole_file_afterwards(command: str, case: Case) -> None:
    text, plain = marked(case.language, case.at)
    more, why = {name: value for name, value in case.more.items() if name != "refused"}, case.more.get("refused")
    if why is not None:
        refused(f"mercury.{command}", text, why, case.language, Told(**case.engine), **more)
        return
    source = text.replace("«", "").replace("»", "")
    check(f"mercury.{command}", text, source.replace(plain, case.becomes), case.language, Told(**case.engine), **more)


def test_every_command_is_here_in_three_languages() -> None:
    named = {name.removeprefix("mercury.") for name in COMMANDS} - {"generateTest"}
    assert set(CASES) == named
    for command, cases in CASES.items():
        assert len({case.language for case in cases if "refused" not in case.more}) >= 3, command
    assert len(TESTS) >= 3 and len(BLOCKS) >= 3


@pytest.mark.parametrize("language", TESTS)
def test_a_test_beside_the_file(language: str) -> None:
    at, drafts, name, written = TESTS[language]
    text, _ = marked(language, at)
    folder = "file:///project/"
    with editor(text, language, Told(infill=list(drafts)), uri=folder + FILES[language]) as opened:
        assert opened.run("mercury.generateTest") == {"applied": True, "message": ""}
        assert opened.created == {folder + name: written}


@pytest.mark.parametrize("language", BLOCKS)
def test_a_block_of_an_answer(language: str) -> None:
    at, block = BLOCKS[language]
    text, plain = marked(language, at)
    indent = plain[: len(plain) - len(plain.lstrip())]
    with editor(text, language, Told(chat=[ANSWER.format(block=block)])) as opened:
        answer = opened.run("mercury.ask", question="Shorter?")
        assert answer["blocks"] == 1
        assert opened.run("mercury.applyAnswer", conversation=answer["conversation"], block=1) == {"applied": True, "message": ""}
        assert opened.text == text.replace("«", "").replace("»", "").replace(plain, f"{indent}{block}\n")

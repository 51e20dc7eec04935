"""An import put where the file's own order wants it, and a name taken out of one. Knows no reason for either."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from mercury_lsp.nextedit.imports_read import SCRIPT, Import, imports
from mercury_lsp.nextedit.moment import Edit, Text
from mercury_lsp.nextedit.standard import is_python_module

_FIRST_LINES = {
    "python": re.compile(r"(?:#[^\n]*\n)*(?:(?:\"{3}.*?\"{3}|'{3}.*?'{3}|\"[^\"\n]*\")[ \t]*\n)?", re.DOTALL),
    "go": re.compile(r"(?:\s*//[^\n]*\n)*\s*package \w+\n"),
    "java": re.compile(r"(?:/\*.*?\*/\s*)?(?:package [\w.]+;\n)?", re.DOTALL),
}
_PYTHON_SORTS: tuple[Callable[[Import], Any], ...] = (
    lambda each: (each.line.startswith("from "), each.module.lower()),
    lambda each: each.module.lower(),
)
_SORTS: tuple[Callable[[Import], Any], ...] = (lambda each: each.line.lower(), lambda each: each.line)


def put_in(text: Text, module: str, name: str | None, line: str) -> Edit:
    """The edit that brings `name` in from `module`: into a line that has others from there, else as `line` of its own."""
    there = imports(text)
    same = next((each for each in there if name is not None and each.listed and _same_module(text, each, module, line)), None)
    if same is not None and name is not None:
        return Edit(text.document, same.start, same.end, _with_list(text, same, _added(same.listed, name)))
    if text.language == "go" and there and there[0].line.startswith("import ") and len(there) == 1:
        lines = "".join(f"\t{each}\n" for each in sorted([there[0].line.removeprefix("import "), line.removeprefix("import ")]))
        return Edit(text.document, there[0].start, there[0].end, f"import (\n{lines})")
    if text.language == "go" and there:
        line = "\t" + line.removeprefix("import ")
    blocks = _blocks(text, there, module)
    if not blocks:
        return _first(text, line)
    kind = _kind(text, module)
    alike = [block for block in blocks if any(_kind(text, each.module) == kind for each in block)]
    if not alike and text.language == "python":  # what comes with the language stands apart, above all else
        at = blocks[0][0].start if kind == "standard" else blocks[-1][-1].end + 1
        return Edit(text.document, at, at, f"{line}\n\n" if kind == "standard" else f"\n{line}\n")
    return _into(text, (alike or blocks)[0 if kind == "standard" else -1], line, module)


def take_out(text: Text, each: Import, name: str) -> Edit:
    """The edit that takes `name` out of an import, and the line with it where that binds nothing else."""
    if len(each.names) > 1:
        listed = [part for part in each.listed if not re.fullmatch(rf"(?:type )?(?:\w+(?: as |: ))?{re.escape(name)}", part)]
        return Edit(text.document, each.start, each.end, _with_list(text, each, listed))
    start, end = each.start, min(each.end + 1, len(text.text))
    if text.language == "go" and (block := _only_one(text, each)) is not None:
        start, end = block
    alone = text.text[:start].endswith("\n\n") or not start
    if alone and text.text.startswith("\n", end):
        end += 1
    return Edit(text.document, start, end, "")


def _only_one(text: Text, each: Import) -> tuple[int, int] | None:
    """The whole of a Go block that has one line."""
    head, tail = "import (\n", "\n)\n"
    inside = text.text[: each.start].endswith(head) and text.text.startswith(tail, each.end)
    return (each.start - len(head), each.end + len(tail)) if inside else None


def _same_module(text: Text, each: Import, module: str, line: str) -> bool:
    if text.language in SCRIPT:
        same_kind = each.line.startswith("import type") == line.startswith("import type") and each.line.startswith(
            "import"
        ) == line.startswith("import")
        return each.module.strip("'\"") == module.strip("'\"") and same_kind
    return each.module == module


def _added(listed: Sequence[str], name: str) -> list[str]:
    """The list with one more, in its order if it has one."""
    for key in (str.lower, str):
        if list(listed) == sorted(listed, key=key):
            return sorted([*listed, name], key=key)
    return [*listed, name]


def _with_list(text: Text, each: Import, listed: Sequence[str]) -> str:
    """The line of an import with another list."""
    joined = ", ".join(listed)
    if text.language == "python":
        return f"from {each.module} import {joined}"
    if text.language == "rust":
        return f"use {each.module}::{{{joined}}};" if len(listed) > 1 else f"use {each.module}::{joined};"
    head, _, rest = each.line.partition("{")
    inside, _, tail = rest.partition("}")
    blank = " " if inside.startswith(" ") else ""
    return f"{head}{{{blank}{joined}{blank}}}{tail}" if listed else re.sub(r",? ?\{[^}]*\}", "", each.line)


def _blocks(text: Text, there: Sequence[Import], module: str) -> list[list[Import]]:
    """Lines right below each other, those among which a new one may stand."""
    blocks: list[list[Import]] = []
    for each in there:
        if each.module == "__future__":
            continue
        if blocks and text.text[blocks[-1][-1].end : each.start].count("\n") == 1:
            blocks[-1].append(each)
        else:
            blocks.append([each])
    if text.language in ("c", "cpp"):
        return [block for block in blocks if block[0].module[0] == module[0]] or blocks
    return blocks


def _kind(text: Text, module: str) -> str:
    if text.language == "python":
        return "standard" if is_python_module(module.partition(".")[0]) else "other"
    if text.language == "go":
        return "standard" if "." not in module.partition("/")[0] else "other"
    return "standard" if module.startswith(("std", "java.")) else "other"


def _into(text: Text, block: Sequence[Import], line: str, module: str) -> Edit:
    """The line in the block's order, or at its end where it has none. One line alone has the language's usual one."""
    new = Import(0, 0, line, module, ())
    is_free = len(block) == 1 and (text.language in SCRIPT or text.language == "lua")
    for key in () if is_free else _PYTHON_SORTS if text.language == "python" else _SORTS:
        keys = [key(each) for each in block]
        if keys == sorted(keys):
            after = [each for each in block if key(each) <= key(new)]
            at = after[-1].end + 1 if after else block[0].start
            return Edit(text.document, at, at, f"{line}\n")
    at = block[-1].end + 1
    return Edit(text.document, at, at, f"{line}\n")


def _first(text: Text, line: str) -> Edit:
    """The file's first import: at its top, behind what must come before."""
    shape = _FIRST_LINES.get(text.language)
    match = shape.match(text.text) if shape is not None else None
    at = match.end() if match is not None else 0
    future = next((each for each in imports(text) if each.module == "__future__"), None)
    at = future.end + 1 if future is not None else at
    before = "\n" if at and not text.text[:at].endswith("\n\n") else ""
    rest = text.text[at:]
    if at and rest.startswith("\n"):
        return Edit(text.document, at, at, f"{before}{line}\n")
    return Edit(text.document, at, at, f"{before}{line}\n\n")

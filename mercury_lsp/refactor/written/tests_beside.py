"""Writes a test beside the file: the tree gives its frame (imports, name, call), the model what it tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from engine.api import InfillRequest, Related
from mercury_lsp.refactor.changes import Changes, NewFile, Replace
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.naming import styled, words_of
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.target import Target
from mercury_lsp.refactor.written import checks, filling
from mercury_lsp.refactor.written.checks import Unfit
from mercury_lsp.refactor.written.functions import Function, function_at
from mercury_lsp.refactor.written.passes import Candidate, Tried, best
from mercury_lsp.syntax import Tree

_TOKENS = 200
_LONGEST_SHOWN = 1_200  # characters of the function that the model is shown
_ASSERTS = re.compile(r"\bassert|\bexpect\b|\bt\.(?:Error|Fatal|Fail)|assert\w*\s*[!(]")


@dataclass(frozen=True)
class Frame:
    """The test's file around what the model writes."""

    name: str  # of the file
    before: str
    after: str


async def generate_test(run: Run) -> Changes:
    target = run.target
    target.check_parsed()
    function = function_at(target)
    if target.language == "rust":
        return await _inside_rust(run, function)
    frame = _frame(target, function)
    uri = target.snapshot.uri.rpartition("/")[0] + "/" + frame.name
    if run.exists(uri):
        raise Refused(f"there is already a {frame.name} beside the file")
    path = str(PurePosixPath(run.path).parent / frame.name)
    written = await _written(run, function, frame, path)
    return Changes((), NewFile(uri, frame.before + written + frame.after))


async def _written(run: Run, function: Function, frame: Frame, path: str) -> str:
    language, tried = run.target.language, Tried()

    def check(text: str) -> None:
        whole = frame.before + text + frame.after
        tree = Tree.parse(whole, language)
        if tree is None or len(tree.faults() or ()):
            raise Unfit("the result does not parse")
        _check_tests(text, function)
        if language == "python":
            missing = Names(tree, run.target.grammar).unresolved - checks.BUILT_IN
            if missing:
                raise Unfit(f"`{min(missing)}` is not known in the test")

    shown = Related(run.path, function.tree.text_of(function.outer)[:_LONGEST_SHOWN])
    request = InfillRequest(
        prefix=frame.before, suffix=frame.after, path=path, related=(*run.related(), shown), multiline=True, max_tokens=_TOKENS,
        dedent=len(frame.before) - frame.before.rfind("\n") - 1 or None,
    )  # fmt: skip
    return await best(run, _candidates(run, request), check, tried)


async def _candidates(run: Run, request: InfillRequest) -> AsyncIterator[Candidate]:
    for view in filling.views(request):
        draft = await run.infill(view)
        yield Candidate(filling.fitted(run.target.language, request.prefix, draft.text, request.suffix), draft)


def _check_tests(text: str, function: Function) -> None:
    if not re.search(rf"\b{re.escape(function.name)}\b", text):
        raise Unfit(f"the test does not use `{function.name}`")
    if not _ASSERTS.search(text):
        raise Unfit("the test asserts nothing")


def _frame(target: Target, function: Function) -> Frame:
    stem = PurePosixPath(target.snapshot.path.replace("\\", "/")).stem
    owner = _owner(function)
    if target.language == "python":
        brought = owner or function.name
        title = "_".join(filter(None, ("test", *(word.lower() for word in words_of(owner or "")), function.name.strip("_"))))
        return Frame(f"test_{stem}.py", f"from {stem} import {brought}\n\n\ndef {title}():\n    ", "\n")
    if target.language in ("javascript", "typescript", "tsx"):
        suffix = {"javascript": "js", "typescript": "ts", "tsx": "tsx"}[target.language]
        brought = owner or function.name
        required = "require(" in target.text and "export " not in target.text
        head = f'const {{ {brought} }} = require("./{stem}");' if required else f'import {{ {brought} }} from "./{stem}";'
        return Frame(f"{stem}.test.{suffix}", f'{head}\n\ntest("{function.name}", () => {{\n  ', "\n});\n")
    if target.language == "go":
        package = re.search(r"^package (\w+)", target.text, re.MULTILINE)
        if package is None:
            raise Refused("the file names no package")
        title = "Test" + styled(["x", *words_of(function.name)], "go")[1:]
        return Frame(f"{stem}_test.go", f'package {package[1]}\n\nimport "testing"\n\nfunc {title}(t *testing.T) {{\n\t', "\n}\n")
    if target.language == "java" and owner:
        package_line = re.search(r"^package [\w.]+;\n", target.text, re.MULTILINE)
        head = f"{package_line[0]}\n" if package_line else ""
        imports = "import static org.junit.jupiter.api.Assertions.*;\n\nimport org.junit.jupiter.api.Test;\n\n"
        return Frame(
            f"{owner}Test.java", f"{head}{imports}class {owner}Test {{\n    @Test\n    void {function.name}() {{\n        ", "\n    }\n}\n"
        )
    raise Refused(f"how tests are written in {target.language} is not known")


def _owner(function: Function) -> str:
    """The class that a method is of."""
    node = function.outer.parent
    while node is not None and "class" not in node.type and node.type not in ("interface_declaration", "record_declaration"):
        node = node.parent
    while node is not None and node.child_by_field_name("name") is None:
        node = node.parent
    name = node.child_by_field_name("name") if node is not None else None
    return function.tree.text_of(name) if name is not None else ""


async def _inside_rust(run: Run, function: Function) -> Changes:
    """Rust has unit tests in a module at the end of the file."""
    text = run.target.text
    if "#[cfg(test)]" in text:
        raise Refused("the file has a module of tests already")
    at = len(text)
    lead = "" if text.endswith("\n") else "\n"
    title = f"test_{function.name}"
    head = f"{lead}\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn {title}() {{\n        "
    tail = "\n    }\n}\n"
    tried = Tried()

    def check(new: str) -> None:
        checks.check(run.target, Replace(at, at, head + new + tail))
        _check_tests(new, function)

    written = await best(run, filling.codes(run, text + head, tail), check, tried)
    return Changes((Replace(at, at, head + written + tail),))

"""The commands that move code by the syntax tree alone. The model only proposes a name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from engine.api import InfillRequest
from mercury_lsp.refactor import naming
from mercury_lsp.refactor.changes import Changes, Replace, applied
from mercury_lsp.refactor.extract.function import extract_function
from mercury_lsp.refactor.extract.variable import extract_variable
from mercury_lsp.refactor.inline import inline_variable
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.running import Run
from mercury_lsp.refactor.selection import Selection
from mercury_lsp.refactor.target import Target
from mercury_lsp.syntax import Tree

Extract = Callable[[Names, Selection, str], tuple[list[Replace], str]]
_SUREST = 0.2  # a name less likely than this says less than one made from the code
_NAME_TOKENS = 8
_EVERYWHERE = frozenset({"Self", "self", "super", "crate", "vec", "format"})  # Rust's own, the last two inside of macros
_NEAR = 4_000  # characters on either side that bear on a name


async def extract_to_function(run: Run) -> Changes:
    return await _extracted(run, extract_function)


async def extract_to_variable(run: Run) -> Changes:
    return await _extracted(run, extract_variable)


async def inline(run: Run) -> Changes:
    target = run.target
    target.check_parsed()
    start, end = (target.tree.byte(at) for at in (target.start, target.end))
    replaces, _ = await asyncio.to_thread(lambda: inline_variable(target.names, start, end))
    return await asyncio.to_thread(_checked, target, replaces)


async def _extracted(run: Run, extract: Extract) -> Changes:
    target, wanted = run.target, run.arguments.name
    target.check_parsed()
    selection = target.selection()
    names = await asyncio.to_thread(lambda: target.names)  # of a long file that takes a while
    if wanted and (not naming.is_name(wanted) or wanted in names.words):
        raise Refused(f"`{wanted}` is no name, or the file has it already")
    replaces, name = await asyncio.to_thread(extract, names, selection, wanted)
    if not wanted:
        better = await _proposed(run, replaces, name)
        if better != name:
            replaces, name = extract(names, selection, better)
    return await asyncio.to_thread(_checked, target, replaces)


async def _proposed(run: Run, replaces: list[Replace], name: str) -> str:
    """The model's name for what was made, in the place where it is declared; `name` where it has none that will do."""
    after = applied(run.target.text, replaces)
    made = next((each for each in sorted(replaces, key=lambda each: -len(each.text)) if name in each.text), None)
    if made is None:
        return name
    shift = sum(len(each.text) - (each.end - each.start) for each in replaces if each.start < made.start)
    at = made.start + shift + made.text.index(name)
    request = InfillRequest(
        prefix=after[max(0, at - _NEAR) : at], suffix=after[at + len(name) : at + _NEAR], path=run.path, max_tokens=_NAME_TOKENS
    )
    draft = await run.quickly(request)
    if draft is None or draft.confidence < _SUREST:
        return name
    return naming.proposed(draft.text, run.target.names, name)


def _checked(target: Target, replaces: list[Replace]) -> Changes:
    """Raises `Refused` where the file would not parse: a fault of ours that shall not become one of the user's."""
    tree = Tree.parse(applied(target.text, replaces), target.language)
    if tree is None or tree.faults() is None or len(tree.faults() or ()):
        raise Refused("the result would not parse, so nothing is changed")
    lost = _unknown(Names(tree, target.grammar)) - _unknown(target.names)
    if lost:
        raise Refused(f"`{min(lost)}` would not be known where it moves to")
    return Changes(tuple(replaces), generated=False)


def _unknown(names: Names) -> set[str]:
    """Names of values that the document does not declare."""
    return {use.name for use in names.uses if use.binding is None and use.node.type != "type_identifier"} - _EVERYWHERE

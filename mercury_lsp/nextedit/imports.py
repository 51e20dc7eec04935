"""An import that new code needs, where the standard library, another file or the workspace tells how it is imported; and one that no code
needs any more. Knows the language's ways to import, no order of lines."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from mercury_lsp.nextedit.connected import kin
from mercury_lsp.nextedit.faults import UNDEFINED
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.imports_read import SCRIPT, Import, imports
from mercury_lsp.nextedit.imports_write import put_in, take_out
from mercury_lsp.nextedit.moment import Intention, Moment, Proposal, Text, line_span
from mercury_lsp.nextedit.names import Place, is_imported, places
from mercury_lsp.nextedit.standard import GO_PACKAGES, MEMBERS, is_builtin, is_python_module
from mercury_lsp.nextedit.words import is_name, tokens, word_span
from mercury_lsp.syntax import Tree

_CAUSES = 4  # intentions, the latest ones
# From the standard library, as another file does it, from what the workspace defines; and of one that is no longer used.
_STANDARD, _SHOWN, _FOUND = chance("import, standard"), chance("import, as elsewhere"), chance("import, found")
_GONE = chance("import gone")
# Traits are used without their name.
_SILENT = frozenset(
    {"Read", "Write", "BufRead", "Seek", "FromStr", "Hash", "Hasher", "Iterator", "Display", "Debug", "React", "Borrow", "Future"}
)

_IMPORTS = re.compile(r"\s*(?:import|from|use|#\s*include)\b")
_STAR = re.compile(r"^(?:from \S+ import \*|(?:pub )?use [^;]*\*[^;]*;)", re.MULTILINE)
_NAMED = re.compile(r"['\"`‘]([^\W\d]\w*)['\"`’]|undefined: ([^\W\d]\w*)")

_Source = tuple[str, str | None, str, float]  # module, name in a list, a line of its own, how sure


def imports_needed(moment: Moment) -> Iterator[Proposal]:
    """For every name that was just written and that nothing in the file binds."""
    text, tree = moment.here, moment.tree(moment.here)
    if tree is None:
        return
    bound = {name for each in imports(text) for name in each.names}
    for intention in reversed(moment.made_in(text.document)[-_CAUSES:]):
        latest = intention is moment.intentions[-1]
        for place in [*_written(tree, text, intention, moment.cursor), *(_complained_of(moment, tree) if latest else ())]:
            name = tree.text[place.start : place.end]
            if name in bound or is_builtin(text.language, name) or _is_bound(tree, name):
                continue
            source = _source(moment, tree, place, name)
            if source is not None and not _is_unfinished(tree, place, moment.cursor) and not _by_star(text, source[0]):
                module, listed, line, confidence = source
                edit = put_in(text, module, listed, line)
                yield Proposal(edit=edit, kind="import", label=f"Import {name}", confidence=confidence, cause=intention.number)


def imports_gone(moment: Moment) -> Iterator[Proposal]:
    """For every import whose last use was just taken out."""
    text, tree = moment.here, moment.tree(moment.here)
    if tree is None or text.path.endswith("__init__.py"):
        return
    there = imports(text)
    made = moment.made_in(text.document)[-_CAUSES:]
    spans = [line_span(text.text, intention.start, intention.end) for intention in made]
    kept = {token for first, last in spans for token in tokens(text.text[first:last])}  # what was only commented out may come back
    for intention in reversed(made):
        gone = {token for token in tokens(_old_words(text, intention)) if is_name(token)} - kept
        for each in there:
            if each.start <= intention.end and intention.start <= each.end:
                continue
            for name in each.names:
                if name in gone and name not in _SILENT and not _is_used(tree, text, each, name):
                    edit = take_out(text, each, name)
                    label = f"Remove the import of {name}"
                    yield Proposal(edit=edit, kind="import", label=label, confidence=_GONE, cause=intention.number)


def _old_words(text: Text, intention: Intention) -> str:
    """What went, with the rest of the words that it was cut out of."""
    start, end = word_span(text.text, intention.start, intention.end)
    return text.text[start : intention.start] + intention.old + text.text[intention.end : end]


def _is_used(tree: Tree, text: Text, each: Import, name: str) -> bool:
    used = any(not each.start <= place.start <= each.end for place in places(tree, name))
    others = text.text[: each.start] + text.text[each.end :]
    return used or re.search(rf"['\"]{re.escape(name)}['\"]", others) is not None


def _written(tree: Tree, text: Text, intention: Intention, cursor: int) -> Iterator[Place]:
    """The names that an intention put in, each once; not one that is being typed."""
    start, end = word_span(text.text, intention.start, intention.end)
    words = dict.fromkeys(token for token in tokens(text.text[start:end]) if is_name(token) and len(token) > 1)
    for word in words:
        for place in places(tree, word, start, end):
            if place.role in ("plain", "member") and not place.declared and place.end != cursor:
                yield place
                break


def _is_bound(tree: Tree, name: str) -> bool:
    """Whether the file declares a name, or imports it in whatever form."""
    return any(each.declared or is_imported(each) for each in places(tree, name))


def _by_star(text: Text, module: str) -> bool:
    """Whether all of `module` is imported already, or all of something that may have the name too."""
    return _STAR.search(text.text) is not None or re.search(rf"^import {re.escape(module)}\.\*;", text.text, re.MULTILINE) is not None


def _is_unfinished(tree: Tree, place: Place, cursor: int) -> bool:
    """Whether a name only looks like one that nothing binds: in a string that is not closed yet, in an import that is being written, or in
    brackets that the cursor is still in, where a comprehension may bind it."""
    start, end = line_span(tree.text, place.start, place.start)
    typed = tree.text[start:cursor] if place.end <= cursor <= end and tree.language == "python" else ""
    opened = sum(map(typed.count, "([{")) > sum(map(typed.count, ")]}"))
    return opened or tree.kind_at(place.end) != "code" or _IMPORTS.match(tree.text[start : place.start]) is not None


def _complained_of(moment: Moment, tree: Tree) -> Iterator[Place]:
    """The names that the client has diagnostics for: that they mean nothing."""
    for fault in moment.faults:
        start, found = fault.start, _NAMED.search(fault.message) if UNDEFINED.search(fault.message) else None
        if found is not None:
            name = found[1] or found[2]
            yield from itertools.islice(places(tree, name, start, line_span(tree.text, start, start)[1]), 1)


def _source(moment: Moment, tree: Tree, place: Place, name: str) -> _Source | None:
    """What brings a name in; None where nothing tells, or two tell otherwise."""
    text = moment.here
    dotted = tree.text.startswith((".", "::"), place.end)
    standard = _standard(tree, place, name, dotted=dotted)
    if standard is not None or place.role != "plain":
        return standard
    shown = {line: source for other in moment.others if kin(other) == kin(text) for line, source in _shown(text, other, name)}
    if shown:
        return next(iter(shown.values())) if len(shown) == 1 else None
    return _found(moment, text, name)


def _standard(tree: Tree, place: Place, name: str, *, dotted: bool) -> _Source | None:
    language = tree.language
    members: Mapping[str, str] = MEMBERS.get(language, {})
    if language == "cpp" and tree.text.endswith("std::", 0, place.start) and name in members:
        module = f"<{members[name]}>"
        return None if module in tree.text else (module, None, f"#include {module}", _STANDARD)
    if place.role != "plain":
        return None
    if language == "python" and dotted and is_python_module(name):
        return name, None, f"import {name}", _STANDARD
    if language == "go" and dotted and name in GO_PACKAGES:
        return f'"{GO_PACKAGES[name]}"', None, f'import "{GO_PACKAGES[name]}"', _STANDARD
    module = members.get(name, "")
    if not module or (language == "c" and f"<{module}>" in tree.text):
        return None
    return {
        "python": (module, name, f"from {module} import {name}", _STANDARD),
        "java": (module, None, f"import {module}.{name};", _STANDARD),
        "rust": (module, name, f"use {module}::{name};", _STANDARD),
        "c": (f"<{module}>", None, f"#include <{module}>", _STANDARD),
    }.get(language)


def _shown(text: Text, other: Text, name: str) -> Iterator[tuple[str, _Source]]:
    """How another file imports a name, as this one would have to."""
    for each in imports(other):
        if name not in each.names:
            continue
        module = _from_here(text, other, each.module)
        if module is None:
            continue
        own = next((part for part in each.listed if re.split(r" as |: ", part.removeprefix("type "))[-1] == name), None)
        line = _line(text, each, module, own)
        yield line, (module, own, line, _SHOWN)


def _from_here(text: Text, other: Text, module: str) -> str | None:
    """A module as this file names it; None where that is not clear."""
    folder, other_folder = (posixpath.dirname(each.path.replace("\\", "/")) for each in (text, other))
    plain = module.strip("'\"")
    if not plain.startswith(".") or folder == other_folder:
        return module
    if text.language not in SCRIPT:
        return None
    path = posixpath.relpath(posixpath.normpath(posixpath.join(other_folder, plain)), folder)
    quote = module[0]
    return f"{quote}{path if path.startswith('.') else './' + path}{quote}"


def _line(text: Text, each: Import, module: str, own: str | None) -> str:
    line = each.line.strip().replace(each.module, module)
    if text.language == "go" and not line.startswith("import"):
        return f"import {line}"
    if own is None or len(each.listed) == 1 and len(each.names) == 1:
        return line
    if text.language == "python":
        return f"from {module} import {own}"
    if text.language == "rust":
        return f"use {module}::{own};"
    head = re.match(r"import type |import |const |let |var ", line)
    tail = line[line.index("}") + 1 :]
    return f"{head[0] if head else ''}{{ {own} }}{tail}"


def _found(moment: Moment, text: Text, name: str) -> _Source | None:
    """Where the workspace defines a name, if it does so in one file."""
    there = [
        each for each in moment.defined(name) if each.source.language == text.language or {each.source.language, text.language} <= SCRIPT
    ]
    paths = {each.source.path.replace("\\", "/") for each in there}
    if len(paths) != 1 or text.path.replace("\\", "/") in paths:
        return None
    path = paths.pop()
    if text.language == "python" and (module := _python_module(moment.roots, path)) is not None:
        return module, name, f"from {module} import {name}", _FOUND
    if text.language in SCRIPT and all(re.match(r"export (?!default)", each.text) for each in there):
        return _script_module(text, path, name)
    return None


def _python_module(roots: Sequence[str], path: str) -> str | None:
    root = next((root.rstrip("/") + "/" for root in roots if path.startswith(root.rstrip("/") + "/")), None)
    if root is None or not path.endswith(".py"):
        return None
    inside = path.removeprefix(root).removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    return inside.replace("/", ".") if re.fullmatch(r"[\w/]+", inside) else None


def _script_module(text: Text, path: str, name: str) -> _Source:
    relative = posixpath.relpath(path, posixpath.dirname(text.path.replace("\\", "/")))
    module = re.sub(r"(?:/index)?\.[jt]sx?$", "", relative if relative.startswith(".") else f"./{relative}")
    there = imports(text)
    quote = there[0].module[0] if there else "'"
    end = ";" if not there or there[0].line.endswith(";") else ""
    return f"{quote}{module}{quote}", name, f"import {{ {name} }} from {quote}{module}{quote}{end}", _FOUND

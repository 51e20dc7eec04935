"""The imports of a file, line by line: what each binds, and from where. Knows no edit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mercury_lsp.nextedit.moment import Text

_HEAD = 8_000  # characters in which imports are looked for
SCRIPT = frozenset({"javascript", "typescript", "tsx"})
_PYTHON = re.compile(r"^(?P<from>from (?P<module>[.\w]+) import (?P<list>[\w ,]+))$|^import (?P<whole>[\w.]+(?: as \w+)?)$", re.MULTILINE)
_SCRIPT = re.compile(
    r"^(?:import (?:type )?(?:(?P<default>\w+)(?:, )?)?(?:\{(?P<list>[^{}\n]*)\}|\* as (?P<star>\w+))? ?"
    r"from (?P<module>['\"][^'\"]+['\"]);?"
    r"|(?:const|let|var) (?:(?P<required>\w+)|\{(?P<required_list>[^{}\n]*)\}) = require\((?P<path>['\"][^'\"]+['\"])\);?)$",
    re.MULTILINE,
)
_GO = re.compile(r"^(?:import |\t)(?:(?P<alias>[\w.]+) )?(?P<module>\"[^\"\n]+\")$", re.MULTILINE)
_RUST = re.compile(r"^use (?P<module>(?:\w+::)+)(?:\{(?P<list>[\w, ]+)\}|(?P<name>\w+))(?: as (?P<alias>\w+))?;$", re.MULTILINE)
_JAVA = re.compile(r"^import (?P<static>static )?(?P<module>[\w.]+)\.(?P<name>\w+);$", re.MULTILINE)
_C = re.compile(r"^#\s*include\s*(?P<module>[<\"][^>\"\n]+[>\"])", re.MULTILINE)
_LUA = re.compile(r"^local (?P<name>\w+) = require ?\(?(?P<module>['\"][^'\"]+['\"])\)?;?$", re.MULTILINE)


class Import(NamedTuple):
    """One line. `names` are what it binds; `listed` where they stand in a list as they are written, of which one can be taken."""

    start: int
    end: int
    line: str
    module: str  # as it is written
    names: tuple[str, ...]
    listed: tuple[str, ...] = ()


def imports(text: Text) -> list[Import]:
    """From top to bottom; none of a language whose imports are not known here."""
    read = _READERS.get(text.language)
    return list(read(text.text[:_HEAD])) if read is not None else []


def _python(text: str) -> Iterator[Import]:
    for match in _PYTHON.finditer(text):
        if match["from"]:
            listed = tuple(part.strip() for part in match["list"].split(",") if part.strip())
            yield Import(*match.span(), match[0], match["module"], tuple(part.split(" ")[-1] for part in listed), listed)
        else:
            name = match["whole"].split(" ")
            yield Import(*match.span(), match[0], name[0], (name[-1] if len(name) > 1 else name[0].partition(".")[0],))


def _script(text: str) -> Iterator[Import]:
    for match in _SCRIPT.finditer(text):
        listed = tuple(part.strip() for part in (match["list"] or match["required_list"] or "").split(",") if part.strip())
        names = [re.split(r" as |: ", part.removeprefix("type "))[-1] for part in listed]
        names += [match[group] for group in ("default", "star", "required") if match[group]]
        yield Import(*match.span(), match[0], match["module"] or match["path"], tuple(names), listed)


def _go(text: str) -> Iterator[Import]:
    for match in _GO.finditer(text):
        last = [part for part in match["module"].strip('"').split("/") if not re.fullmatch(r"v\d+", part)][-1]
        yield Import(*match.span(), match[0], match["module"], (match["alias"] or re.sub(r"\.v\d+$|^go-", "", last),))


def _rust(text: str) -> Iterator[Import]:
    for match in _RUST.finditer(text):
        listed = tuple(part.strip() for part in (match["list"] or "").split(",") if part.strip())
        yield Import(*match.span(), match[0], match["module"].removesuffix("::"), listed or (match["alias"] or match["name"],), listed)


def _java(text: str) -> Iterator[Import]:
    for match in _JAVA.finditer(text):
        yield Import(*match.span(), match[0], match["module"], (match["name"],))


def _c(text: str) -> Iterator[Import]:
    for match in _C.finditer(text):
        yield Import(*match.span(), match[0], match["module"], ())


def _lua(text: str) -> Iterator[Import]:
    for match in _LUA.finditer(text):
        yield Import(*match.span(), match[0], match["module"], (match["name"],))


_READERS = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "c": _c,
    "cpp": _c,
    "lua": _lua,
}

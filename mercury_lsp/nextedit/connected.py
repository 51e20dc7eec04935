"""Whether one open document has names from another: by what it imports, or by the folder. Knows no tree."""

from __future__ import annotations

import re

from mercury_lsp.nextedit.moment import Moment, Text

_IMPORT = re.compile(r"^.*\b(?:import|from|require|require_relative|use|using|include|include_once|require_once|mod)\b.*$", re.MULTILINE)
_HEAD = 6_000  # characters in which a file's imports are looked for
_FOLDER_NAMED = frozenset({"__init__", "index", "mod", "init", "lib", "main"})
_BY_FOLDER = frozenset({"go", "java", "csharp"})  # files of one folder see each other without an import
_KIN = {"javascript": "js", "typescript": "js", "tsx": "js", "c": "c", "cpp": "c"}


def kin(text: Text) -> str:
    """The same for languages whose files use each other."""
    return _KIN.get(text.language, text.language)


def is_connected(text: Text, other: Text, name: str) -> bool:
    """Whether `other` may have `name` from `text`."""
    folder, names = _located(text.path)
    other_folder, _ = _located(other.path)
    if text.language in _BY_FOLDER and folder == other_folder:
        return True
    words = _imported_words(other.text)
    if text.language == "go":
        return folder.rpartition("/")[2] in words
    return bool(names & words) or (name in words and text.language not in ("c", "cpp"))


def bound_elsewhere(moment: Moment, text: Text, other: Text, name: str) -> bool:
    """Whether a third file defines the name, too, and the import does not tell which is meant."""
    _, names = _located(text.path)
    thirds = [each for each in moment.defined(name) if each.source.path not in (text.path, other.path)]
    return bool(thirds) and not names & _imported_words(other.text)


def _imported_words(text: str) -> frozenset[str]:
    """The words of the lines that import something."""
    return frozenset(word for line in _IMPORT.findall(text[:_HEAD]) for word in re.findall(r"\w+", line))


def _located(path: str) -> tuple[str, frozenset[str]]:
    """The folder of a file, and the names that it may be imported by."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    stem = name.partition(".")[0]
    return folder, frozenset({stem, folder.rpartition("/")[2]} if stem in _FOLDER_NAMED else {stem})

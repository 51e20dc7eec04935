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
    folder, stem = located(text.path)
    other_folder, _ = located(other.path)
    if text.language in _BY_FOLDER and folder == other_folder:
        return True
    words = imported_words(other.text)
    return (
        stem in words
        or (name in words and text.language not in ("c", "cpp"))
        or (text.language == "go" and folder.rpartition("/")[2] in words)
    )


def bound_elsewhere(moment: Moment, text: Text, other: Text, name: str) -> bool:
    """Whether a third file defines the name, too, and the import does not tell which is meant."""
    _, stem = located(text.path)
    thirds = [each for each in moment.defined(name) if each.source.path not in (text.path, other.path)]
    return bool(thirds) and stem not in imported_words(other.text)


def imported_words(text: str) -> frozenset[str]:
    """The words of the lines that import something."""
    return frozenset(word for line in _IMPORT.findall(text[:_HEAD]) for word in re.findall(r"\w+", line))


def located(path: str) -> tuple[str, str]:
    """The folder of a file, and the name that it is imported by."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    stem = name.partition(".")[0]
    return folder, folder.rpartition("/")[2] if stem in _FOLDER_NAMED else stem

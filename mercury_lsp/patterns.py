"""Patterns of file names as one specification: lines as `.gitignore` has them, and globs as editors have them. Reads no file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST = 1000  # that one glob may stand for: braces beside each other multiply


def rules(lines: Iterable[str]) -> GitIgnoreSpec:
    """A line that is no pattern is passed over, as git does."""
    from pathspec import GitIgnoreSpec  # 30 ms, which `initialize` need not wait for

    patterns: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `re` warns of what it may mean one day
        for line in lines:
            try:
                patterns += GitIgnoreSpec.from_lines([line]).patterns
            except (ValueError, re.error):
                continue
    return GitIgnoreSpec(patterns)


def globs(given: Iterable[str]) -> GitIgnoreSpec:
    """Globs as VS Code's `files.exclude` has them: from the top on where they do not begin with `**/`, with `{a,b}` for either."""
    return rules("/" + each.removeprefix("./").lstrip("/") for glob in given for each in _either(glob) if each.strip("/"))


def _either(glob: str) -> Iterator[str]:
    """What stands for a glob with braces, innermost first."""
    waiting, given = [glob], 0
    while waiting and given < _MOST:
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            given += 1
            yield each
        else:
            waiting += [each[: braces.start()] + part + each[braces.end() :] for part in reversed(braces[1].split(","))]

"""Which commits and which of their changes teach next edits. Knows no git and no token."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from engine.api import PastEdit
from engine.training.edit_cases import Change
from engine.training.histories import Commit

# Commits made by tools, or that follow no reason seen in the text.
_SUBJECT = re.compile(
    r"^(revert|merge|release|bump|version|v?\d+\.\d+|prepare|update change|changelog|sync|vendor|import upstream|lint|style|format|reformat"
    r"|typo|spelling|whitespace|black|prettier|rubocop|clang-format|gofmt|isort|ruff)\b"
    r"|\b(reformat|reindent|auto-?format|run (black|prettier|isort|gofmt|clang-format)|translations?|copyright|year|upgrade dependenc|bump"
    r"|dependabot|renovate|snapshots?|regenerate|generated|locale|lockfile)\b",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third_?party|node_modules|dist|build|generated|gen|snapshots?|__snapshots__|fixtures?|testdata|test_?data"
    r"|tests?/data|tests?/fixtures?|locales?|locale|translations?|i18n|examples?/data|changelogs?|changes?|news|release_notes)(/|$)"
    r"|(^|/)(CHANGE|CHANGELOG|HISTORY|NEWS|RELEASE|AUTHORS|CONTRIBUTORS|package(-lock)?\.json|composer\.(json|lock)|Cargo\.toml|version|_?_?version_?_?\.)"
    r"|_pb2|\.pb\.|\.min\.|\.generated\.|\.g\.|\.lock$|\.snap$|whatsnew",
    re.IGNORECASE,
)
_MOST_CHANGES = 60
_MOST_CHANGED_LINES = 500
_MOST_COSMETIC = 0.4  # share of a commit's changes
_MOST_LINES = 12  # of a change, on each side
_MOST_CHARACTERS = 700  # of a change's new lines
_NOVEL = 0.15  # share of a change's new words that may be seen nowhere
_RECENT = 2  # edits that a change must have to do with: of the earlier ones a prompt may have no room for more
_GROWN = 2  # lines more, or fewer, that a change may bring before it is new text
_LEAST_SHARED = 0.4  # share of the telling words
WORD = re.compile(r"[A-Za-z_]\w*")
# Words that two changes share without having to do with each other.
COMMON = frozenset(
    "and any args as assert async await bool break case catch class const continue def default del do elif else end err error except"
    " finally fn for from func function get if impl import in int is len let list local match mut name new nil none not null of or pass"
    " path pub public private protected raise return self set static str string struct super switch test the then this throw to true try"
    " type undefined unit val value var void while with yield True False None object data key result std auto char double size count print"
    " false expect".split()
)


def is_worth(commit: Commit) -> bool:
    """Whether somebody changed a few places for one reason."""
    if _SUBJECT.search(commit.subject):
        return False
    changes = [(window, change) for window in commit.windows for change in window.changes]
    if not 1 <= len(changes) <= _MOST_CHANGES:
        return False
    if sum(change.last - change.first + len(change.lines) for _, change in changes) > _MOST_CHANGED_LINES:
        return False
    cosmetic = sum(is_cosmetic(window.lines[change.first : change.last], change.lines) for window, change in changes)
    return cosmetic <= _MOST_COSMETIC * len(changes)


def is_source(path: str) -> bool:
    """Whether the file was written by people and is no record of other things."""
    return not _PATH.search(path)


def is_cosmetic(removed: Sequence[str], added: Sequence[str]) -> bool:
    """Whether only white space, quotes, commas or brackets around the same words changed, or only numbers."""
    return _bare(removed) == _bare(added)


def _bare(lines: Sequence[str]) -> str:
    return re.sub(r"[\s\"',;()\[\]{}\\0-9]+", "", "\n".join(lines))


def is_small(change: Change) -> bool:
    """Whether the change fits into a region, and is neither a piece of new text nor one that is gone."""
    removed, added = change.last - change.first, len(change.lines)
    return removed <= _MOST_LINES and added <= _MOST_LINES and sum(map(len, change.lines)) <= _MOST_CHARACTERS


def words(lines: Iterable[str]) -> list[str]:
    """The words of some lines, in order."""
    return [word for line in lines for word in WORD.findall(line)]


def gone_and_come(removed: Sequence[str], added: Sequence[str]) -> tuple[set[str], set[str]]:
    """The words that only the removed lines have, and those that only the added ones have."""
    before, after = set(words(removed)), set(words(added))
    return before - after, after - before


def follows(change: Change, removed: Sequence[str], told: Sequence[PastEdit], seen: str) -> bool:
    """Whether a change of the lines `removed` can be told from the edits before it, and from the text `seen`.

    It must share a telling word with what the last ones removed or added, more of them where it brings or takes whole lines, and bring
    hardly a word that is nowhere to be seen.
    """
    gone, come = gone_and_come(removed, change.lines)
    past_gone, past_come = _past_words(told[-_RECENT:])
    grown = len(change.lines) - len(removed)
    if grown > _GROWN and _share(come, past_come) < _LEAST_SHARED:
        return False
    if -grown > _GROWN and _share(gone, past_gone) < _LEAST_SHARED:
        return False
    return bool(gone & past_gone or come & past_come) and novelty(come, seen) <= _NOVEL


def novelty(come: set[str], seen: str) -> float:
    """The share of the words that are not in the text."""
    return len(come - set(WORD.findall(seen))) / len(come) if come else 0.0


def are_alike(removed: Sequence[str], added: Sequence[str]) -> bool:
    """Whether each line gives way to one that is much like it."""
    return len(removed) == len(added) and all(
        _share(set(WORD.findall(old)), set(WORD.findall(new))) >= _LEAST_SHARED for old, new in zip(removed, added, strict=True)
    )


def _past_words(told: Iterable[PastEdit]) -> tuple[set[str], set[str]]:
    """The telling words that the edits took away, and those that they brought, as far as their diffs show."""
    gone: set[str] = set()
    come: set[str] = set()
    for edit in told:
        lines = edit.diff.split("\n")
        went, came = gone_and_come(*([line[1:] for line in lines if line.startswith(sign)] for sign in "-+"))
        gone |= went
        come |= came
    return gone - COMMON, come - COMMON


def _share(words: set[str], known: set[str]) -> float:
    telling = words - COMMON
    return len(telling & known) / len(telling) if telling else 1.0

"""What two lines have in common, as a pattern that other lines may have, too. Knows no document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from mercury_lsp.nextedit.words import is_name

# What stands open in a pattern, by what both lines have there: the first that fits both.
_SHAPES = tuple(
    re.compile(shape)
    for shape in (r"[^\W\d]\w*", r"[\w.]+", r"\"[^\"\n]*\"", r"'[^'\n]*'", r"[^\s,;(){}\[\]]+", r"[^\n;{}]+?", r"[^\n]+?", r"[^\n]*?")
)


class Pattern:
    """A regular expression that grows from left to right, out of pieces of both lines.

    What differs is left open, as a group of its own; `open` has by the group's name what the two lines have there.
    """

    def __init__(self, *, loose: bool = False) -> None:
        """`loose`: anything may stand where the lines differ."""
        self.text = ""
        self.same: list[str] = []  # the tokens that both have
        self.open: dict[str, tuple[str, str]] = {}
        self._shapes = _SHAPES[-2 if loose else 0 :]

    def both(self, one: Sequence[str], other: Sequence[str]) -> None:
        """A piece of each line."""
        for tag, low, high, other_low, other_high in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if tag == "equal":
                self.exactly(one[low:high])
            else:
                self.leave_open("".join(one[low:high]), "".join(other[other_low:other_high]))

    def exactly(self, tokens: Sequence[str]) -> None:
        """Of blanks there may be more or fewer."""
        self.text += "".join(_exactly(token) for token in tokens)
        self.same += tokens

    def leave_open(self, one: str, other: str) -> str:
        """The name of the group."""
        name = f"open{len(self.open)}"
        shape = next(shape.pattern for shape in self._shapes if shape.fullmatch(one) and shape.fullmatch(other))
        self.open[name] = (one, other)
        self.text += f"(?P<{name}>{shape})"
        return name

    @property
    def longest(self) -> str:
        """A token that every such line has."""
        return max(self.same, key=len, default="")

    def whole_line(self) -> re.Pattern[str]:
        """For lines that are like both from end to end."""
        return re.compile(rf"^(?P<indent>[ \t]*){self.text}[ \t]*$", re.MULTILINE)


def _exactly(token: str) -> str:
    if token.isspace():
        return r"[ \t]+"
    return rf"(?<!\w){token}(?!\w)" if is_name(token) else re.escape(token)


def letters(tokens: Sequence[str]) -> int:
    """Of the words among them."""
    return sum(len(token) for token in tokens if is_name(token))


def common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The tokens that both begin with."""
    length = next((place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))
    return list(one[:length])

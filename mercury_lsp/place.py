"""Where a draft goes: the cursor's line on both sides and the document around it. Knows no draft."""

from __future__ import annotations

import msgspec

from mercury_lsp import overlap, syntax


class Place(msgspec.Struct, frozen=True):
    """A cursor in a document."""

    text: str
    offset: int
    before: str  # the line left of the cursor
    rest: str  # the line right of the cursor
    language: str
    kind: syntax.Kind

    def below(self, count: int) -> list[str]:
        """The next `count` lines, blank ones included."""
        return self.text[self.offset + len(self.rest) :].split("\n", count + 1)[1 : count + 1]

    def above(self) -> str:
        """The nearest line above that is not blank."""
        return self.text[: self.offset - len(self.before)].rstrip().rpartition("\n")[2]

    def string_began_above(self) -> bool:
        """Whether the string the cursor is in is one of several lines."""
        return not overlap.open_quote(self.before.replace('"""', "").replace("'''", ""))

    def in_prose(self) -> bool:
        """Whether lines are set by their writer and not by the code's depth: in strings, and in comments that have an end of their own."""
        if self.kind == "comment":
            return not self.before.lstrip("\ufeff \t").startswith(("#", "//", "--", ";", "%"))
        return self.kind == "string"

"""Puts a candidate into the document and tells whether it adds a syntax error. Knows nothing of how candidates come about."""

from __future__ import annotations

from collections.abc import Sequence

from mercury_lsp import offside, syntax
from mercury_lsp.place import Place

_MOST = 8  # candidates parsed for one draft; the usual draft needs one
_BUDGET = 2 * syntax.TRIAL  # for all of them together


class Trial:
    """Parses candidates and compares them with the document as it is. Where a tree cannot tell, every candidate passes whose lines
    stand where they may."""

    def __init__(self, place: Place, tree: syntax.Tree | None) -> None:
        self._place = place
        self._tree = tree
        faults = None if tree is None else tree.faults()
        # In a string of several lines that has no end yet the grammar reads prose as code.
        prose = faults is not None and bool(faults.spans) and place.kind == "string" and place.string_began_above()
        self._before = None if faults is None or prose else len(faults)
        self._left = _MOST
        self._budget = _BUDGET
        self.line_of_fault: int | None = None  # in the last candidate that did not pass

    def best(self, candidates: Sequence[str]) -> str | None:
        """The one with the fewest faults, the first of equals; None where all of them add one."""
        candidates = [candidate for candidate in candidates if self._stands(candidate)]
        if self._before is None:
            return candidates[0] if candidates else None
        fewest, best = self._before + 1, None
        for candidate in candidates:
            count = self._count(candidate, self._before)
            if count is not None and count < fewest:
                fewest, best = count, candidate
            if not fewest:
                break
        return best

    def _stands(self, candidate: str) -> bool:
        """Whether every line stands where one may with `candidate` in place; the grammars bear any depth."""
        line = offside.misplaced(self._place, candidate)
        self.line_of_fault = self.line_of_fault if line is None else line
        return line is None

    def _count(self, candidate: str, before: int) -> int | None:
        """Faults with `candidate` in place; None where it adds one."""
        assert self._tree is not None
        if not candidate.strip():
            return before
        if self._left <= 0 or self._budget <= 0:
            return None
        budget = min(self._budget, syntax.TRIAL)
        tree = self._tree.insert(self._place.offset, candidate, budget=budget)
        self._left -= 1
        self._budget -= budget if tree is None else tree.cost
        faults = None if tree is None else tree.faults()
        if faults is None:  # too much work; mending an error is what makes for most of it
            return None if self._parses_alone(candidate) is False else before
        start = self._place.offset
        inside = any(_is_its_own(candidate, first - start, end - start) for first, end in faults.spans)
        if len(faults) <= before and not inside:
            return len(faults)
        if before and self._parses_alone(candidate):
            return before
        first = next((fault[0] for fault in faults.spans if fault[0] >= start), start)
        self.line_of_fault = candidate.count("\n", 0, max(first - start, 0))
        return None

    def _parses_alone(self, candidate: str) -> bool | None:
        """Whether the lines of the candidate are right by themselves, None where that is too much work as well. In a document that does
        not parse anyway, how many faults the grammar finds in the rest depends on every token."""
        place = self._place
        tree = syntax.Tree.parse(place.before + candidate + place.rest, place.language, budget=syntax.TRIAL)
        faults = None if tree is None else tree.faults()
        return None if faults is None else not faults.spans


def _is_its_own(candidate: str, start: int, end: int) -> bool:
    """Whether a fault is the candidate's: within it, and not just its unfinished end."""
    if not 0 <= start < end <= len(candidate):
        return False
    return end < len(candidate) or not candidate[start:end].strip(")]}")

"""Which of a client's diagnostics the latest changes brought: told from those that it had before. Knows no mend."""

from __future__ import annotations

from collections.abc import Sequence

from mercury_lsp.nextedit.ask import Diagnostic
from mercury_lsp.nextedit.moment import Fault, Intention, line_span
from mercury_lsp.params import Position
from mercury_lsp.session import Snapshot
from mercury_lsp.utf16 import to_column

_MOST = 200  # diagnostics of a document
_NEAR = 12  # lines from a change, within which a diagnostic counts as new where none is known from before

_Seen = dict[tuple[str, str], int]  # by message and line: the number of the last intention when it was first there


class Complaints:
    """Of one client's documents."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def forget(self, document: str) -> None:
        self._seen.pop(document, None)

    def of(self, snapshot: Snapshot, diagnostics: Sequence[Diagnostic], intentions: Sequence[Intention]) -> tuple[Fault, ...]:
        """In the order of the client. One is new if it came with the last change, or after it."""
        last = intentions[-1].number if intentions else 0
        known = self._seen.get(snapshot.document)
        seen: _Seen = {}
        found = []
        for each in diagnostics[:_MOST]:
            start, end = (_offset(snapshot.text, place) for place in (each.range.start, each.range.end))
            first, stop = line_span(snapshot.text, start, start)
            key = each.message, snapshot.text[first:stop].strip()
            came = (known or {}).get(key, last if known is not None or _is_near(snapshot, start, intentions) else -1)
            seen[key] = came
            found.append(Fault(start, max(start, end), each.message, is_new=came == last and bool(intentions)))
        if diagnostics or known is not None:
            self._seen[snapshot.document] = seen
        return tuple(found)


def _is_near(snapshot: Snapshot, at: int, intentions: Sequence[Intention]) -> bool:
    last = next((each for each in reversed(intentions) if each.document == snapshot.document), None)
    return last is not None and abs(snapshot.text.count("\n", 0, at) - snapshot.text.count("\n", 0, last.end)) <= _NEAR


def _offset(text: str, position: Position) -> int:
    """What lies beyond the text is its end."""
    at = 0
    for _ in range(position.line):
        at = text.find("\n", at) + 1
        if not at:
            return len(text)
    end = text.find("\n", at)
    return at + to_column(text[at : end if end >= 0 else len(text)], position.character)

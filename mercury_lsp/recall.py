"""The line at the cursor, if the project has it already. Knows no model and shows nothing."""

from __future__ import annotations

import msgspec

from mercury_lsp.languages import language_of
from mercury_lsp.lines import Known, Lines
from mercury_lsp.session import Snapshot

_SHORTEST = 2  # characters that are missing: to accept one takes a key, as it does to type it


def recalled(snapshot: Snapshot, lines: Lines, as_read: str = "") -> Known | None:
    """What is missing of the line, up to what stands right of the cursor; None where no known line goes on so.

    With it the line is the known one to the letter: in it nothing is to be trimmed or indented. `as_read` is the document's text when
    its lines became known: what stood in the cursor's line then is not what stands elsewhere.
    """
    line = snapshot.line_text
    typed, right = line[: snapshot.column], line[snapshot.column :].strip()
    own = as_read.split("\n", snapshot.line + 1)[snapshot.line : snapshot.line + 1]
    known = lines.known(language_of(snapshot.language, snapshot.path), typed, _before(snapshot), "".join(own).strip())
    if known is None or not known.text.endswith(right):
        return None
    missing = known.text.removesuffix(right)
    return msgspec.structs.replace(known, text=missing) if len(missing) >= _SHORTEST else None


def _before(snapshot: Snapshot) -> str:
    """The nearest line above that is not blank, without its indentation."""
    end = snapshot.line_start
    while end > 0:
        start = snapshot.text.rfind("\n", 0, end - 1) + 1
        if line := snapshot.text[start : end - 1].strip():
            return line
        end = start
    return ""

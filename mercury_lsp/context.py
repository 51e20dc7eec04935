"""Makes an infill request of a snapshot: what the model may see, within its budget. Knows no token and asks no editor.

The far edges of prefix and suffix move in coarse steps, so that the engine's prefix cache holds while somebody types.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from engine.api import InfillRequest, Related
from mercury_lsp.boundary import stays_at
from mercury_lsp.languages import language_of
from mercury_lsp.prose import open_string
from mercury_lsp.session import Snapshot
from mercury_lsp.settings import Settings

Trigger = Literal["automatic", "explicit"]

PREFIX_MIN = 8192  # characters, about 2,500 tokens: more than any layout takes today
PREFIX_STEP = 4096
SUFFIX_MIN = 2048
SUFFIX_STEP = 2048

# Seconds that pass between a message and the engine, and between the engine and the answer.
_AROUND = 0.01

# What a line ends with where a block is to follow: brackets, and the words and signs of languages that open one without.
_OPENERS = (":", "{", "(", "[", "=>", "->", " do", " then", " else", " begin", "|>")


def infill_request(
    snapshot: Snapshot, settings: Settings, trigger: Trigger, roots: Sequence[str] = (), related: Sequence[Related] = ()
) -> InfillRequest:
    """`roots` are the workspace's folders, `related` what else bears on the hole. Only a request that comes while typing has a deadline,
    counted from now."""
    multiline = settings.multiline and wants_lines(snapshot, trigger)
    return InfillRequest(
        prefix=_encodable(near_prefix(snapshot.before)),
        suffix=_encodable(near_suffix(snapshot.after)),
        path=shown_path(snapshot.path, roots),
        related=tuple(Related(piece.path, _encodable(piece.text)) for piece in related),
        multiline=multiline,
        dedent=dedent(snapshot) if multiline else None,
        deadline=time.monotonic() + max(0.001, settings.deadline_ms / 1000 - _AROUND) if trigger == "automatic" else None,
    )


def near_prefix(before: str) -> str:
    """The last 8,192 to 12,288 characters, from a line's start where there is one."""
    if len(before) < PREFIX_MIN + PREFIX_STEP:
        return before
    edge = (len(before) - PREFIX_MIN) // PREFIX_STEP * PREFIX_STEP
    line_end = before.find("\n", edge, edge + PREFIX_STEP)
    return before[line_end + 1 if line_end >= 0 else edge :]


def near_suffix(after: str) -> str:
    """The first 2,048 to 4,096 characters, whole lines where possible; the cut stays where it is while the cursor moves a little."""
    if len(after) < SUFFIX_MIN + SUFFIX_STEP:
        return after
    left_out = (len(after) - SUFFIX_MIN) // SUFFIX_STEP * SUFFIX_STEP
    edge = len(after) - left_out
    line_end = after.rfind("\n", edge - SUFFIX_STEP, edge)
    return after[: line_end + 1 if line_end >= 0 else edge]


def shown_path(path: str, roots: Sequence[str]) -> str:
    """The path in its workspace folder, the innermost one, with forward slashes; outside of all only the file's name."""
    file = Path(path)
    inside = [Path(root) for root in roots if file.is_relative_to(root)]
    if not inside:
        return file.name
    return file.relative_to(max(inside, key=lambda root: len(root.parts))).as_posix()


def wants_lines(snapshot: Snapshot, trigger: Trigger) -> bool:
    """Whether several lines would be welcome: nothing follows on the line, and it is blank, opens a block, or somebody asked."""
    line = snapshot.line_text
    if line[snapshot.column :].strip():
        return False
    head = line[: snapshot.column].rstrip()
    return trigger == "explicit" or not head or head.endswith(_OPENERS)


def dedent(snapshot: Snapshot) -> int | None:
    """How far to the left a draft may go on and still be in the cursor's block; None where that is no matter of columns."""
    before = snapshot.before
    if open_string(before):
        return None
    line = before[snapshot.line_start :]
    above = before[: snapshot.line_start].rstrip().rpartition("\n")[2]
    return stays_at(line, above, language_of(snapshot.language, snapshot.path))


def _encodable(text: str) -> str:
    """`text` with halves of surrogate pairs replaced: no tokenizer takes them."""
    return text.encode("utf-8", "replace").decode("utf-8")

"""The entry that the editor's popup highlights: what of it is still to be written, and whether a suggestion goes on with it.

Knows no protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from mercury_lsp.present import Item


class Selected(msgspec.Struct, frozen=True):
    """The entry's text, and the range of the cursor's line (code points) that it would replace."""

    start: int
    end: int
    text: str


def forced(selected: Selected, line: str, column: int) -> str:
    """What accepting the entry would put behind the cursor's `column`; "" where it would do something else, too."""
    typed = line[selected.start : column]
    return selected.text[len(typed) :] if selected.end <= column and selected.text.startswith(typed) else ""


def extends(item: Item, selected: Selected, column: int) -> bool:
    """Whether accepting `item` at the cursor's `column` gives what the entry would give, and more."""
    accepted = item.insert_text[: selected.start] + selected.text
    reach = item.insert_text if selected.end > column else item.insert_text[: column + len(item.completion)]
    return selected.start <= column and reach.startswith(accepted)

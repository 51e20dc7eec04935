"""The entry that the editor's popup highlights, and whether a suggestion goes on with it. Knows no draft and no protocol."""

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


def extends(item: Item, selected: Selected, column: int) -> bool:
    """Whether accepting `item` at the cursor's `column` gives what the entry would give, and more."""
    accepted = item.insert_text[: selected.start] + selected.text
    reach = item.insert_text if selected.end > column else item.insert_text[: column + len(item.completion)]
    return selected.start <= column and reach.startswith(accepted)

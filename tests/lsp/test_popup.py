"""A suggestion is shown beside the popup only where it goes on with the entry that is highlighted there."""

from __future__ import annotations

import pytest
from lsp_client import cut

from mercury_lsp import present
from mercury_lsp.popup import Selected, extends


@pytest.mark.parametrize(
    ("marked", "draft", "selected", "visible"),
    [
        ("os.pa‸\n", "th", Selected(3, 5, "path"), True),
        ("os.pa‸\n", "th.join(a)", Selected(3, 5, "path"), True),
        ("os.pa‸\n", "t", Selected(3, 5, "path"), False),
        ("os.pa‸\n", "rdir", Selected(3, 5, "path"), False),
        ("os.PA‸\n", "th", Selected(3, 5, "path"), False),
        ("os.‸\n", "path", Selected(3, 3, "path"), True),
        ("os.pa‸th\n", "th", Selected(3, 7, "path"), False),
        ("os.p‸h\n", "at", Selected(3, 5, "path"), True),
    ],
)
def test_the_text_extends_the_selected_popup_entry(marked: str, draft: str, selected: Selected, visible: bool) -> None:
    text, line, column = cut(marked)
    item = present.item(text, line, column, draft, language="python")
    assert (item is not None and extends(item, selected, column)) == visible

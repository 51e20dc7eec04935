"""Whether an edit leaves a document that its grammar can read as well as before. Knows no reason for the edit."""

from __future__ import annotations

from mercury_lsp.nextedit.moment import Edit, Moment


def keeps_valid(moment: Moment, edit: Edit) -> bool:
    """Whether the edit changes anything and adds no fault. A document without a tree is not judged."""
    text = moment.text(edit.document)
    if text is None or text.text[edit.start : edit.end] == edit.text:
        return False
    tree = moment.tree(text)
    if tree is None:
        return True
    after = text.text[: edit.start] + edit.text + text.text[edit.end :]
    edited = tree.edit(edit.start, edit.end, edit.start + len(edit.text), after)
    before_faults, faults = tree.faults(), edited.faults() if edited is not None else None
    return faults is not None and (before_faults is None or len(faults) <= len(before_faults))

"""Whether a word is just being typed: until it is whole nothing follows from it. Knows no edit and no clock."""

from __future__ import annotations

from mercury_lsp.nextedit.moment import Moment


def is_mid_word(moment: Moment) -> bool:
    """Whether the cursor is where the last change ended, in a word or right behind one. Who leaves insert mode in Vim moves it on."""
    last, text, at = moment.intentions[-1], moment.here.text, moment.cursor
    if last.document != moment.here.document or last.bulk or not last.start <= at <= last.end:
        return False
    before, after = _is_word(text[at - 1 : at]), _is_word(text[at : at + 1])
    return before and not after or (at == last.end and (before or after))


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"

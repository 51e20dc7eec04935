"""Where a draft of several lines has left the block it began in, told by its text alone. Knows no language and no token."""

from __future__ import annotations

import re

_TAB = 4
_ONLY_CLOSES = re.compile(r"[)\]}]+[;,]?[ \t]*")


def ended(text: str, dedent: int) -> int | None:
    """The length at which `text`, a draft as far as it goes, ends for `InfillRequest.dedent`; None while it has not.

    Once it is not None, more text does not change it: fit to be asked after each commit. The end has no line break.
    """
    start = text.find("\n") + 1  # the first line belongs to the cursor's
    end = start - 1  # of the last line that was not blank
    while start:
        stop = text.find("\n", start)
        line = text[start:] if stop < 0 else text[start:stop]
        body = line.lstrip(" \t")
        columns = len(line[: len(line) - len(body)].expandtabs(_TAB))
        if body and columns < dedent and body[0] != "#":  # a comment, or for the preprocessor: stands anywhere
            closes = _ONLY_CLOSES.match(body)
            if closes is None:
                return end
            if closes.end() == len(body):
                return None if stop < 0 else start + len(line)
            dedent = columns  # `} else {`
        if body:
            end = start + len(line)
        start = stop + 1
    return None

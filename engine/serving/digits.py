"""How long the number has grown that a JSON text ends with. Knows no grammar and no token."""

from __future__ import annotations

# Digits after which a number is long enough, of its whole part, its fraction and its exponent: more of them no client's number holds.
# A model that writes zeros without end writes `46.000…01`, which is more than 46 by the schema and 46.0 to who reads it.
_MOST = {"whole": 20, "fraction": 10, "exponent": 2}


class Digits:
    """Is shown a text as it is written."""

    def __init__(self) -> None:
        self._part, self._count = "whole", 0
        self._in_string = self._escaped = False

    @property
    def enough(self) -> bool:
        return not self._in_string and self._count >= _MOST[self._part]

    def see(self, text: bytes) -> None:
        for char in text.decode("latin-1"):
            self._see(char)

    def _see(self, char: str) -> None:
        if self._in_string:
            self._in_string = self._escaped or char != '"'
            self._escaped = char == "\\" and not self._escaped
        elif char in "0123456789":
            self._count += 1
        elif char in "+-" and self._part == "exponent" and not self._count:
            pass
        else:
            self._part = {".": "fraction", "e": "exponent", "E": "exponent"}.get(char, "whole") if self._count else "whole"
            self._count, self._in_string = 0, char == '"'

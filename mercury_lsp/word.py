"""The word that is being typed. Knows no document."""

from __future__ import annotations


def begun(text: str) -> str:
    """The word that `text` ends with, "" for none. A pattern that looks for it from the left takes minutes for one of 200,000 letters."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start:]

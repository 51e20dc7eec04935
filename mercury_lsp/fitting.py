"""A draft as this file would indent it, its first line as well as the later ones. Knows no tree and no protocol."""

from __future__ import annotations

from collections.abc import Sequence

from mercury_lsp import indent, overlap
from mercury_lsp.place import Place


def fitted(place: Place, lines: Sequence[str], code_from: int | None, style: indent.Style | None) -> list[str]:
    """The draft's `lines` with this file's indentation. Those before `code_from` are prose and stay as they are; None: all of them."""
    if place.before.strip("\ufeff \t"):
        lines = [_one_space(place, lines[0]), *lines[1:]]
    elif style is not None and not place.in_prose():
        if not place.before and indent.leading(lines[0]):
            return _from_margin(place, lines, style)
        lines = [_first_line(place, lines[0], style), *lines[1:]]
    if style is None or code_from is None:
        return list(lines)
    head = lines[code_from] if code_from else place.before + lines[0]
    opens = indent.opens_block(head, place.language, ":{")
    return [*lines[:code_from], *indent.fit(lines[code_from:], style, head, opens=opens)]


def _one_space(place: Place, first: str) -> str:
    """Between two words of code one space is enough."""
    doubled = place.kind == "code" and place.before[-1:] in " \t" and first[:1] in (" ", "\t")
    return (first.lstrip(" \t") or first) if doubled else first


def _from_margin(place: Place, lines: Sequence[str], style: indent.Style) -> list[str]:
    """The draft brings all of its indentation itself: as if it had been asked for at the end of the line above."""
    above = place.above()
    first, *later = indent.fit([above, *lines], style, above, opens=_opened(place, above))[1:]
    return [_first_line(place, first, style), *later]


def _first_line(place: Place, first: str, style: indent.Style) -> str:
    """The start of a line that is blank so far, at the depth where the lines above let it stand."""
    space, body = indent.leading(first), first.lstrip(" \t")
    if not body:
        return first
    above = place.above()
    here = style.columns(place.before)
    opened = _opened(place, above)
    expected = style.columns(indent.leading(above)) + (style.width if opened else 0)
    found = here + style.columns(space)
    if space and here and found > expected:  # it brought the indentation that is there already
        return style.render(max(expected - here, 0)) + body
    if opened and found < expected and body[0] not in overlap.CLOSING and not place.rest.strip():
        return style.deepen(place.before, expected) + body
    return style.deepen(place.before, found) + body if space else first


def _opened(place: Place, above: str) -> bool:
    return place.kind == "code" and indent.opens_block(above, place.language, ":{")

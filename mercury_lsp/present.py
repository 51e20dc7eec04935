"""Turns a draft into what the editor shows, or into nothing: trims, indents and checks it. Knows no model, no protocol and no session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from mercury_lsp import boundary, indent, overlap, syntax
from mercury_lsp.place import Place
from mercury_lsp.trial import Trial

_UNUSABLE = re.compile("[\x00\ufffd\ud800-\udfff]")  # a stray byte, half a character, half a surrogate pair: the text ends before it


class Selected(msgspec.Struct, frozen=True):
    """The popup entry the editor highlights, and the range of the cursor's line (code points) that it would replace."""

    start: int
    end: int
    text: str


class Item(msgspec.Struct, frozen=True):
    """What to show: `insert_text` replaces `start … end` of `line`. It is the whole line with `completion` put in at the cursor."""

    insert_text: str
    line: int
    start: int
    end: int  # code points
    completion: str


def item(
    text: str,
    line: int,
    column: int,
    draft: str,
    *,
    language: str = "",
    selected: Selected | None = None,
    tree: syntax.Tree | None = None,
    style: indent.Style | None = None,
) -> Item | None:
    """What to show for `draft` at the cursor, None for nothing.

    `text` has `\\n` only; `line` and `column` count from 0, in code points. `tree` is that of `text`; without it, it is made here.
    `style` is what the client says of indentation, for a file that tells nothing itself.
    """
    lines = text.split("\n", line + 1)
    if not 0 <= line < len(lines) or "\r" in lines[line]:
        return None
    column = min(max(column, 0), len(lines[line]))
    before, rest = lines[line][:column], lines[line][column:]
    offset = sum(map(len, lines[:line])) + line + column
    if tree is None or tree.text != text:
        tree = syntax.Tree.parse(text, language, budget=syntax.EDIT)
    kind = "code" if tree is None else tree.kind_at(offset)
    place = Place(text, offset, before, rest, language, kind)
    completion = _completion(place, _clean(draft), tree, style)
    if completion is None or not _extends(selected, before, completion, rest):
        return None
    return Item(before + completion + rest, line, 0, len(before) + len(rest), completion)


def _completion(place: Place, draft: str, tree: syntax.Tree | None, style: indent.Style | None) -> str | None:
    if not draft.strip():
        return None
    draft = _indented(place, draft, indent.style_of(place.text, place.offset, place.before + place.rest) or style)
    lines = draft.split("\n")
    if place.kind == "code":
        lines = lines[: boundary.block_end([place.before + lines[0], *lines[1:]], place.language)]
    if boundary.loops([place.before + lines[0], *lines[1:]]):
        return None
    best = _best(place, lines, tree)
    return best if best.strip() else None


def _clean(draft: str) -> str:
    draft = draft.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    unusable = _UNUSABLE.search(draft)
    return draft if unusable is None else draft[: unusable.start()]


# ------------------------------------------------------------------------------------------------ indentation


def _indented(place: Place, draft: str, style: indent.Style | None) -> str:
    """The draft as this file would indent it."""
    first, *later = draft.split("\n")
    if place.before.strip("\ufeff \t"):
        first = _one_space(place, first)
    elif style is not None and not place.in_prose():
        first = _first_line(place, first, style)
    if style is None or place.in_prose():
        return "\n".join([first, *later])
    head = place.before + first
    return "\n".join(indent.fit([first, *later], style, head, opens=indent.opens_block(head, place.language, ":{")))


def _one_space(place: Place, first: str) -> str:
    """Between two words of code one space is enough."""
    doubled = place.kind == "code" and place.before[-1:] in " \t" and first[:1] in (" ", "\t")
    return (first.lstrip(" \t") or first) if doubled else first


def _first_line(place: Place, first: str, style: indent.Style) -> str:
    """The start of a line that is blank so far, at the depth where the lines above let it stand."""
    space, body = indent.leading(first), first.lstrip(" \t")
    if not body:
        return first
    above = place.above()
    here = style.columns(place.before)
    opened = indent.opens_block(above, place.language, ":{") and place.kind == "code"
    expected = style.columns(indent.leading(above)) + (style.width if opened else 0)
    found = here + style.columns(space)
    if space and here and found > expected:  # it brought the indentation that is there already
        return style.render(max(expected - here, 0)) + body
    if opened and found < expected and body[0] not in overlap.CLOSING and not place.rest.strip():
        return style.deepen(place.before, expected) + body
    return style.deepen(place.before, found) + body if space else first


# ------------------------------------------------------------------------------------------------ what to keep


def _best(place: Place, lines: Sequence[str], tree: syntax.Tree | None) -> str:
    """The longest part of the draft that adds no syntax error, "" if there is none."""
    trial = Trial(place, tree)
    best = trial.best(_candidates(place, lines))
    if best is not None:
        return best
    for kept in _shorter(len(lines), trial.line_of_fault):
        best = trial.best(_candidates(place, lines[:kept]))
        if best is not None:
            return best
    return ""


def _candidates(place: Place, lines: Sequence[str]) -> list[str]:
    """Ways to let `lines` end where the document goes on, best first. An empty one says that the draft brings nothing new."""
    found = []
    if not place.rest.strip():
        whole = [place.before + lines[0], *lines[1:]]
        repeated = overlap.repeated_from(whole, place.below(len(lines) + 1))
        if repeated is not None:
            found.append("\n".join(lines[:repeated]))
        found.append("\n".join(lines))
    else:
        found += _meeting_rest(place, lines)
    return list(dict.fromkeys(_trimmed(each, place) for each in found))


def _meeting_rest(place: Place, lines: Sequence[str]) -> Iterator[str]:
    """Candidates where text stands right of the cursor: they end where that text takes over."""
    if len(lines) == 1:
        yield from overlap.endings(lines[0], place.rest, place.before)
        return
    below = place.below(len(lines))
    for index, line in reversed(list(enumerate(lines))):  # the draft may run on beyond the rest of the line, into the lines below
        if line.rstrip().endswith(place.rest.strip()) and _only_repeats(lines[index + 1 :], below):
            yield from overlap.endings("\n".join([*lines[:index], line.rstrip()]), place.rest, place.before)
            break
    if place.rest.lstrip()[0] in overlap.CLOSING and not lines[0].strip():
        yield "\n".join(lines).rstrip() + "\n" + indent.leading(place.before)
    yield from overlap.endings(lines[0], place.rest, place.before)


def _only_repeats(lines: Sequence[str], below: Sequence[str]) -> bool:
    told = [line for line in lines if line.strip()]
    return not told or overlap.repeated_from(told, below) == 0


def _trimmed(completion: str, place: Place) -> str:
    """Without white space at its end, unless what follows needs it."""
    rest = place.rest
    if not rest.strip():
        return completion.rstrip()
    tail = completion[len(completion.rstrip()) :]
    if "\n" in tail or not (rest[0].isspace() or rest[0] in overlap.CLOSING):
        return completion
    return completion.rstrip()


def _shorter(count: int, fault: int | None) -> list[int]:
    """How many lines to keep when all of `count` do not parse: one less, those before the fault, then fewer and fewer."""
    tries = [count - 1, fault or 0, count // 2, 1]
    return sorted({kept for kept in tries if 0 < kept < count}, reverse=True)


def _extends(selected: Selected | None, before: str, completion: str, rest: str) -> bool:
    """Whether accepting gives what the popup entry would give, and more."""
    if selected is None:
        return True
    accepted = before[: selected.start] + selected.text
    reach = before + completion + (rest if selected.end > len(before) else "")
    return selected.start <= len(before) and reach.startswith(accepted)

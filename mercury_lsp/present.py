"""Turns a draft into what the editor shows, or into nothing: trims, indents and checks it. Knows no model, no protocol and no session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from mercury_lsp import boundary, fitting, indent, offside, overlap, prose, syntax
from mercury_lsp.place import Place
from mercury_lsp.trial import Trial

# The text ends before a control character, a stray byte, half a character or surrogate pair, and what makes a line read otherwise than
# it is (https://trojansource.codes): U+2028 and U+2029 break it, the others turn its direction.
_UNUSABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")


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
    tree: syntax.Tree | None = None,
    style: indent.Style | None = None,
    exact: bool = False,
) -> Item | None:
    """What to show for `draft` at the cursor, None for nothing.

    `text` has `\\n` only; `line` and `column` count from 0, in code points. `tree` is that of `text`; without it, it is made here.
    `style` is what the client says of indentation, for a file that tells nothing itself. An `exact` draft, one that is known to meet what
    stands right of the cursor, is shown as it is or not at all.
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
    completion = _untouched(place, draft, tree) if exact else _completion(place, _clean(draft), tree, style)
    return inserted(line, before, completion, rest) if completion.strip() else None


def inserted(line: int, before: str, completion: str, rest: str) -> Item:
    """The item that puts `completion` between the two parts of a line."""
    return Item(before + completion + rest, line, 0, len(before) + len(rest), completion)


def _untouched(place: Place, draft: str, tree: syntax.Tree | None) -> str:
    return (Trial(place, tree).best([draft]) or "") if draft == _clean(draft) else ""


def _completion(place: Place, draft: str, tree: syntax.Tree | None, style: indent.Style | None) -> str:
    """What of the draft can stand at the place, "" for nothing."""
    if not draft.strip():
        return ""
    lines = draft.split("\n")
    code_from = prose.code_from(place, lines)
    lines = fitting.fitted(place, lines, code_from, indent.style_of(place.text, place.offset, place.before + place.rest) or style)
    if code_from is not None:
        head = lines[code_from] if code_from else place.before + lines[0]
        lines = lines[: code_from + boundary.block_end([head, *lines[code_from + 1 :]], place.language)]
    if code_from == 0:
        lines = offside.to_margin(place, lines)
    if boundary.loops([place.before + lines[0], *lines[1:]]):
        return ""
    return _best(place, lines, tree)


def _clean(draft: str) -> str:
    draft = draft.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    unusable = _UNUSABLE.search(draft)
    return draft if unusable is None else draft[: unusable.start()]


# ------------------------------------------------------------------------------------------------ what to keep


def _best(place: Place, lines: Sequence[str], tree: syntax.Tree | None) -> str:
    """The longest part of the draft that adds no syntax error, else the longest that only lacks its end, "" if there is none."""
    trial = Trial(place, tree)
    best = trial.best(_candidates(place, lines))
    if best is not None:
        return best
    shorter = _shorter(len(lines), trial.line_of_fault)
    for kept in shorter:
        best = trial.best(_candidates(place, lines[:kept]))
        if best:
            return best
    for kept in (len(lines), *shorter):
        unfinished = "\n".join(lines[:kept]).rstrip()
        if _may_be_continued(place, unfinished) and trial.best([unfinished + "\n" + overlap.closers(unfinished, place.before)]):
            return unfinished
    return ""


def _may_be_continued(place: Place, draft: str) -> bool:
    """Whether the draft opens a block or a bracket, of which there is more to come: not one that stands there already."""
    below = next((line.lstrip() for line in place.below(3) if line.strip()), "")
    opens = overlap.closers(draft, place.before) != "" and any(map(str.isalnum, draft))
    return opens and not place.rest.strip() and (draft[-1] not in "([{" or not below.startswith(draft[-1]))


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
    padded = tail and overlap.is_padded(place.before + completion.rstrip(), rest[0])
    return completion.rstrip() + (" " if padded else "")


def _shorter(count: int, fault: int | None) -> list[int]:
    """How many lines to keep when all of `count` do not parse: one less, those before the fault, then fewer and fewer."""
    tries = [count - 1, fault or 0, count // 2, 1]
    return sorted({kept for kept in tries if 0 < kept < count}, reverse=True)

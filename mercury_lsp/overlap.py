"""Where a draft repeats what already stands right of the cursor or below it. Text only: knows no language, no tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_CLOSERS = {")": "(", "]": "[", "}": "{"}
_PARTNERS = {opener: closer for closer, opener in _CLOSERS.items()}
_QUOTES = "\"'`"
CLOSING = ")]}\"'`>"
_LONGEST = 1_000  # characters of a repeated tail; the search is quadratic
_TELLING = 8  # characters that make a repetition no coincidence: "return x" is one, "}" and "else:" are not


def endings(draft: str, rest: str, before: str) -> Iterator[str]:
    """What to insert between `before` and `rest` for `draft`: best guess first, the draft as it is among them.

    A tail of the draft is left to `rest` only where `rest` really begins with it and where nothing that the draft opened itself is
    closed by it.
    """
    partners, opened, quote = _brackets(draft, open_quote(before))
    lengths = [length for head in (rest, rest.lstrip()) for length in _shared(draft, head)]
    lengths = sorted(set(lengths), reverse=True)
    own = [length for length in lengths if not _splits(partners, len(draft) - length)]
    others = [length for length in lengths if length not in own]
    taken = _taken_over(draft, rest, partners, quote if quote >= 0 else max(opened, default=-1))
    yield from (draft[: len(draft) - length] for length in own)
    if taken is not None and not own:  # it closes what `rest` closes, and goes on: as it is it would close it twice
        yield from (draft[: len(draft) - length] for length in others)
        yield draft[:taken]
    if not _joins_words(draft, rest, before):
        yield draft
    yield from (draft[: len(draft) - length] for length in others)
    if taken is not None:
        yield draft[:taken]


def first_closer(draft: str, before: str) -> int | None:
    """Where the draft first closes something that was opened before it."""
    return _first_outer(_brackets(draft, open_quote(before))[0])


def closers(draft: str, before: str) -> str:
    """What closes the brackets that the draft leaves open; "" where it leaves none, or a line with an open one ends otherwise than in
    an open one: that line is broken off."""
    _, opened, _ = _brackets(draft, open_quote(before))
    for index in opened:
        line_end = draft.find("\n", index)
        head = draft if line_end < 0 else draft[:line_end]
        if len(head.rstrip()) - 1 not in opened:
            return ""
    return "".join(_PARTNERS[draft[index]] for index in reversed(opened))


def is_padded(text: str, closer: str) -> bool:
    """Whether a space stands behind the bracket at which `closer` would aim, after `text`: then one belongs before the closer, too."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == closer) - (text[index] == _CLOSERS.get(closer))
        if depth < 0:
            return text[index + 1 : index + 2] == " " and bool(text[index + 1 :].strip())
    return False


def _taken_over(draft: str, rest: str, partners: dict[int, int], last: int) -> int | None:
    """Where the draft first closes something opened before the cursor, if the closer right of the cursor can do that instead.

    It cannot where it has to close the draft's own: `last` is what that left open last, -1 for nothing.
    """
    first = _first_outer(partners)
    if first is None or rest.lstrip()[:1] != draft[first]:
        return None
    return None if last > first and _PARTNERS.get(draft[last], draft[last]) == draft[first] else first


def _first_outer(partners: dict[int, int]) -> int | None:
    return min((index for index, partner in partners.items() if partner < 0), default=None)


def repeated_from(lines: Sequence[str], below: Sequence[str]) -> int | None:
    """The first of `lines` from which on they only repeat what stands `below`; None where they do not.

    Blank lines do not count. The last line may have been cut short, and a draft that repeats a telling line or two and then goes its
    own way repeats as well.
    """
    following = [line.rstrip() for line in below if line.strip()]
    if not following:
        return None
    for index, line in enumerate(lines):
        if line.strip() and (line.rstrip() == following[0] or following[0].startswith(line)):
            tail = [each.rstrip() for each in lines[index:] if each.strip()]
            if _repeats(tail, following):
                return index
    return None


def _repeats(tail: Sequence[str], following: Sequence[str]) -> bool:
    same = 0
    for ours, theirs in zip(tail, following, strict=False):
        if ours != theirs:
            break
        same += 1
    if same == min(len(tail), len(following)):
        return True
    if same == len(tail) - 1 and following[same].startswith(tail[same]):
        return len(tail[same].strip()) >= 2
    return same >= 2 or (same == 1 and len(tail[0].strip()) >= _TELLING)


def _joins_words(draft: str, rest: str, before: str) -> bool:
    """Whether the draft's last word would run together with the next one, though the cursor stands between words."""
    return _is_word(draft[-1:]) and _is_word(rest[:1]) and ("\n" in draft or not _is_word(before[-1:]))


def _shared(draft: str, rest: str) -> Iterator[int]:
    """Lengths of what the draft ends and `rest` begins with: at the edges of words, unless it is too long for a coincidence."""
    for length in range(1, min(len(draft), len(rest), _LONGEST) + 1):
        if draft.endswith(rest[:length]) and not _is_space(rest[:length]):
            cuts_rest = _is_word(rest[length - 1]) and _is_word(rest[length : length + 1])
            cuts_draft = _is_word(rest[0]) and _is_word(draft[-length - 1 : -length])
            whole = length >= _TELLING or (length >= 3 and not rest[length:].strip())
            if whole or not (cuts_rest or cuts_draft):
                yield length


def _splits(partners: dict[int, int], at: int) -> bool:
    """Whether something opened before `at` is closed from `at` on."""
    return any(0 <= opener < at <= closer for closer, opener in partners.items())


def open_quote(before: str) -> str:
    """The quote that stands open at the end of a line's beginning, "" if none: a guess, good enough to tell whose a quote is."""
    quote = ""
    skip = False
    for char in before[-400:]:
        if skip:
            skip = False
        elif char == "\\":
            skip = True
        elif quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
    return quote


def _brackets(draft: str, outer: str) -> tuple[dict[int, int], list[int], int]:
    """Each closing bracket or quote in the draft and the index of what it closes, -1 for what was opened before the draft; the brackets
    that stay open; and the quote that does, -1 for none."""
    found: dict[int, int] = {}
    opened: list[int] = []
    quote = -1  # where the draft's own string began
    for index, char in enumerate(draft):
        if draft[index - 1 : index] == "\\":
            continue
        if quote >= 0:
            if char == draft[quote]:
                found[index] = quote
                quote = -1
        elif outer and char == outer:
            found[index] = -1
            outer = ""
        elif char in _QUOTES and not outer:
            quote = index
        elif char in "([{":
            opened.append(index)
        elif char in _CLOSERS:
            own = opened and draft[opened[-1]] == _CLOSERS[char]
            found[index] = opened.pop() if own else -1
    return found, opened, quote


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _is_space(text: str) -> bool:
    return not text or text.isspace()

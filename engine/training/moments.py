"""A commit's changes to moments of its making: some changes are made, one is looked for. Knows no git and no token."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_fields

from engine.api import PastEdit
from engine.edits import past_edit
from engine.training.corpus import language_of
from engine.training.edit_cases import Change, EditCase
from engine.training.histories import Window
from engine.training.worth import are_alike, follows, gone_and_come, is_cosmetic, is_small, novelty

_TARGETS = 3  # changes of a commit that are looked for
_IN_ORDER = 0.6  # share of them before which what lies above was done; for the rest it is any of the commit's changes
_TOLD = 5  # changes of the history
_SEEN = 15  # lines around a change in which its words are looked for
_NEAR = 20  # lines from a change within which a region around it may reach
_MOST_CONTINUED = 6  # lines still to come of a change that was begun
_CONTINUED_NOVELTY = 0.1
_MID_LINE = 0.4  # share of the changes begun that stop within a line
_RIGHT_THERE = 0.5  # share of the regions with nothing to do that lie where the last change was made
_TRIES = 3


@dataclass(frozen=True)
class _Place:
    """A change by the number of its window and its own."""

    window: int
    change: int


@dataclass(frozen=True)
class State:
    """A window's lines with some changes made, where each change begins in them, and those that are not made."""

    lines: list[str]
    firsts: list[int]
    due: list[Change]


def followers(windows: Sequence[Window], rng: random.Random) -> Iterator[EditCase]:
    """Changes that the others of the commit lead to."""
    places = _places(windows)
    found = 0
    for number in rng.sample(range(len(places)), len(places)):
        place = places[number]
        earlier = _earlier(places, number, rng)
        if earlier and _is_candidate(windows, place):
            case = _following(windows, place, earlier)
            if case is not None:
                yield case
                found += 1
        if found == _TARGETS:
            return


def begun(windows: Sequence[Window], rng: random.Random) -> Iterator[EditCase]:
    """A change whose first lines are made and whose last are still to come."""
    places = _places(windows)
    for number in rng.sample(range(len(places)), min(_TRIES, len(places))):
        change = _change(windows, places[number])
        if _is_candidate(windows, places[number]) and len(change.lines) >= 2:
            case = _begun(windows, places[: number + 1], rng)
            if case is not None:
                yield case
                return


def finished(windows: Sequence[Window], rng: random.Random) -> Iterator[EditCase]:
    """A place in a file of a commit that is made as a whole: nothing is left to do."""
    places = _places(windows)
    last = rng.choice(places)
    order = [place for place in places if place != last]
    rng.shuffle(order)
    window = windows[last.window]
    state = state_of(window, range(len(window.changes)))
    if not any(state.lines):
        return
    first = state.firsts[last.change] if rng.random() < _RIGHT_THERE else rng.randrange(len(state.lines))
    first = min(first, len(state.lines) - 1)
    yield _case(windows, last.window, state, [*order, last], kind="nothing", first=first, last=first + 1)


def _places(windows: Sequence[Window]) -> list[_Place]:
    return [_Place(number, change) for number, window in enumerate(windows) for change in range(len(window.changes))]


def _is_candidate(windows: Sequence[Window], place: _Place) -> bool:
    change = _change(windows, place)
    return is_small(change) and not is_cosmetic(_removed(windows, place), change.lines)


def _earlier(places: Sequence[_Place], number: int, rng: random.Random) -> list[_Place]:
    """What was done before the change of this number, what lies nearest to it last."""
    if rng.random() < _IN_ORDER:
        return list(places[:number])
    others = [*places[:number], *places[number + 1 :]]
    earlier = rng.sample(others, rng.randint(min(1, len(others)), len(others)))
    return sorted(earlier, key=lambda other: other.window == places[number].window)


def _following(windows: Sequence[Window], place: _Place, earlier: Sequence[_Place]) -> EditCase | None:
    window = windows[place.window]
    made = [other.change for other in earlier if other.window == place.window]
    state = state_of(window, made)
    due = dict(zip([number for number in range(len(window.changes)) if number not in made], state.due, strict=True))
    target = due[place.change]
    case = _case(windows, place.window, state, earlier, kind="follow", first=target.first, last=target.last)

    def is_told(change: Change) -> bool:
        return follows(change, state.lines[change.first : change.last], case.history, _seen(case))

    if not is_told(target):
        return None
    near = [change for change in due.values() if target.first - _NEAR <= change.last and change.first <= target.last + _NEAR]
    plain = [change for change in near if is_small(change) and is_told(change)]
    barred = tuple((change.first, change.last) for change in near if change not in plain)
    return replace_fields(case, due=tuple(plain), barred=barred)


def _begun(windows: Sequence[Window], earlier: Sequence[_Place], rng: random.Random) -> EditCase | None:
    """The last of the earlier changes is the one that was begun."""
    place = earlier[-1]
    window, change = windows[place.window], _change(windows, place)
    made = rng.randint(max(1, len(change.lines) - _MOST_CONTINUED), len(change.lines) - 1)
    part, left = _part(change, made, are_alike(_removed(windows, place), change.lines), rng)
    changes = [*window.changes[: place.change], part, *window.changes[place.change + 1 :]]
    window = replace(window, changes=tuple(changes))
    windows = [*windows[: place.window], window, *windows[place.window + 1 :]]
    state = state_of(window, [other.change for other in earlier if other.window == place.window])
    first = state.firsts[place.change] + made
    due = Change(first, first + left, change.lines[made:])
    end = state.firsts[place.change] + len(part.lines)
    cursor = max(0, sum(len(line) + 1 for line in state.lines[:end]) - 1)
    case = _case(windows, place.window, state, earlier, kind="continue", first=first, last=first + left)
    _, come = gone_and_come(state.lines[first : first + left], due.lines)
    if not come or novelty(come, _seen(case)) > _CONTINUED_NOVELTY:
        return None
    return replace_fields(case, due=(due,), barred=tuple((other.first, other.last) for other in state.due), cursor=cursor)


def _part(change: Change, made: int, line_for_line: bool, rng: random.Random) -> tuple[Change, int]:
    """The first `made` lines of a change as a change, maybe with a part of the next, and how many lines then give way to the rest."""
    if line_for_line:
        return Change(change.first, change.first + made, change.lines[:made]), len(change.lines) - made
    if rng.random() >= _MID_LINE or not change.lines[made].strip():
        return Change(change.first, change.last, change.lines[:made]), 0
    line = change.lines[made]
    indent = len(line) - len(line.lstrip())
    stop = line[: rng.randint(indent + 1, len(line))]
    return Change(change.first, change.last, (*change.lines[:made], stop)), 1


def state_of(window: Window, made: Sequence[int] | range) -> State:
    """The window at the moment when the changes of these numbers are made."""
    lines: list[str] = []
    due, firsts, at = [], [], 0
    for number, change in enumerate(window.changes):
        lines += window.lines[at : change.first]
        firsts.append(len(lines))
        if number in made:
            lines += change.lines
        else:
            due.append(Change(len(lines), len(lines) + change.last - change.first, change.lines))
            lines += window.lines[change.first : change.last]
        at = change.last
    return State([*lines, *window.lines[at:]], firsts, due)


def _case(windows: Sequence[Window], number: int, state: State, earlier: Sequence[_Place], *, kind: str, first: int, last: int) -> EditCase:
    path = windows[number].path
    return EditCase(
        path=path,
        language=language_of(path) or "",
        kind=kind,
        text="\n".join(state.lines),
        due=(),
        first=first,
        last=last,
        history=tuple(past(windows[place.window], place.change) for place in earlier[-_TOLD:]),
    )


def past(window: Window, number: int, state: State | None = None) -> PastEdit:
    """The change of this number as it stands in a history. With changes in adjacent lines, the line above it is that of `state`."""
    change = window.changes[number]
    lines, first = (window.lines, change.first) if state is None else (state.lines, state.firsts[number])
    above = lines[first - 1] if first else None
    return past_edit(window.path, window.lines[change.first : change.last], change.lines, above=above)


def _seen(case: EditCase) -> str:
    lines = case.text.split("\n")
    return "\n".join([*lines[max(0, case.first - _SEEN) : case.last + _SEEN], *(edit.diff for edit in case.history)])


def _change(windows: Sequence[Window], place: _Place) -> Change:
    return windows[place.window].changes[place.change]


def _removed(windows: Sequence[Window], place: _Place) -> tuple[str, ...]:
    change = _change(windows, place)
    return windows[place.window].lines[change.first : change.last]

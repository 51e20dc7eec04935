"""A function whose parameters changed: its calls, and its prototypes, that have to follow. Knows which argument to write only where the
code says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mercury_lsp.nextedit.changes import Change, gathered, in_turn
from mercury_lsp.nextedit.connected import bound_elsewhere, is_connected, kin
from mercury_lsp.nextedit.functions import Item, Listed, callee_name, calls, function_at, functions_named
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.members import COMMON
from mercury_lsp.nextedit.moment import Intention, Moment, Proposal, Text, undone_tree
from mercury_lsp.nextedit.names import Place, places
from mercury_lsp.nextedit.scopes import is_own_place, scope_of
from mercury_lsp.syntax import Tree

# In the file of the function, in another one, and where an argument is taken from its name.
_HERE, _ELSEWHERE, _GUESSED = chance("signature"), chance("signature elsewhere"), chance("signature by name")
_TWICE = frozenset({"c", "cpp"})  # languages that declare a function apart from its definition
_CAUSES = 10  # intentions, the latest ones: each costs a tree
_MOST = 40  # calls
_EXACT = frozenset({"c", "cpp", "rust", "go"})  # a value may have to be borrowed, or its address taken
_PLAIN = re.compile(r"(?:None|True|False|true|false|nil|null|NULL|nullptr|undefined|-?\d[\w.]*|\"[^\"]*\"|'[^']*'|\[\]|\{\})\Z")


def signatures(moment: Moment) -> Iterator[Proposal]:
    """For every function whose parameters were changed, the latest first, its calls that have them as before."""
    for intention in reversed(moment.intentions[-_CAUSES:]):
        text = moment.text(intention.document)
        tree = moment.tree(text) if text is not None else None
        after = function_at(tree, intention.end) if tree is not None else None
        if text is None or tree is None or after is None or after.end < intention.start or _is_being_typed(moment, text, after):
            continue
        old_tree = undone_tree(moment, text, intention)
        before = function_at(old_tree, intention.start) if old_tree is not None else None
        if before is not None and before.name == after.name and (_names(before) != _names(after) or _is_retyped(tree, before, after)):
            yield from _followed(moment, intention, text, tree, before, after)


def _is_being_typed(moment: Moment, text: Text, function: Listed) -> bool:
    """Whether the cursor stands where a parameter was taken out or is about to be written."""
    if text.document != moment.here.document or not function.start < moment.cursor < function.end:
        return False
    left, right = text.text[function.start : moment.cursor].rstrip(), text.text[moment.cursor : function.end].lstrip()
    return left.endswith(("(", ",")) and right.startswith((")", ","))


def _is_retyped(tree: Tree, before: Listed, after: Listed) -> bool:
    """Whether only types changed, in a language that writes them twice."""
    return tree.language in _TWICE and _in_one_line(before.text) != _in_one_line(after.text)


def _in_one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _names(function: Listed) -> list[str]:
    return [item.name for item in function.items]


def _followed(moment: Moment, intention: Intention, text: Text, tree: Tree, before: Listed, after: Listed) -> Iterator[Proposal]:
    name = callee_name(tree, after)
    if name is None or len({*_names(after)}) < len(after.items) or _is_overloaded(tree, after):
        return
    step = _Step(before, after)
    is_method = _is_method(tree, after)
    changes = [
        *_prototypes(tree, before, after, after.start),
        *_calls(tree, name, step, _seen_to(moment, text, intention), is_method=is_method),
    ]
    yield from _proposals(moment, intention, text, after, changes, _HERE)
    for other in moment.others if text is moment.here else (moment.here, *moment.others):
        other_tree = moment.tree(other) if other.document != text.document and kin(other) == kin(text) else None
        if other_tree is None or bound_elsewhere(moment, text, other, name):
            continue
        changes = _prototypes(other_tree, before, after) if _are_halves(text, other) else []
        if is_connected(text, other, name):
            changes += _calls(other_tree, name, step, _seen_to(moment, other, intention), is_method=is_method)
        yield from _proposals(moment, intention, other, after, changes, _ELSEWHERE)


def _are_halves(text: Text, other: Text) -> bool:
    """Whether one is the header of the other: both have the same name but for the ending."""
    return text.path.rpartition(".")[0].rpartition("/")[2] == other.path.rpartition(".")[0].rpartition("/")[2]


def _seen_to(moment: Moment, text: Text, intention: Intention) -> list[tuple[int, int]]:
    """What was written since: a call there has its new arguments, and if it looks as before they were only put in another order."""
    return [(each.start, each.end) for each in moment.made_in(text.document) if each.number > intention.number]


class _Step:
    """How the arguments of a call become those of the changed function."""

    def __init__(self, before: Listed, after: Listed) -> None:
        old, new = _names(before), _names(after)
        self.old = old
        self.least = sum(not item.optional for item in before.items)
        self.most = len(old)
        self.renamed = _renamed(old, new)
        self.sources = [old.index(each) if each in old else None for each in (self.renamed.get(name, name) for name in new)]
        self.items = after.items

    @property
    def only_drops(self) -> bool:
        """Whether parameters went, and that is all."""
        return (
            None not in self.sources and len(self.sources) < self.most and self.sources == sorted(s for s in self.sources if s is not None)
        )

    @property
    def is_nothing(self) -> bool:
        """Whether calls go on as they are: names changed, or what came may be left out and stands last."""
        kept = [source for source in self.sources if source is not None]
        added = [item for item, source in zip(self.items, self.sources, strict=True) if source is None]
        return kept == list(range(self.most)) and all(item.optional for item in added)


def _renamed(old: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """By its new name the parameter that was only renamed: as many as before, and each of the others in its place."""
    if len(old) != len(new):
        return {}
    changed = [(after, before) for before, after in zip(old, new, strict=True) if before != after]
    return dict(changed) if not any(after in old for after, _ in changed) else {}


def _calls(tree: Tree, name: str, step: _Step, seen_to: Sequence[tuple[int, int]], *, is_method: bool) -> list[tuple[Change, float]]:
    if step.is_nothing:
        return []
    found = [(place, call) for place, call in calls(tree, name) if _is_meant(tree, place, name, is_method)]
    told = _told(tree, found, step)
    left = [(place, call) for place, call in found if not any(first <= call.end and call.start <= last for first, last in seen_to)]
    changes = [change for place, call in left if (change := _rewritten(tree, place, call, step, told)) is not None]
    return changes if len(changes) <= _MOST else []


def _is_meant(tree: Tree, place: Place, name: str, is_method: bool) -> bool:
    if is_method:
        return place.role == "member" and not place.declared and (is_own_place(tree, place) or name not in COMMON)
    return place.role == "plain" or (place.role == "member" and name not in COMMON and len(name) > 3)


def _rewritten(tree: Tree, place: Place, call: Listed, step: _Step, told: dict[int, str]) -> tuple[Change, float] | None:
    """The call's arguments anew; None where it has them already, or where one of them is not known."""
    inside = tree.text[call.start + 1 : call.end - 1]
    if "\n" in inside or not tree.text.startswith("(", call.start) or any(item.optional for item in call.items):
        return None
    if any(item.name for item in call.items):
        written = _without_gone(call, step)
        sure = _HERE
    elif step.least <= len(call.items) <= step.most:
        written, sure = _in_place(tree, place, call, step, told)
    else:
        return None
    text = ", ".join(written or ())
    return None if written is None or text == inside else (Change(call.start + 1, call.end - 1, text), sure)


def _without_gone(call: Listed, step: _Step) -> list[str] | None:
    """The arguments of a call with names, without those of parameters that are gone; None where more is to be done."""
    if not step.only_drops:
        return None
    gone = {number: name for number, name in enumerate(step.old) if number not in step.sources}
    return [item.text for number, item in enumerate(call.items) if (item.name or step.old[min(number, step.most - 1)]) not in gone.values()]


def _in_place(tree: Tree, place: Place, call: Listed, step: _Step, told: dict[int, str]) -> tuple[list[str] | None, float]:
    """The arguments of a call without names, where the changed function has them, and how sure that is."""
    written: list[str] = []
    sure, ended = _HERE, False
    for number, (item, source) in enumerate(zip(step.items, step.sources, strict=True)):
        if source is not None and source < len(call.items):
            value: str | None = call.items[source].text
        elif source is not None or item.optional:
            ended = True  # it is left out, and so must be all that come after it
            continue
        else:
            value = told.get(number) or _visible(tree, place, item)
            sure = sure if number in told else _GUESSED
        if value is None or ended:
            return None, 0.0
        written.append(value)
    return written, sure


def _told(tree: Tree, found: Sequence[tuple[Place, Listed]], step: _Step) -> dict[int, str]:
    """By the number of a new parameter what calls that have it already give for it, where all give the same plain value."""
    told = {}
    for number, source in enumerate(step.sources):
        values = {call.items[number].text for _, call in found if len(call.items) == len(step.items) > step.most}
        if source is None and len(values) == 1 and _PLAIN.match(value := values.pop()):
            told[number] = value
    return told


def _visible(tree: Tree, place: Place, item: Item) -> str | None:
    """The parameter's name, where the place of the call sees something of that name that may be passed on as it is."""
    for each in places(tree, item.name):
        if each.role == "plain" and each.declared and each.start < place.start:
            start, end = tree.span(scope_of(each, tree.language))
            if start <= place.start < end and (tree.language not in _EXACT or _declared_as(tree, each) == item.text):
                return tree.text_of(each.node)  # in PHP with its sign
    return None


def _declared_as(tree: Tree, place: Place) -> str:
    """A parameter with its type; of another variable nothing that a parameter could be."""
    function = function_at(tree, place.start)
    found = next((item for item in function.items if item.start <= place.start < item.end), None) if function is not None else None
    return "" if found is None else found.text


def _is_method(tree: Tree, function: Listed) -> bool:
    named = [place for place in places(tree, function.name) if place.declared and place.end <= function.start]
    return bool(named) and named[-1].role == "member" and callee_name(tree, function) == function.name


def _is_overloaded(tree: Tree, function: Listed) -> bool:
    """Whether the file has another function of that name; a prototype is none."""
    others = [each for each in functions_named(tree, function.name) if each.start != function.start]
    return any(each.has_body == function.has_body for each in others)


def _prototypes(tree: Tree, before: Listed, after: Listed, own: int = -1) -> list[tuple[Change, float]]:
    """What C declares of the function elsewhere, or where it is defined after its prototype was changed; `own` is where it was changed."""
    if tree.language not in _TWICE:
        return []
    old = _in_one_line(before.text)
    others = [each for each in functions_named(tree, after.name) if each.start != own and _in_one_line(each.text) == old]
    return [(Change(each.start, each.end, after.text), _HERE) for each in others]


def _proposals(
    moment: Moment, intention: Intention, text: Text, function: Listed, changes: Sequence[tuple[Change, float]], most: float
) -> Iterator[Proposal]:
    after = intention.end if text.document == intention.document else 0
    for order, edit in in_turn(text, gathered(text, [change for change, _ in changes]), after):
        sure = min(confidence for change, confidence in changes if edit.start <= change.start and change.end <= edit.end)
        label = f"Follow the parameters of {function.name}"
        yield Proposal(edit=edit, kind="signature", label=label, confidence=min(sure, most), cause=intention.number, order=order)

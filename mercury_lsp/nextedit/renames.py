"""A name that was changed where it is declared: the places that still have the old one. Knows the ways names reach, no cursor's habits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mercury_lsp.nextedit.changes import Change, gathered, in_turn
from mercury_lsp.nextedit.connected import bound_elsewhere, is_connected, kin
from mercury_lsp.nextedit.documented import documented
from mercury_lsp.nextedit.functions import function_at, keyword_places
from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.kinds import FUNCTION_SCOPED
from mercury_lsp.nextedit.members import member_places
from mercury_lsp.nextedit.moment import Intention, Moment, Proposal, Text, undone_tree
from mercury_lsp.nextedit.names import Place, is_imported, place_at, places
from mercury_lsp.nextedit.scopes import is_own, receiver, scope_of
from mercury_lsp.nextedit.words import Renamed, renamed
from mercury_lsp.syntax import Tree

_HERE, _ELSEWHERE = chance("rename"), chance("rename elsewhere")
_CAUSES = 10  # intentions, the latest ones: each costs a tree
_MOST = 60  # places; what is used more often is no matter of a few keys


def renames(moment: Moment) -> Iterator[Proposal]:
    """For every name that was changed, the latest first, its other places."""
    for intention in reversed(moment.intentions[-_CAUSES:]):
        text = moment.text(intention.document)
        for name in renamed(text, intention) if text is not None else ():
            if text is not None and not _is_being_typed(moment, intention, name) and not _is_kept(text, intention, name):
                yield from _followed(moment, intention, text, name)


def _is_being_typed(moment: Moment, intention: Intention, name: Renamed) -> bool:
    """Letters are being deleted, or a first one was typed."""
    at_end = moment.here.document == intention.document and moment.cursor == name.end
    return at_end and (name.old.startswith(name.new) or len(name.new) == 1 < len(name.old))


def _is_kept(text: Text, intention: Intention, name: Renamed) -> bool:
    """Whether what was written has the old name, too: then it is no rename."""
    written = text.text[intention.start : intention.end]
    return re.search(rf"(?<!\w){re.escape(name.old)}(?!\w)", written) is not None


def _followed(moment: Moment, intention: Intention, text: Text, name: Renamed) -> Iterator[Proposal]:
    tree, before = moment.tree(text), undone_tree(moment, text, intention)
    place = place_at(tree, name.start, name.end) if tree is not None else None
    old_place = place_at(before, name.before, name.before + len(name.old)) if before is not None else None
    if tree is None or place is None or old_place is None or (old_place.role, old_place.declared) != (place.role, place.declared):
        return
    made = [(each.start, each.end) for each in moment.made_in(text.document)]
    found: list[Place] | None
    if place.role == "member":
        found = member_places(tree, place, name.old, name.new, made)
    else:
        found = _places(tree, place, name, made) if place.declared else None
    changes = [*_changes(place, found or (), name), *(_documented(tree, place, name) if found is not None else ())]
    yield from _proposals(moment, intention, text, name, changes, _HERE)
    if place.declared and (place.role == "member" or scope_of(place, tree.language).parent is None):
        yield from _elsewhere(moment, intention, text, name, place)


def _places(tree: Tree, place: Place, name: Renamed, made: Sequence[tuple[int, int]]) -> list[Place] | None:
    """The other places of a variable, function or type; None where it is not certain that they mean the same."""
    scope = scope_of(place, tree.language)
    start, end = tree.span(scope)
    if not _is_new(tree, name.new, start, end, made):
        return None
    found = [each for each in places(tree, name.old, start, end) if each.role in ("plain", "shorthand")]
    if tree.language == "python":  # what is imported is another thing of that name
        found = [each for each in found if not is_imported(each)]
    scopes = [scope_of(each, tree.language) if each.declared else None for each in found]
    inner = [tree.span(other) for other in scopes if other is not None and other != scope]
    again = [each for each, other in zip(found, scopes, strict=True) if other == scope and each.declared]
    if not all(_is_same(tree, place, each, name.old) for each in again):
        return None
    used = [each for each in found if not any(first <= each.start < last for first, last in inner)]
    return [*used, *keyword_places(tree, place, name.old)]


def _is_new(tree: Tree, name: str, start: int, end: int, made: Sequence[tuple[int, int]]) -> bool:
    """Whether nothing had the new name already: it stands only in what was written just now."""
    there = (each for each in places(tree, name, start, end) if each.role in ("plain", "shorthand"))
    return all(any(first <= each.end and each.start <= last for first, last in made) for each in there)


def _is_same(tree: Tree, place: Place, again: Place, old: str) -> bool:
    """Whether a second declaration is of the same thing: a prototype of C, or an assignment that goes on with the value."""
    if tree.language in ("c", "cpp"):
        return _in_declarator(place) and _in_declarator(again)
    if tree.language not in FUNCTION_SCOPED or again.node.parent is None or "assignment" not in again.node.parent.type:
        return False
    value = again.node.parent.child_by_field_name("right")
    first, last = tree.span(value) if value is not None else (0, 0)
    return any(each.role == "plain" for each in places(tree, old, first, last))


def _in_declarator(place: Place) -> bool:
    return place.node.parent is not None and place.node.parent.type == "function_declarator"


def _changes(place: Place, found: Sequence[Place], name: Renamed) -> list[Change]:
    return [Change(each.start, each.end, _written(place, each, name)) for each in found] if len(found) <= _MOST else []


def _documented(tree: Tree, place: Place, name: Renamed) -> list[Change]:
    """What the documentation says of a parameter."""
    function = function_at(tree, place.start)
    return [] if function is None else [Change(start, end, name.new) for start, end in documented(tree, function, name.old)]


def _written(renamed_place: Place, place: Place, name: Renamed) -> str:
    """`{old}` stands for a key and a variable, of which one was renamed."""
    if place.role != "shorthand":
        return name.new
    return f"{name.new}: {name.old}" if renamed_place.role == "member" else f"{name.old}: {name.new}"


def _elsewhere(moment: Moment, intention: Intention, text: Text, name: Renamed, place: Place) -> Iterator[Proposal]:
    """The places in other open documents that have the name from this one."""
    for other in moment.others if text is moment.here else (moment.here, *moment.others):
        if other.document == text.document or kin(other) != kin(text) or bound_elsewhere(moment, text, other, name.old):
            continue
        tree = moment.tree(other)
        made = [(each.start, each.end) for each in moment.made_in(other.document)]
        if tree is None or not is_connected(text, other, name.old):
            continue
        if place.role == "member":
            found = member_places(tree, None, name.old, name.new, made)
        else:
            found = _imported(tree, text, name, made)
        yield from _proposals(moment, intention, other, name, _changes(place, found, name), _ELSEWHERE)


def _imported(tree: Tree, text: Text, name: Renamed, made: Sequence[tuple[int, int]]) -> list[Place]:
    """The places of a name that another file declares; none where this one has its own."""
    if not _is_new(tree, name.new, 0, len(tree.text), made):
        return []
    found = list(places(tree, name.old))
    if any(each.declared and each.role == "plain" for each in found):
        return []
    module = text.path.replace("\\", "/").rpartition("/")
    names = {module[2].partition(".")[0], module[0].rpartition("/")[2]}
    return [each for each in found if each.role == "plain" or (each.role == "member" and _of(tree, each) in names)]


def _of(tree: Tree, place: Place) -> str:
    before = receiver(tree, place)
    return "" if before is None or is_own(before) else before.rpartition(".")[2].rpartition("::")[2]


def _proposals(
    moment: Moment, intention: Intention, text: Text, name: Renamed, changes: Sequence[Change], confidence: float
) -> Iterator[Proposal]:
    after = intention.end if text.document == intention.document else 0
    for order, edit in in_turn(text, gathered(text, changes), after):
        label = f"Rename {name.old} to {name.new}"
        yield Proposal(edit=edit, kind="rename", label=label, confidence=confidence, cause=intention.number, order=order)

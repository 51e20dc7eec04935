"""The other places of a member whose name was changed: methods and fields. Quiet where another thing may have the name, too."""

from __future__ import annotations

from collections.abc import Sequence

from mercury_lsp.nextedit.names import Place, places
from mercury_lsp.nextedit.scopes import class_of, enclosing_class, is_own, is_own_place, receiver, scope_of
from mercury_lsp.syntax import Tree

# Members that many things have, of which only the object's own can be told.
COMMON = frozenset(
    "add all any append apply args body call clear clone close code config content contains context copy count create data debug delete"
    " description each enabled end entries equals error exec exists extend fetch filter find first flush format forEach from get getId"
    " getName group handle has hash headers id index indexOf info init insert is_empty items iter join key keys label last len length level"
    " line link list load log main map match max message min mode name next node notify open options output parent parse path pop port push"
    " put query read reduce remove render replace reset resolve response result reverse root run save search send set setup size slice sort"
    " source split start state status stop strip sub substring sum tag text then time title toString token trim type unwrap update url use"
    " user value values version warn width wrap write".split()
)
_LOOSE_KEYS = frozenset({"pair", "pair_pattern", "keyword_argument", "argument", "named_argument"})  # of nobody knows what
_UNQUALIFIED = frozenset({"java", "csharp", "cpp"})  # an object's own members stand without `this.`


def member_places(tree: Tree, place: Place | None, old: str, new: str, made: Sequence[tuple[int, int]]) -> list[Place]:
    """All places of the member `old`, which became `new` at `place`, or in another file where that is None."""
    if not _is_new(tree, new, made):
        return []
    if place is not None and not (place.declared or _is_set(tree, place)):
        return []
    home = class_of(tree, place.node) if place is not None else None
    found = [each for each in places(tree, old) if each.role != "plain"]
    declaring = [each for each in found if each.role == "member" and (each.declared or _is_set(tree, each))]
    if place is not None and any(each.declared and _is_of(tree, each, home) and not _is_outside(each) for each in declaring):
        return []  # the class has it still: an overload
    ambiguous = any(not _is_of(tree, each, home) for each in declaring)
    kept = [each for each in found if _means(tree, each, home, old, ambiguous=ambiguous)]
    return [*kept, *(_unqualified(tree, place, old) if place is not None and tree.language in _UNQUALIFIED else ())]


def _is_new(tree: Tree, new: str, made: Sequence[tuple[int, int]]) -> bool:
    there = (each for each in places(tree, new) if each.role == "member")
    return all(any(first <= each.end and each.start <= last for first, last in made) for each in there)


def _is_set(tree: Tree, place: Place) -> bool:
    """`self.name = …`, which declares it where no class body does."""
    member = place.node.parent
    if member is None or not is_own(receiver(tree, place)) or member.parent is None:
        return False
    return member.parent.type in ("assignment", "assignment_expression") and member.parent.child_by_field_name("left") == member


def _is_outside(place: Place) -> bool:
    """A definition of C++ outside of the class body."""
    return place.node.parent is not None and place.node.parent.type == "qualified_identifier"


def _is_of(tree: Tree, place: Place, home: str | None) -> bool:
    """Whether a place lies in the class `home`."""
    return home is not None and (receiver(tree, place) if _is_outside(place) else class_of(tree, place.node)) == home


def _means(tree: Tree, place: Place, home: str | None, old: str, *, ambiguous: bool) -> bool:
    parent = place.node.parent
    if parent is None:
        return False
    if place.role == "shorthand":
        return not ambiguous and parent.type == "shorthand_field_initializer"
    if place.role == "key":
        return not ambiguous and parent.type not in _LOOSE_KEYS
    if _is_of(tree, place, home) and (is_own_place(tree, place) or place.declared):
        return True
    return not (place.declared or ambiguous or old in COMMON or len(old) < 3) and receiver(tree, place) is not None


def _unqualified(tree: Tree, place: Place, old: str) -> list[Place]:
    """Uses without `this.` in the class, where no variable has the name."""
    home = enclosing_class(place.node)
    start, end = tree.span(home) if home is not None else (0, 0)
    found = [each for each in places(tree, old, start, end) if each.role == "plain"]
    hidden = [tree.span(scope_of(each, tree.language)) for each in found if each.declared]
    return [each for each in found if not any(first <= each.start < last for first, last in hidden)]

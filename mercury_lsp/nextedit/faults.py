"""What the diagnostics that the latest changes brought ask for, where their words and the code tell it. Knows no model.

undefined name "width"                          width was just renamed there: the new name
Cannot find name 'lenght'. Did you mean …?      what it names
'os' imported but unused                        the import goes
expected ';'                                    where it is missing, if the file parses better with it
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mercury_lsp.nextedit.gains import chance
from mercury_lsp.nextedit.imports_read import imports
from mercury_lsp.nextedit.imports_write import take_out
from mercury_lsp.nextedit.moment import Edit, Fault, Moment, Proposal, Text, line_span, undone_tree
from mercury_lsp.nextedit.names import places
from mercury_lsp.nextedit.words import renamed

_CAUSES = 6  # intentions, the latest ones
_RENAMED, _MEANT, _MISSING = chance("diagnostic, renamed"), chance("diagnostic, meant"), chance("diagnostic, missing")
_UNUSED = chance("import gone")  # the edit is the same

_QUOTED = r"['\"`‘“]([^'\"`’”\n]+)['\"`’”]"
UNDEFINED = re.compile(
    r"[Uu]ndefined|not defined"
    r"|[Cc]annot (?:find|resolve)|could not (?:be resolved|find)|unresolved|undeclared|not declared|not found|no field"
    r"|no member|has no attribute|does not exist|is unknown|no method"
)
_DID_YOU_MEAN = re.compile(rf"(?:[Dd]id you mean|a similar name exists|similarly named|maybe you meant)[^'\"`‘“\n]*{_QUOTED}")
_UNUSED_IMPORT = re.compile(
    rf"{_QUOTED} (?:imported (?:but unused|and not used)|is (?:not accessed|declared but (?:its value is )?never (?:read|used)))"
    rf"|[Uu]nused import:? {_QUOTED}|[Tt]he import ([\w.]+) is never used"
)
_EXPECTED = re.compile(
    r"expected(?: an?| token)? ['\"`‘]([;:,)\]}])['\"`’]|['\"`‘]([;:,)\]}])['\"`’] expected|[Mm]issing ['\"`‘]?([;:,)\]}])['\"`’]?"
)
_WORD = re.compile(r"[^\W\d]\w*")


def faults(moment: Moment) -> Iterator[Proposal]:
    """Of the diagnostics of this document."""
    for order, fault in enumerate(each for each in moment.faults if each.is_new):
        for edit, label, confidence in _mends(moment, fault):
            yield Proposal(
                edit=edit, kind="diagnostic", label=label, confidence=confidence, cause=moment.intentions[-1].number, order=order
            )


def _mends(moment: Moment, fault: Fault) -> Iterator[tuple[Edit, str, float]]:
    text, message = moment.here, fault.message
    word = _word_at(text.text, fault)
    if word is not None and UNDEFINED.search(message):
        start, end = word
        name = text.text[start:end]
        new = _new_name(moment, name)
        if new is not None:
            yield Edit(text.document, start, end, new), f"Rename {name} to {new}", _RENAMED
            return
        meant = _DID_YOU_MEAN.search(message)
        if meant is not None and (told := _WORD.fullmatch(meant[1].rpartition(".")[2])) and told[0] != name and name in message:
            yield Edit(text.document, start, end, told[0]), f"Did you mean {told[0]}?", _MEANT
        return
    if (unused := _UNUSED_IMPORT.search(message)) is not None:
        yield from _unused(moment, fault, next(each for each in unused.groups() if each))
    elif (expected := _EXPECTED.search(message)) is not None:
        yield from _missing(moment, fault, next(each for each in expected.groups() if each))


def _word_at(text: str, fault: Fault) -> tuple[int, int] | None:
    """The word that the diagnostic begins at; it may begin before the dot of a member."""
    match = _WORD.match(text, fault.start)
    if match is None or (fault.end > match.end() and "." in text[match.end() : fault.end]):
        found = list(_WORD.finditer(text, fault.start, max(fault.start, fault.end)))
        match = found[-1] if found else None
    return match.span() if match is not None else None


def _new_name(moment: Moment, name: str) -> str | None:
    """What `name` was renamed to in one of the last changes, where nothing has it any more that could be meant."""
    for intention in reversed(moment.intentions[-_CAUSES:]):
        text = moment.text(intention.document)
        for each in renamed(text, intention) if text is not None else ():
            tree, before = (moment.tree(text), undone_tree(moment, text, intention)) if text is not None else (None, None)
            if each.old == name and tree is not None and before is not None and any(place.declared for place in places(tree, each.new)):
                return each.new
    return None


def _unused(moment: Moment, fault: Fault, said: str) -> Iterator[tuple[Edit, str, float]]:
    text = moment.here
    name = re.split(r"[./]|::", said)[-1]
    first, last = line_span(text.text, fault.start, fault.start)
    tree = moment.tree(text)
    for each in imports(text):
        if each.start <= last and first <= each.end and name in each.names and tree is not None:
            if any(not each.start <= place.start <= each.end for place in places(tree, name)):
                return  # it is used, whatever the diagnostic says of a text before
            yield take_out(text, each, name), f"Remove the import of {name}", _UNUSED


def _missing(moment: Moment, fault: Fault, sign: str) -> Iterator[tuple[Edit, str, float]]:
    """Where the diagnostic is, behind what stands before it, or at its line's end: the first place where the grammar is content."""
    text, tree = moment.here, moment.tree(moment.here)
    before = tree.faults() if tree is not None else None
    if tree is None or before is None or not len(before):
        return
    line_end = line_span(text.text, fault.start, fault.start)[1]
    behind = len(text.text[: fault.start].rstrip())
    for at in dict.fromkeys((behind, fault.start, fault.end, len(text.text[:line_end].rstrip()))):
        if line_span(text.text, moment.cursor, moment.cursor) == line_span(text.text, at, at):
            continue  # it is being written
        put = tree.edit(at, at, at + len(sign), _with(text, at, sign))
        after = put.faults() if put is not None else None
        if after is not None and len(after) < len(before):
            yield Edit(text.document, at, at, sign), f"Put in the missing {sign}", _MISSING
            return


def _with(text: Text, at: int, sign: str) -> str:
    return text.text[:at] + sign + text.text[at:]

"""All that can be told from the syntax trees, the best first. Knows no model and no protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from mercury_lsp.nextedit.faults import faults
from mercury_lsp.nextedit.gains import FADING
from mercury_lsp.nextedit.imports import imports_gone, imports_needed
from mercury_lsp.nextedit.kept import kept
from mercury_lsp.nextedit.moment import Moment, Proposal
from mercury_lsp.nextedit.renames import renames
from mercury_lsp.nextedit.repeats import repeats
from mercury_lsp.nextedit.signatures import signatures
from mercury_lsp.nextedit.valid import keeps_valid
from mercury_lsp.nextedit.whole_lines import whole_lines

_log = logging.getLogger(__name__)

_MAKERS: tuple[Callable[[Moment], Iterator[Proposal]], ...] = (
    renames,
    signatures,
    kept,
    repeats,
    whole_lines,
    imports_needed,
    imports_gone,
    faults,
)


def predictions(moment: Moment) -> Iterator[Proposal]:
    """Proposals, those from which most is to be expected first. None twice, none that would break the syntax."""
    found = [proposal for make in _MAKERS for proposal in _made(make, moment)]
    latest = max((each.number for each in moment.intentions), default=0)
    seen = set()
    for proposal in sorted(found, key=lambda each: (-each.confidence * FADING ** (latest - each.cause), each.order)):
        if proposal.edit not in seen and keeps_valid(moment, proposal.edit):
            seen.add(proposal.edit)
            yield proposal


def _made(make: Callable[[Moment], Iterator[Proposal]], moment: Moment) -> list[Proposal]:
    try:
        return list(make(moment))
    except Exception:  # a tree may have any shape; a fault of one way to tell must not cost the others
        _log.exception("next edit")
        return []

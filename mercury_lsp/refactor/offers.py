"""Where a command is offered, told by the tree alone and fast: whether it can really be done shows when it is chosen."""

from __future__ import annotations

from mercury_lsp.refactor.grammars.table import GRAMMARS
from mercury_lsp.refactor.refused import Refused
from mercury_lsp.refactor.target import Target
from mercury_lsp.refactor.written import functions
from mercury_lsp.refactor.written.redenoising import VARIANTS
from mercury_lsp.refactor.written.regional import comment_above

_NAMES = frozenset({"identifier", "shorthand_property_identifier"})
_TYPED = frozenset({"python", "typescript", "tsx"})
_TESTED = frozenset({"python", "javascript", "typescript", "tsx", "go", "java", "rust"})
_SHOWN = 60  # characters of an instruction in a title


def extract(target: Target) -> list[str]:
    return ["Extract to a function"] if _selects(target, expression_only=False) else []


def expression(target: Target) -> list[str]:
    return ["Extract to a variable"] if _selects(target, expression_only=True) else []


def variable(target: Target) -> list[str]:
    """On a name."""
    if target.language not in GRAMMARS or "\n" in target.selected:
        return []
    start, end = target.tree.byte(target.start), target.tree.byte(target.end)
    node = target.tree.root.named_descendant_for_byte_range(start, max(start, end))
    if node is not None and node.type not in _NAMES and start == end and start:
        node = target.tree.root.named_descendant_for_byte_range(start - 1, start)
    return [f"Inline `{target.tree.text_of(node)}`"] if node is not None and node.type in _NAMES else []


def stub(target: Target) -> list[str]:
    function = _function(target)
    return [f"Complete the body of `{function.name}`"] if function is not None and function.is_stub() else []


def documentation(target: Target) -> list[str]:
    """On the first line of a function or class, or where it is selected."""
    function = _function(target, classes=True)
    if function is None or not _at_head(target, function):
        return []
    return [f"{'Update' if function.doc else 'Write'} the documentation of `{function.name}`"]


def types(target: Target) -> list[str]:
    function = _function(target) if target.language in _TYPED else None
    return [f"Add types to `{function.name}`"] if function is not None and _at_head(target, function) else []


def test(target: Target) -> list[str]:
    function = _function(target) if target.language in _TESTED else None
    return [f"Generate a test of `{function.name}` beside the file"] if function is not None and _at_head(target, function) else []


def comment(target: Target) -> list[str]:
    byte = target.tree.byte(target.start)
    node = target.tree.root.named_descendant_for_byte_range(byte, byte + 1)
    return ["Convert the comment to code"] if node is not None and "comment" in node.type else []


def instruction(target: Target) -> list[str]:
    said = comment_above(target) if target.selected.strip() else ""
    return [f"Rewrite: {said[:_SHOWN]}"] if said else []


def simplify(target: Target) -> list[str]:
    return ["Simplify the selection"] if target.selected.strip() else []


def variants(target: Target) -> list[str]:
    return [f"Write the selection anew ({number})" for number in range(1, VARIANTS + 1)] if target.selected.strip() else []


def nowhere(target: Target) -> list[str]:
    return []


def _function(target: Target, *, classes: bool = False) -> functions.Function | None:
    try:
        return functions.function_at(target, classes=classes)
    except Refused:
        return None


def _at_head(target: Target, function: functions.Function) -> bool:
    row = target.rows()[0]
    return function.outer.start_point.row <= row <= function.body.start_point.row


def _selects(target: Target, *, expression_only: bool) -> bool:
    if target.language not in GRAMMARS or not target.selected.strip():
        return False
    try:
        selection = target.selection()
    except Refused:
        return False
    return selection.expression is not None or not expression_only

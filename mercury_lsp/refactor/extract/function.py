"""Extracts the selection to a function, in the languages whose names can be followed."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from mercury_lsp.refactor import naming
from mercury_lsp.refactor.changes import Replace
from mercury_lsp.refactor.extract import go, java, python, rust, script
from mercury_lsp.refactor.extract.plan import Plan, plan
from mercury_lsp.refactor.names import Names
from mercury_lsp.refactor.selection import Selection

_WRITERS: MappingProxyType[str, Callable[[Plan, str], list[Replace]]] = MappingProxyType(
    {
        "python": python.function,
        "javascript": script.function,
        "typescript": script.function,
        "tsx": script.function,
        "go": go.function,
        "rust": rust.function,
        "java": java.function,
    }
)


def extract_function(names: Names, selection: Selection, name: str = "") -> tuple[list[Replace], str]:
    """The changes, and the name of the function: `name`, or one made from the code. Raises `Refused`."""
    made = plan(names, selection)
    chosen = name or fallback_name(made)
    return _WRITERS[names.tree.language](made, chosen), chosen


def fallback_name(made: Plan) -> str:
    return naming.for_function(made.names, [binding.name for binding in made.results], list(made.nodes))

"""Which languages have a grammar of names."""

from __future__ import annotations

from types import MappingProxyType

from mercury_lsp.refactor.grammars import go, java, python, rust, script
from mercury_lsp.refactor.grammars.grammar import Grammar

GRAMMARS: MappingProxyType[str, Grammar] = MappingProxyType(
    {
        "python": python.GRAMMAR,
        "javascript": script.GRAMMAR,
        "typescript": script.GRAMMAR,
        "tsx": script.GRAMMAR,
        "go": go.GRAMMAR,
        "rust": rust.GRAMMAR,
        "java": java.GRAMMAR,
    }
)

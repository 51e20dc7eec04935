"""Source text with its syntax tree, for the examples that training makes out of files. Knows no example and no token."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from itertools import accumulate

import tree_sitter

# (module, function) of the grammar for each of the corpus's languages that examples are made from.
_GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "c++": ("tree_sitter_cpp", "language"),
    "c#": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "ruby": ("tree_sitter_ruby", "language"),
    "lua": ("tree_sitter_lua", "language"),
    "shell": ("tree_sitter_bash", "language"),
}
LANGUAGES = tuple(language for language in _GRAMMARS if language != "tsx")
_QUOTED = ("string", "string_literal", "string_expression", "char_literal", "character_literal", "rune_literal", "regex", "heredoc_body")
_HIDDEN = "\x01"


class Source:
    """A parsed text. Places are characters, rows count from 0; nodes are the grammar's own, in bytes (`span` translates)."""

    def __init__(self, text: str, language: str, path: str = "") -> None:
        self.text, self.language, self.path = text, language, path
        self._grammar_name = "tsx" if language == "typescript" and path.endswith(".tsx") else language
        self._data = text.encode()
        self._found: dict[tuple[str, ...], list[tree_sitter.Node]] = {}
        self.root = tree_sitter.Parser(_grammar(self._grammar_name)).parse(self._data).root_node

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The place where each line starts."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    @cached_property
    def code(self) -> str:
        """The text with every character of a string or comment hidden, breaks of lines excepted."""
        hidden = list(self.text)
        for node in self.nodes(*_quoted(self._grammar_name)):
            first, end = self.span(node)
            hidden[first:end] = [character if character == "\n" else _HIDDEN for character in hidden[first:end]]
        return "".join(hidden)

    @cached_property
    def code_lines(self) -> list[str]:
        return self.code.split("\n")

    def nodes(self, *kinds: str) -> list[tree_sitter.Node]:
        """The nodes of these kinds in document order; kinds that the grammar does not have are passed over."""
        if kinds not in self._found:
            query = _query(self._grammar_name, kinds)
            captures = tree_sitter.QueryCursor(query).captures(self.root) if query is not None else {}
            self._found[kinds] = sorted(captures.get("node", []), key=lambda node: (node.start_byte, -node.end_byte))
        return self._found[kinds]

    def span(self, node: tree_sitter.Node) -> tuple[int, int]:
        """Where a node starts and ends, in characters."""
        return self._place(node.start_byte), self._place(node.end_byte)

    def of(self, node: tree_sitter.Node) -> str:
        """A node's text."""
        return self._data[node.start_byte : node.end_byte].decode()

    def row(self, place: int) -> int:
        """The row of a place."""
        return self.text.count("\n", 0, place)

    def rows(self, first: int, end: int) -> str:
        """The text of rows `first`…`end` − 1, without the last line break."""
        return "\n".join(self.lines[first:end])

    def with_edits(self, edits: list[tuple[int, int, str]], first: int, end: int) -> str:
        """Rows `first`…`end` − 1 after replacing the spans of `edits`, which lie in them and apart from each other."""
        at, pieces = self.starts[first], []
        for start, stop, text in sorted(edits):
            pieces += [self.text[at:start], text]
            at = stop
        return "".join(pieces) + self.text[at : self.starts[end] - 1]

    def _place(self, byte: int) -> int:
        return byte if len(self._data) == len(self.text) else len(self._data[:byte].decode())


def parses(text: str, language: str, path: str = "") -> bool:
    """Whether the grammar can follow the whole text."""
    return not Source(text, language, path).root.has_error


def inside(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all below it, in document order."""
    yield node
    for child in node.children:
        yield from inside(child)


@cache
def _grammar(name: str) -> tree_sitter.Language:
    module, function = _GRAMMARS[name]
    return tree_sitter.Language(getattr(import_module(module), function)())


@cache
def _kinds(name: str) -> frozenset[str]:
    grammar = _grammar(name)
    named = (number for number in range(grammar.node_kind_count) if grammar.node_kind_is_named(number))
    return frozenset(kind for number in named if (kind := grammar.node_kind_for_id(number)) and grammar.node_kind_is_visible(number))


@cache
def _quoted(name: str) -> tuple[str, ...]:
    """The kinds of a grammar's strings and comments. Parts of strings are inside them anyway."""
    return tuple(sorted(kind for kind in _kinds(name) if "comment" in kind or kind.endswith(_QUOTED)))


@cache
def _query(name: str, kinds: tuple[str, ...]) -> tree_sitter.Query | None:
    known = [kind for kind in kinds if kind in _kinds(name)]
    return tree_sitter.Query(_grammar(name), "\n".join(f"({kind}) @node" for kind in known)) if known else None

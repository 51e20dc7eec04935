"""A document's syntax tree: patched edit by edit, asked about errors, strings, comments and blocks. Knows nothing of drafts.

Importing this module loads no grammar: the first parse of a language does.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import msgspec

from mercury_lsp.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import tree_sitter

__all__ = ["Faults", "Tree", "has_grammar", "language_of"]

Kind = Literal["code", "string", "comment"]

# (module, function) of each language's grammar.
_GRAMMARS = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language"),
        "javascript": ("tree_sitter_javascript", "language"),
        "typescript": ("tree_sitter_typescript", "language_typescript"),
        "tsx": ("tree_sitter_typescript", "language_tsx"),
        "go": ("tree_sitter_go", "language"),
        "rust": ("tree_sitter_rust", "language"),
        "java": ("tree_sitter_java", "language"),
        "c": ("tree_sitter_c", "language"),
        "cpp": ("tree_sitter_cpp", "language"),
        "csharp": ("tree_sitter_c_sharp", "language"),
        "ruby": ("tree_sitter_ruby", "language"),
        "php": ("tree_sitter_php", "language_php"),
        "lua": ("tree_sitter_lua", "language"),
        "bash": ("tree_sitter_bash", "language"),
        "html": ("tree_sitter_html", "language"),
        "css": ("tree_sitter_css", "language"),
        "json": ("tree_sitter_json", "language"),
        "yaml": ("tree_sitter_yaml", "language"),
        "toml": ("tree_sitter_toml", "language"),
        "markdown": ("tree_sitter_markdown", "language"),
        "sql": ("tree_sitter_sql", "language"),
    }
)

_STRINGS = frozenset(
    "char_literal character_literal rune_literal quoted_attribute_value attribute_value heredoc_body double_quote_scalar"
    " single_quote_scalar block_scalar regex".split()
)

# Work is counted in the parser's own progress reports, one per 100 operations, so that the same text always gives the same answer however
# busy the machine is. One report took 10-15 us: 932 of them for 277 kB of Python in 14 ms, 10,008 for a 200,000-character JavaScript
# array on one line in 103 ms (2 cores, 2026-11).
FIRST_PARSE = 12_000  # ~150 ms, once a document
EDIT = 4_000  # ~40 ms, once a key at worst
# ~3 ms, once a candidate suggestion. Amid 7,000 lines of Python a candidate took up to 17 ms at p95 with 800, 7 with 250, and as many
# suggestions were shown (374 and 375 of 380 keys; 2 cores, 2026-11).
TRIAL = 250
_MENDING = 4  # reports that one counts for while an error is being mended: those took up to 250 us each
_MAX_LENGTH = 1_000_000  # characters
# To go from a node to the one around it takes the grammar's library a time that grows with the depth: 0.14 ms at 2,000, so that who climbs
# from there to the top needs 0.3 s, and from 20,000 minutes (2 busy cores, 2026-11).
_DEEPEST = 500
_MAX_VISITS = 2_000  # nodes looked at while counting faults; a document with more than this is not in the grammar's language


class Faults(msgspec.Struct, frozen=True):
    """Where the grammar could not follow, in document order. Offsets are code points."""

    spans: tuple[tuple[int, int], ...]  # (start, end) of each ERROR node and, empty, of each token that is missing

    def __len__(self) -> int:
        return len(self.spans)


def has_grammar(language: str) -> bool:
    """Whether `language` can have a tree."""
    return language in _GRAMMARS


class Tree:
    """A parsed document. Never changes: an edit gives a new one that shares what did not change."""

    __slots__ = ("_data", "_tree", "cost", "language", "text")

    def __init__(self, language: str, text: str, data: bytes, tree: tree_sitter.Tree, cost: int) -> None:
        self.cost = cost  # of the parse that made it, in the unit of the budgets
        self.language = language
        self.text = text
        self._data = data  # `text` in UTF-8, what the grammar reads
        self._tree = tree

    @classmethod
    def parse(cls, text: str, language: str, *, budget: int = FIRST_PARSE, pause: Callable[[], None] = lambda: None) -> Tree | None:
        """None where there is no grammar, or where the document is too large, too deep or too contorted for `budget`, or has a NUL.

        `pause` is called again and again meanwhile, for whoever parses in the background to let others work.
        """
        if language not in _GRAMMARS or len(text) > _MAX_LENGTH:
            return None
        data = _encode(text)
        parsed = _parse(language, data, None, budget, pause)
        return None if parsed is None else cls(language, text, data, *parsed)

    def edit(self, start: int, old_end: int, new_end: int, text: str, *, budget: int = EDIT) -> Tree | None:
        """The tree of `text`, in which `[start, new_end)` replaced this one's `[start, old_end)`; None where `budget` is not enough."""
        begin, end = self._byte(start), self._byte(old_end)
        inserted = _encode(text[start:new_end])
        data = b"".join((self._data[:begin], inserted, self._data[end:]))
        old = self._tree.copy()
        at = _point(self._data, begin)
        stop = begin + len(inserted)
        old.edit(begin, end, stop, at, _point(self._data, end, begin, at), _point(data, stop, begin, at))
        parsed = _parse(self.language, data, old, budget)
        return None if parsed is None else Tree(self.language, text, data, *parsed)

    def insert(self, at: int, inserted: str, *, budget: int = TRIAL) -> Tree | None:
        """The tree as it would be with `inserted` at `at`."""
        return self.edit(at, at, at + len(inserted), self.text[:at] + inserted + self.text[at:], budget=budget)

    @property
    def root(self) -> tree_sitter.Node:
        return self._tree.root_node

    def text_of(self, node: tree_sitter.Node) -> str:
        return self._data[node.start_byte : node.end_byte].decode()

    def node_at(self, start: int, end: int) -> tree_sitter.Node | None:
        """The smallest node around these characters."""
        return self._tree.root_node.descendant_for_byte_range(self._byte(start), self._byte(end))

    def span(self, node: tree_sitter.Node) -> tuple[int, int]:
        """The first character of `node`, and the one after its last."""
        start = self._char(node.start_byte, (0, 0))
        return start[1], self._char(node.end_byte, start)[1]

    def cut(self, start: int, end: int) -> str:
        """The text between two bytes."""
        return self._data[start:end].decode()

    def byte(self, at: int) -> int:
        """The byte at which the character `at` begins: nodes count in bytes."""
        return self._byte(at)

    def char(self, byte: int) -> int:
        """The character that begins at `byte`."""
        return self._char(byte, (0, 0))[1]

    def first_lines(self, node: tree_sitter.Node, most: int) -> str:
        """Whole lines from the one in which `node` begins, as many of its own as fit into `most` characters."""
        start = self._data.rfind(b"\n", 0, node.start_byte) + 1
        text = self._data[start : min(node.end_byte, start + 4 * most)].decode("utf-8", "ignore")
        return whole_lines(text, most)

    def faults(self) -> Faults | None:
        """What does not parse; None where there is too much of it to say."""
        spans: list[tuple[int, int]] = []
        at = (0, 0)  # the last place as (byte, character): counting on from there keeps thousands of faults linear
        for visits, node in enumerate(_faulty(self._tree.root_node)):
            if visits >= _MAX_VISITS:
                return None
            if node.is_error or node.is_missing:
                start = self._char(node.start_byte, at)
                end = self._char(node.end_byte, start)
                spans.append((start[1], end[1]))
                at = start
        return Faults(tuple(spans))

    def kind_at(self, at: int) -> Kind:
        """What a character typed at `at` would belong to."""
        position = self._byte(at)
        kind = self._kind_by_node(position)
        return "string" if kind == "code" and self._tree.root_node.has_error and self._in_open_string(at, position) else kind

    def _kind_by_node(self, position: int) -> Kind:
        for node in self._around(position):
            kind = node.type
            if "comment" in kind:
                return "comment" if position < node.end_byte or not _closes(node, self._data) else "code"
            if node.is_error or "interpolation" in kind or "substitution" in kind or kind.endswith(("expression", "statement")):
                return "code"
            if _is_string(kind) and node.start_byte < position:
                return "string" if position < node.end_byte or not _closes(node, self._data) else "code"
        return "code"

    def block_end(self, at: int) -> int | None:
        """Where the innermost block around `at` ends; None at the document's top level."""
        position = self._byte(at)
        for node in self._around(position):
            if _is_block(node.type) and node.parent is not None and node.start_byte <= position <= node.end_byte:
                return self._char(node.end_byte, (position, at))[1]
        return None

    def _around(self, position: int) -> Iterator[tree_sitter.Node]:
        """The nodes around the character left of `position`, innermost first, not too many."""
        node = self._tree.root_node.descendant_for_byte_range(max(position - 1, 0), position)
        for _ in range(_DEEPEST):
            if node is None:
                return
            yield node
            node = node.parent

    def _in_open_string(self, at: int, position: int) -> bool:
        """Whether a string was begun before `at` that has no end yet: the grammar reads what is in it as broken code."""
        if self.language == "python" and any(
            self.text.count(quote, 0, at) % 2 and self.text.find(quote, at) < 0 for quote in ('"""', "'''")
        ):
            return True
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        if not _has_open_quote(line):
            return False
        around = self._tree.root_node.descendant_for_byte_range(position - len(_encode(line)), position)
        return around is not None and around.has_error

    def _byte(self, at: int) -> int:
        # As long in bytes as in characters: all ASCII, the common document, and nothing to count.
        return at if len(self._data) == len(self.text) else len(_encode(self.text[:at]))

    def _char(self, byte: int, known: tuple[int, int]) -> tuple[int, int]:
        """`byte` and its character, counted from a `known` (byte, character)."""
        if len(self._data) == len(self.text):
            return byte, byte
        origin, char = known
        between = len(self._data[min(byte, origin) : max(byte, origin)].decode("utf-8", "ignore"))
        return byte, char + (between if byte >= origin else -between)


def whole_lines(text: str, most: int) -> str:
    """As many of the first lines of `text` as fit whole into `most` characters, without blank ones at the end."""
    if len(text) <= most:
        return text.rstrip()
    return text[: text.rfind("\n", 0, most + 1) + 1].rstrip() if most > 0 else ""


def _encode(text: str) -> bytes:
    # Half a surrogate pair has no UTF-8; one "?" keeps the count of characters.
    return text.encode("utf-8", "replace")


def _point(data: bytes, byte: int, base: int = 0, at: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Row and byte column of `byte`, counted on from `at`, the point of `base`."""
    rows = data.count(b"\n", base, byte)
    if rows == 0 and base:
        return at[0], at[1] + byte - base
    return at[0] + rows, byte - (data.rfind(b"\n", 0, byte) + 1)


@cache
def _grammar(language: str) -> tree_sitter.Language:
    from tree_sitter import Language

    module, function = _GRAMMARS[language]
    return Language(getattr(import_module(module), function)())


def _parse(
    language: str, data: bytes, old: tree_sitter.Tree | None, budget: int, pause: Callable[[], None] = lambda: None
) -> tuple[tree_sitter.Tree, int] | None:
    from tree_sitter import Parser

    if b"\0" in data:  # the grammars take it for the end of the text
        return None
    spent = 0

    def enough(_offset: int, has_error: bool) -> bool:
        nonlocal spent
        spent += _MENDING if has_error else 1
        pause()
        return spent > budget

    # A parser holds state while it parses, and trees are asked from more than one thread; making one takes a microsecond.
    parser = Parser(_grammar(language))

    # The binding (0.26.1) never lets go of what is read: in 300 parses of 66 kB, read in pieces of 8 kB, 40 MB stayed. Of a released view
    # a few hundred bytes stay. A node's own `text` would ask for one: use `Tree.text_of`.
    views = [memoryview(data)]

    def read(offset: int, _at: tuple[int, int]) -> memoryview:
        views.append(views[0][offset:])
        return views[-1]

    try:
        tree = parser.parse(read, progress_callback=enough) if old is None else parser.parse(read, old, progress_callback=enough)
        return None if _is_deep(tree) else (tree, spent)
    except ValueError:  # how the binding says that `enough` said so
        return None
    finally:
        for view in reversed(views):
            view.release()


def _is_deep(tree: tree_sitter.Tree) -> bool:
    """Whether the way to the middle, each time to the part that lies there, leads through too many nodes: a document's deepest part is
    most of it where that is so deep."""
    cursor = tree.walk()
    for _ in range(_DEEPEST):
        node = cursor.node
        assert node is not None
        if cursor.goto_first_child_for_byte((node.start_byte + node.end_byte) // 2) is None:
            return False
    return True


def _faulty(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Nodes on the way to a fault and the faults, in document order. Whole subtrees without one are never entered."""
    if not root.has_error:
        return
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        yield node
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _is_string(kind: str) -> bool:
    return "string" in kind or kind in _STRINGS


def _has_open_quote(line: str) -> bool:
    return any(line.replace("\\" + quote, "").count(quote) % 2 for quote in "\"'`")


def _is_block(kind: str) -> bool:
    return kind.endswith(("block", "body", "declaration_list")) or kind in ("compound_statement", "object", "array", "do_statement")


def _closes(node: tree_sitter.Node, data: bytes) -> bool:
    """Whether `node` has an end of its own, unlike a comment that runs to the end of its line or a string that was never closed."""
    tail = data[max(node.end_byte - 3, node.start_byte) : node.end_byte]
    if "comment" in node.type:
        return tail.endswith((b"*/", b"-->", b"]]"))
    return not node.has_error and node.end_byte - node.start_byte > 1 and tail[-1:] in b"\"'`>])/" or node.type.endswith("_end")

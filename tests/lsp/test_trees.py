"""Trees that are patched are the trees that parsing would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mercury_lsp.syntax import Tree
from mercury_lsp.trees import Trees, changed

TEXTS = st.text(alphabet="ab(\n é😀", max_size=40)


@given(TEXTS, TEXTS)
def test_changed(old: str, new: str) -> None:
    start, old_end, new_end = changed(old, new)
    assert old[:start] + new[start:new_end] + old[old_end:] == new
    assert 0 <= start <= min(old_end, new_end) and old_end <= len(old) and new_end <= len(new)


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_patched_as_parsed(texts: list[str]) -> None:
    trees = Trees()
    for text in texts:
        patched, parsed = trees.tree("a", text, "python"), Tree.parse(text, "python")
        assert patched is not None and parsed is not None
        assert patched.text == text and bool(patched.faults()) == bool(parsed.faults())


def test_no_grammar_and_another_language() -> None:
    trees = Trees()
    assert trees.tree("a", "x", "nothing") is None
    trees.forget("a")
    python = trees.tree("a", "x = 1", "python")
    assert python is not None and trees.tree("a", "x = 1", "python") is python
    other = trees.tree("a", "x = 1", "go")
    assert other is not None and other.language == "go"


def test_too_large_is_not_tried_again_until_it_is_closed() -> None:
    trees = Trees()
    assert trees.tree("a", "x\n" * 2_000_000, "python") is None
    assert trees.tree("a", "x", "python") is None
    trees.forget("a")
    assert trees.tree("a", "x", "python") is not None

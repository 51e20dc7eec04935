"""What was done, told from texts alone: the texts that a document had → intentions."""

from __future__ import annotations

import random

import pytest

from mercury_lsp.nextedit.history import MOST, History
from mercury_lsp.nextedit.moment import Text


def text(content: str, document: str = "a") -> Text:
    return Text(document, f"file:///{document}", f"/{document}", "python", content)


def done(*texts: str) -> list[tuple[str, str]]:
    """(old, new) of each intention."""
    history = History()
    history.open(text(texts[0]))
    for each in texts[1:]:
        history.change(text(each))
    return [(each.old, each.new) for each in history.intentions()]


def test_typing_in_one_place_is_one() -> None:
    assert done("x = count\n", "x = coun\n", "x = co\n", "x = \n", "x = t\n", "x = to\n", "x = total\n") == [("count", "total")]
    assert done("a\nb\n", "a\nif x:\nb\n", "a\nif x:\n    y\nb\n", "a\nif x:\n    y = 1\nb\n") == [("", "if x:\n    y = 1\n")]


def test_two_places_are_two() -> None:
    assert done("a = 1\nb = 2\n", "a = 3\nb = 2\n", "a = 3\nb = 4\n") == [("1", "3"), ("2", "4")]


def test_two_changes_of_a_line_are_one() -> None:
    assert done("f(one, two)\n", "f(1, two)\n", "f(1, 2)\n") == [("one, two", "1, 2")]


def test_what_is_taken_back_was_not_done() -> None:
    assert done("a = 1\n", "a = 12\n", "a = 1\n") == []
    assert done("a = 1\nb = 2\n", "a = 3\nb = 2\n", "a = 3\nb = 4\n", "a = 3\nb = 2\n") == [("1", "3")]


def test_a_paste_and_a_deletion() -> None:
    assert done("a\n", "a\nx = 1\ny = 2\n") == [("", "x = 1\ny = 2\n")]
    assert done("a\nb\nc\n", "a\nc\n") == [("b\n", "")]


def test_what_a_tool_changes_in_several_places_is_told_apart() -> None:
    history = History()
    history.open(text("old()\nother\nold()\n"))
    history.change(text("new()\nother\nnew()\n"))
    assert [(each.old, each.new, each.bulk) for each in history.intentions()] == [("old", "new", True), ("old", "new", True)]
    history.change(text("new()\nmore\nnew()\n"))
    assert [each.bulk for each in history.intentions()] == [True, True, False]


def test_places_move_with_what_is_written_above() -> None:
    history = History()
    history.open(text("a\nb\nc\n"))
    history.change(text("a\nb\nchanged\n"))
    history.change(text("# first\na\nb\nchanged\n"))
    one, other = history.intentions()
    assert [each.new for each in (one, other)] == ["hanged", "# first\n"]
    assert ("# first\na\nb\nchanged\n")[one.start : one.end] == "hanged"


@pytest.mark.parametrize("seed", range(300))
def test_the_last_place_holds_what_was_written(seed: int) -> None:
    rng = random.Random(seed)
    now = "\n".join("".join(rng.choices("ab ", k=4)) for _ in range(8))
    history = History()
    history.open(text(now))
    for _ in range(rng.randint(1, 6)):
        for _ in range(rng.randint(1, 3)):
            start = rng.randint(0, len(now))
            now = now[:start] + "".join(rng.choices("cd\n", k=rng.randint(0, 4))) + now[min(len(now), start + rng.randint(0, 5)) :]
        history.change(text(now))
        made = history.intentions()
        assert all(0 <= each.start <= each.end <= len(now) for each in made)
        if made:
            assert now[made[-1].start : made[-1].end] == made[-1].new


def test_the_history_is_bounded() -> None:
    history = History()
    lines = [f"line {number}" for number in range(100)]
    history.open(text("\n".join(lines)))
    for number in range(0, 100, 2):
        lines[number] = f"changed {number}"
        history.change(text("\n".join(lines)))
    assert len(history.intentions()) == MOST
    assert history.intentions()[-1].new == "changed"


def test_what_is_old_is_forgotten() -> None:
    now = [0.0]
    history = History(lambda: now[0])
    history.open(text("a = 1\nb = 1\n"))
    history.change(text("a = 2\nb = 1\n"))
    now[0] = 3_600.0
    history.change(text("a = 2\nb = 2\n"))
    assert [(each.start, each.new) for each in history.intentions()] == [(10, "2")]


def test_what_was_generated_is_no_intention() -> None:
    assert done("a\n", "a\n" + "x = 1\n" * 5_000) == []
    assert done("a = 1\n", "a = 1\n" + "x = 1\n" * 5_000, "a = 2\n" + "x = 1\n" * 5_000) == [("1", "2")]


def test_the_model_is_told_in_lines() -> None:
    history = History()
    history.open(text("def f():\n    return 1\n"))
    history.change(text("def f():\n    return 2\n"))
    (edit,) = history.past_edits(lambda path: path.lstrip("/"))
    assert (edit.path, edit.diff) == ("a", " def f():\n-    return 1\n+    return 2")


def test_what_was_done_before_a_document_was_closed_counts_where_it_is_still_there() -> None:
    history = History()
    history.open(text("a = 1\nb = 1\n"))
    history.change(text("a = 2\nb = 1\n"))
    history.close("a")
    history.open(text("a = 2\nb = 1\n"))
    assert [each.new for each in history.intentions()] == ["2"]
    history.open(text("# another file\n"))
    assert history.intentions() == []


def test_documents_are_kept_apart() -> None:
    history = History()
    history.open(text("a\n"))
    history.open(text("b\n", "b"))
    history.change(text("b2\n", "b"))
    history.change(text("a2\n"))
    assert [(each.document, each.new) for each in history.intentions()] == [("b", "2"), ("a", "2")]
    history.close("b")
    history.change(text("a3\n"))
    assert [each.document for each in history.intentions()] == ["b", "a"]
    assert [each.document for each in history.texts] == ["a"]

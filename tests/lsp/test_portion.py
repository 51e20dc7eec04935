"""How much of a draft is shown."""

from __future__ import annotations

import itertools
from typing import Literal

import msgspec
import pytest

from engine.api import Draft, Piece
from mercury_lsp.portion import cuts, likelihood, portions


def draft(*tokens: tuple[str, float], ended: Literal["end", "deadline"] = "end", word: float = 1.0) -> Draft:
    """Of tokens with their chances; `word`: the chance that none goes on, at every place."""
    text = "".join(token for token, _ in tokens)
    lengths = itertools.accumulate(len(token) for token, _ in tokens)
    sure = itertools.accumulate((chance for _, chance in tokens), float.__mul__)
    pieces = tuple(Piece(length, 0.5, each, each * word) for length, each in zip(lengths, sure, strict=True))
    return Draft(
        text=text, confidence=pieces[-1].word if pieces else 0.7, tokens=len(tokens), denoise_steps=1, forwards=1, prefill_tokens=0,
        latency_ms=1.0, ended=ended, model="m", pieces=pieces,
    )  # fmt: skip


def shown(made: Draft, least: float, start: int = 0, line: str = "") -> list[str]:
    return [part.text for part in portions(made, start, len(made.text), least, line)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("self|.name|", ""),
        ("a| = b|", ""),
        ("x| += y| * ", "z = "),
        ("foo|(a, b)|.bar|", ""),  # not amid its arguments
        (")| + g|(h)|", "f("),
        ("x|[0]|(y)|", ""),
        ("s| = 'two words'|", ""),
        ('f"{x} y"|, z|', ""),
        ("more| words|'|)|", "print('"),
        ("a|\\'b|'| + c|", "x = '"),
        ("# don't| do|\nx|", ""),
        ("'''Doc.\nMore'''|\nx|", ""),
        ("def| f|(a)|:|\n    return| a|", ""),
        ("if| (a)| {|\n  b();|\n}|", ""),
        ("f|(|\n    a,|\n)|", ""),
    ],
)
def test_where_a_draft_may_be_cut(text: str, line: str) -> None:
    plain = text.replace("|", "")
    found = cuts(plain, line, finished=False)
    assert "".join(char + "|" * (place in found) for place, char in enumerate(plain, 1)) == text


def test_what_the_engine_ended_itself_may_be_shown_to_its_end() -> None:
    assert cuts("f(", "", finished=True) == [1, 2]
    assert cuts("f(", "", finished=False) == [1]
    assert cuts("\n ", "", finished=True) == []


def test_the_longest_part_that_is_likely_enough() -> None:
    made = draft(("self", 0.9), (".", 0.9), ("na", 0.9), ("me", 0.9), ("(", 0.5), ("x", 0.5), (")", 0.9))
    assert shown(made, 0.0) == ["self.name(x)", "self.name", "self"]
    assert shown(made, 0.2) == ["self.name", "self"]
    assert shown(made, 0.7) == ["self"]
    assert shown(made, 0.95) == []
    assert next(portions(made, 0, len(made.text), 0.2, "")).confidence == pytest.approx(0.9**4)


def test_a_word_that_may_go_on_counts_as_less_likely() -> None:
    made = draft(("get", 0.9), ("(", 0.9), word=0.5)
    assert likelihood(made, 0, 3) == pytest.approx(0.45)
    assert likelihood(made, 3, 4) == pytest.approx(0.45)  # whether a piece ends a word is for the engine to say


def test_a_cut_within_a_token_is_as_likely_as_all_of_it() -> None:
    made = draft(("x", 0.9), (" {\n  ", 0.5), ("y", 0.5))
    assert likelihood(made, 0, 3) == pytest.approx(0.45)


def test_what_is_written_already_is_no_longer_in_doubt() -> None:
    made = draft(("self", 0.2), (".", 0.9), ("name", 0.9))
    assert shown(made, 0.5) == []
    assert shown(made, 0.5, start=4) == [".name"]
    assert likelihood(made, 4, 9) == pytest.approx(0.81)
    assert likelihood(made, 5, 9) == pytest.approx(0.9)


def test_each_character_of_a_token_makes_the_rest_of_it_likelier() -> None:
    made = draft(("self", 0.25), (".name", 0.9))
    assert [likelihood(made, typed, 9) for typed in range(3)] == pytest.approx([0.25 * 0.9, 0.5 * 0.9, 0.25**0.25 * 0.9])


def test_one_character_is_not_worth_a_key() -> None:
    assert shown(draft((")", 0.9)), 0.5) == []
    assert shown(draft((")", 0.9), (";", 0.9)), 0.5) == [");"]


def test_a_draft_that_ran_out_of_time_is_shown_only_as_far_as_it_may_be_cut() -> None:
    assert shown(draft(("self", 0.9), (".", 0.9), ended="deadline"), 0.5) == ["self"]
    assert shown(draft(("self", 0.9), (".", 0.9), ended="end"), 0.5) == ["self.", "self"]


def test_an_engine_that_says_nothing_of_its_tokens_has_all_shown_or_nothing() -> None:
    made = msgspec.structs.replace(draft(("f(", 0.7)), pieces=(), confidence=0.7)
    assert shown(made, 0.7) == ["f("]
    assert shown(made, 0.8) == []


def test_endless_doubt_is_no_error() -> None:
    made = draft(*[("ab ", 1e-3)] * 200)
    assert likelihood(made, 450, 600) == pytest.approx(0.0)
    assert shown(made, 0.1) == []

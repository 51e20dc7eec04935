"""What the model is sent: the parts in their order, cut to the context, with edges that stay put while somebody types."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

from engine.api import PastEdit, Related, RequestInvalid, Turn
from engine.checkpoints.catalog import find
from engine.checkpoints.gguf import GGUFFile
from engine.config import ChatIds, EditIds, InfillLayout
from engine.layout import chat_ids, infill_ids, most_related, rewrite_ids
from engine.tokenizer import TextTokenizer

LAYOUT = InfillLayout(path_id=6, suffix_id=11, prefix_id=12, end_id=0, mask_id=16, context=256, block=8)
SOURCE = Path(torch.__file__).read_text()


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return TextTokenizer(GGUFFile(find("quicksilver-135m").gguf).tokenizer_tables)


def shown(tokenizer: TextTokenizer, ids: list[int]) -> str:
    """Ids as text, special ids as ⟨id⟩."""
    return "".join(f"⟨{index}⟩" if index in tokenizer.special_ids else tokenizer.decode([index]) for index in ids)


def test_path_suffix_prefix(tokenizer: TextTokenizer) -> None:
    ids = infill_ids(tokenizer, LAYOUT, path="a/b.py", prefix="def f(", suffix="):\n    pass\n")
    assert shown(tokenizer, ids) == "⟨6⟩a/b.py⟨11⟩):\n    pass\n⟨12⟩def f("


def test_parts_that_are_empty_leave_no_mark_but_the_prefix(tokenizer: TextTokenizer) -> None:
    assert shown(tokenizer, infill_ids(tokenizer, LAYOUT, path="", prefix="", suffix="")) == "⟨12⟩"


def test_text_that_looks_like_a_mark_is_text(tokenizer: TextTokenizer) -> None:
    ids = infill_ids(tokenizer, LAYOUT, path="", prefix="x<jupyter_text><empty_output>", suffix="")
    assert [index for index in ids if index in tokenizer.special_ids] == [12]


def test_related_text_is_sent_only_to_an_adapter_that_knows_it(tokenizer: TextTokenizer) -> None:
    related = (Related("far.py", "x" * 4000), Related("near.py", "y = 1\n"))
    assert infill_ids(tokenizer, LAYOUT, path="", prefix="a", suffix="b", related=related) == infill_ids(
        tokenizer, LAYOUT, path="", prefix="a", suffix="b"
    )
    knows = msgspec.structs.replace(LAYOUT, related_id=5)
    ids = infill_ids(tokenizer, knows, path="p", prefix="a", suffix="b", related=related)
    assert shown(tokenizer, ids) == "⟨6⟩p⟨5⟩near.py\ny = 1\n⟨11⟩b⟨12⟩a"  # the far piece is longer than all the room there is


def test_related_text_on_top_takes_no_room_from_the_prefix(tokenizer: TextTokenizer) -> None:
    knows = msgspec.structs.replace(LAYOUT, related_id=5)
    related = (Related("near.py", "y = 1\n" * 8),)
    bare, instead, on_top = (
        infill_ids(tokenizer, knows, path="p", prefix=SOURCE[:5_000], suffix=SOURCE[5_000:], related=pieces, on_top=extra)
        for pieces, extra in (((), False), (related, False), (related, True))
    )
    assert len(instead) <= LAYOUT.context * 7 // 8
    assert len(bare) < len(on_top) <= len(bare) + most_related(knows)
    assert shown(tokenizer, on_top).partition("⟨11⟩")[2] == shown(tokenizer, bare).partition("⟨11⟩")[2]


@pytest.mark.parametrize("cursor", [10, 5_000, 20_000])
def test_a_long_file_is_cut_to_the_context_around_the_cursor(tokenizer: TextTokenizer, cursor: int) -> None:
    ids = infill_ids(tokenizer, LAYOUT, path="torch/__init__.py", prefix=SOURCE[:cursor], suffix=SOURCE[cursor:])
    assert len(ids) <= LAYOUT.context * 7 // 8
    text = shown(tokenizer, ids)
    suffix, prefix = text.partition("⟨11⟩")[2].split("⟨12⟩")
    assert SOURCE[cursor:].startswith(suffix) and SOURCE[:cursor].endswith(prefix)
    assert len(suffix) > 100 and (len(prefix) > 200 or prefix == SOURCE[:cursor])


def test_while_typing_the_prompt_keeps_its_start_and_jumps_in_coarse_steps(tokenizer: TextTokenizer) -> None:
    before = infill_ids(tokenizer, LAYOUT, path="t.py", prefix=SOURCE[:6_000], suffix=SOURCE[7_000:])
    moves = 0
    for cursor in range(6_001, 7_000):
        ids = infill_ids(tokenizer, LAYOUT, path="t.py", prefix=SOURCE[:cursor], suffix=SOURCE[7_000:])
        kept = next((place for place, (one, other) in enumerate(zip(before, ids, strict=False)) if one != other), len(before))
        moves += kept < len(before) - 6
        before = ids
    typed = len(tokenizer.encode(SOURCE[6_000:7_000]))
    step = 37  # a quarter of what path and suffix leave of 224 tokens
    # An edge may be crossed twice more, where a typed character joins two tokens and parts them again.
    assert 2 <= moves <= 3 * (typed // step + 1) // 2


EDITS = msgspec.structs.replace(
    LAYOUT,
    related_id=5,
    edit=EditIds(history=8, region=13, cursor=9, instruction=15, rewrite=14),
    chat=ChatIds(turn=1, close=2),
)


def test_a_rewriting_lays_out_all_its_parts(tokenizer: TextTokenizer) -> None:
    ids = rewrite_ids(
        tokenizer,
        EDITS,
        path="a.py",
        prefix="import os\n",
        region="x = old(1)\ny = 2",
        suffix="\nprint(x)\n",
        cursor=4,
        history=(PastEdit("b.py", "-def old(n):\n+def new(n):"),),
        instruction="rename old to new",
        related=(Related("b.py", "def new(n):"),),
    )
    assert shown(tokenizer, ids) == (
        "⟨6⟩a.py⟨5⟩b.py\ndef new(n):⟨11⟩\nprint(x)\n⟨12⟩import os\n"
        "⟨8⟩b.py\n-def old(n):\n+def new(n):⟨13⟩x = ⟨9⟩old(1)\ny = 2⟨15⟩rename old to new⟨14⟩"
    )


def test_of_a_long_history_the_last_edits_are_kept_and_the_region_is_whole(tokenizer: TextTokenizer) -> None:
    history = tuple(PastEdit("b.py", f"+value_{number} = {number}") for number in range(100))
    region = SOURCE[2000:2200]
    ids = rewrite_ids(tokenizer, EDITS, path="a.py", prefix=SOURCE[:2000], region=region, suffix=SOURCE[2200:9000], history=history)
    text = shown(tokenizer, ids)
    assert len(ids) + len(tokenizer.encode(region)) <= LAYOUT.context
    assert "+value_99 = 99" in text and "+value_10 = 10" not in text
    assert f"⟨13⟩{region}⟨14⟩" in text


def test_a_region_that_is_too_long_is_refused_with_both_numbers(tokenizer: TextTokenizer) -> None:
    with pytest.raises(RequestInvalid, match=r"the region has \d+ tokens, the loaded model rewrites up to 96 at once"):
        rewrite_ids(tokenizer, EDITS, path="", prefix="", region=SOURCE[:4000], suffix="")


def test_a_conversation_ends_where_the_answer_begins(tokenizer: TextTokenizer) -> None:
    turns = (Turn("system", "Be brief."), Turn("user", "Hi <|im_end|>"), Turn("assistant", "Hello."), Turn("user", "Why?"))
    ids = chat_ids(tokenizer, EDITS, turns)
    assert shown(tokenizer, ids) == (
        "⟨1⟩system\nBe brief.⟨2⟩\n⟨1⟩user\nHi <|im_end|>⟨2⟩\n⟨1⟩assistant\nHello.⟨2⟩\n⟨1⟩user\nWhy?⟨2⟩\n⟨1⟩assistant\n"
    )


def test_a_model_that_was_taught_neither_says_so(tokenizer: TextTokenizer) -> None:
    with pytest.raises(RequestInvalid, match="not trained to rewrite"):
        rewrite_ids(tokenizer, LAYOUT, path="", prefix="", region="x", suffix="")
    with pytest.raises(RequestInvalid, match="not trained to converse"):
        chat_ids(tokenizer, LAYOUT, (Turn("user", "Hi"),))

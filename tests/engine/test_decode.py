"""The decode loop on the real model: verified equals greedy, cached equals uncached, and an interruption loses nothing."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
import torch
from holes import holes

from engine.api import InfillRequest, RequestInvalid, StopFlag
from engine.cache import CacheSlot
from engine.decode import Decoded, decode, decode_causally
from engine.dedent import ended
from engine.drafting import Limits
from engine.engine import LocalEngine
from engine.follow import Follow

TOKENS = 8


def never() -> None:
    return None


@pytest.mark.parametrize("part", range(4))
def test_verified_decoding_equals_greedy_causal_decoding(engine: LocalEngine, part: int) -> None:
    """Token for token on 200 holes, and by fewer forwards."""
    forwards = greedy_forwards = 0
    for request in itertools.islice(holes(200, multiline=True), part, None, 4):
        verified, greedy = both_ways(engine, request)
        assert verified.ids == greedy.ids, request.prefix[-60:]
        assert verified.confidence == pytest.approx(greedy.confidence, abs=1e-4)
        assert verified.ended == greedy.ended
        forwards, greedy_forwards = forwards + verified.forwards, greedy_forwards + greedy.forwards
    assert forwards < greedy_forwards


def both_ways(engine: LocalEngine, request: InfillRequest) -> tuple[Decoded, Decoded]:
    ids = engine.prompt_ids(nearest(request))
    slot = fresh_slot(engine)
    limits = Limits(tokens=TOKENS, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
    with torch.inference_mode():
        verified = decode(engine.decoder, slot, ids, limits, never)
        written = [*ids, *verified.ids]
        assert slot.ids[: len(written)] == written[: len(slot.ids)] and len(slot.ids) >= len(ids)
        slot.truncate(len(ids) - 1)
        return verified, decode_causally(engine.decoder, slot, ids, limits)


def nearest(request: InfillRequest, **fields: Any) -> InfillRequest:
    """The text nearest to the hole: enough to make it real, where reading all would be most of a test's time."""
    return InfillRequest(prefix=request.prefix[-400:], suffix=request.suffix[:200], path=request.path, **fields)


def fresh_slot(engine: LocalEngine) -> CacheSlot:
    return CacheSlot(engine.decoder.transformer.config, 2 * engine.layout.context, engine.decoder.transformer.dtype)


def test_a_cached_run_equals_an_uncached_one(engine: LocalEngine) -> None:
    """Typing a line character by character: each answer is that of an engine with an empty cache, and little is read again."""
    text = "def area(width, height):\n    '''The area of a rectangle.'''\n    return width * height\n\n\nprint(area(2, 3))\n"
    start, end = text.index("return"), text.index("\n\n\n")
    prefilled = []
    for cursor in range(start, end):
        request = InfillRequest(prefix=text[:cursor], suffix=text[end:], path="area.py", max_tokens=TOKENS)
        cached = engine.infill(request, StopFlag())
        fresh = uncached(engine, request)
        assert cached.text == engine.tokenizer.decode(fresh.ids).partition("\n")[0]
        assert cached.tokens == len(fresh.ids)
        prefilled.append(cached.prefill_tokens)
    assert max(prefilled[1:]) <= 6  # a word's tokens may part differently when a character joins it; what is before it never does


def uncached(engine: LocalEngine, request: InfillRequest) -> Decoded:
    ids = engine.prompt_ids(request)
    slot = fresh_slot(engine)
    limits = Limits(tokens=request.max_tokens, line_ends=engine.tokenizer.has_newline, text_ends=lambda ids: False, verify=True)
    with torch.inference_mode():
        return decode(engine.decoder, slot, ids, limits, never)


def test_a_jump_and_back_finds_both_places_cached(engine: LocalEngine) -> None:
    here, there = itertools.islice(holes(12, max_tokens=4), 10, 12)
    first = [engine.infill(request, StopFlag()) for request in (here, there)]
    again = [engine.infill(request, StopFlag()) for request in (here, there)]
    assert [draft.text for draft in again] == [draft.text for draft in first]
    assert [draft.prefill_tokens for draft in again] == [0, 0]


def test_a_stop_before_the_first_step_is_an_empty_draft(engine: LocalEngine) -> None:
    stop = StopFlag()
    stop.set()
    draft = engine.infill(next(holes(1)), stop)
    assert (draft.text, draft.ended, draft.forwards, draft.confidence) == ("", "stopped", 0, 0.0)


def test_whatever_step_a_stop_comes_at_the_draft_is_a_start_of_the_whole_one(engine: LocalEngine) -> None:
    request = next(itertools.islice(holes(30, multiline=True, max_tokens=24), 29, 30))
    whole = engine.infill(request, StopFlag())
    lengths = set()
    for patience in range(0, 12):
        stop = StopAfter(patience)
        draft = engine.infill(request, stop)
        assert whole.text.startswith(draft.text)
        assert draft.ended == "stopped" or draft.text == whole.text
        lengths.add(len(draft.text))
    assert len(lengths) > 2
    assert engine.infill(request, StopFlag()).text == whole.text  # the cache is as good as before


class StopAfter(StopFlag):
    """Set from the n-th time it is asked on."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


def test_the_deadline_ends_a_draft(engine: LocalEngine) -> None:
    request = next(itertools.islice(holes(30, multiline=True, max_tokens=64), 29, 30))
    late = InfillRequest(prefix=request.prefix, suffix=request.suffix, deadline=time.monotonic())
    assert engine.infill(late, StopFlag()).ended == "deadline"


def test_unverified_decoding_commits_by_confidence(engine: LocalEngine) -> None:
    """Its text is the model's own guess, its forwards are counted, and its cache is as good as a verified run's."""
    request = next(itertools.islice(holes(40, max_tokens=TOKENS), 39, 40))
    longer = {"multiline": True, "max_tokens": 2 * engine.layout.block, "verify": False}  # two blocks: one is read into the cache between
    draft = engine.infill(InfillRequest(prefix=request.prefix, suffix=request.suffix, path=request.path, **longer), StopFlag())
    assert draft.tokens > engine.layout.block and draft.forwards == draft.denoise_steps + 2
    verified = engine.infill(request, StopFlag())
    assert verified.text == engine.tokenizer.decode(uncached(engine, request).ids).partition("\n")[0]


def test_no_room_for_a_token_is_refused(engine: LocalEngine) -> None:
    with pytest.raises(RequestInvalid, match="max_tokens 0"):
        engine.infill(next(holes(1, max_tokens=0)), StopFlag())


def test_special_ids_are_never_text(engine: LocalEngine) -> None:
    for request in holes(10, multiline=True, max_tokens=TOKENS):
        ids = engine.prompt_ids(request)
        decoded = both_ways(engine, request)[0]
        assert not set(decoded.ids) & set(engine.tokenizer.special_ids) - {engine.layout.end_id}, ids


def test_a_draft_of_several_lines_ends_where_its_block_does(engine: LocalEngine) -> None:
    """As `dedent` says, and nothing is written beyond the forward that ended it."""
    shorter = 0
    for request in holes(16, multiline=True, max_tokens=24):
        whole = engine.infill(nearest(request, max_tokens=24, multiline=True), StopFlag())
        block = engine.infill(nearest(request, max_tokens=24, multiline=True, dedent=8), StopFlag())
        end = ended(whole.text, 8)
        assert block.text == whole.text[:end]
        assert end is None or block.tokens == whole.tokens or block.ended == "line"
        shorter += block.tokens < whole.tokens
    assert shorter


@pytest.mark.parametrize("favour", [0.0, 1000.0])
def test_a_text_to_follow_is_only_a_draft_unless_it_is_favoured(engine: LocalEngine, favour: float) -> None:
    """Without favour what is decoded is what it would be without the text; with much of it, it is the text, in few forwards."""
    request = nearest(next(itertools.islice(holes(12), 11, 12)))
    ids, slot = engine.prompt_ids(request), fresh_slot(engine)
    text = [*engine.tokenizer.encode("rows = [line.split() for line in open(path) if line.strip()]\nreturn rows"), engine.layout.end_id]
    limits = Limits(tokens=40, line_ends=lambda index: False, text_ends=lambda ids: False, verify=True)
    with torch.inference_mode():
        followed = decode(engine.decoder, slot, ids, limits, never, [Follow(text, favour)])
        slot.truncate(len(ids) - 1)
        plain = decode(engine.decoder, slot, ids, limits, never)
    assert followed.ids == (text if favour else plain.ids)
    assert followed.ended == ("end" if favour else plain.ended)
    assert followed.forwards <= 2 or not favour

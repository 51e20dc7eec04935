"""Rewriting a region with the default model: whole, cached like a hole, interrupted without loss, and clear about what it cannot do."""

from __future__ import annotations

import time

import msgspec
import pytest

from engine import engine as engine_module
from engine.api import Canvas, PastEdit, RequestInvalid, RewriteRequest, StopFlag
from engine.engine import LocalEngine

REQUEST = RewriteRequest(
    prefix="def area(width, height):\n",
    region="    product = width * height\n    return product",
    suffix="\n\n\nprint(area(2, 3))\n",
    path="area.py",
    history=(PastEdit("area.py", "-def area(w, h):\n+def area(width, height):"),),
)


def test_it_ends_by_itself_and_the_cache_changes_nothing(engine: LocalEngine) -> None:
    first = engine.rewrite(REQUEST, StopFlag())
    again = engine.rewrite(REQUEST, StopFlag())
    assert first.ended == "end" and first.text == again.text and first.prefill_tokens > again.prefill_tokens == 0
    assert 0 < first.confidence <= 1


def test_what_stands_before_a_region_is_read_once_for_all_that_is_done_there(engine: LocalEngine) -> None:
    path = "shapes.py"  # no other test has been there
    request = msgspec.structs.replace(REQUEST, path=path)
    more = PastEdit(path, "-    return width * height\n+    product = width * height\n+    return product")
    later = msgspec.structs.replace(request, history=(*request.history, more))
    assert engine.rewrite(request, StopFlag()).ended == "end"
    ids = engine._rewrite_ids(later)
    assert engine._head(ids) > 10
    assert engine.rewrite(later, StopFlag()).prefill_tokens <= len(ids) - 1 - engine._head(ids)


def test_text_that_stays_is_read_in_bulk(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "KEEP", 1000.0)
    kept = engine.rewrite(REQUEST, StopFlag())
    assert kept.text == REQUEST.region and kept.forwards <= 2 < kept.tokens


def test_who_listens_sees_the_canvas_settle(engine: LocalEngine) -> None:
    whole = REQUEST.prefix + REQUEST.region
    request = RewriteRequest(prefix="", region=whole, suffix=REQUEST.suffix, path="area.py", instruction="write a docstring")
    heard: list[Canvas] = []
    draft = engine.rewrite(request, StopFlag(), heard.append)
    assert draft.text != whole and len(heard) >= 2
    assert all(draft.text.startswith(each.settled) and whole.endswith(each.draft) for each in heard)
    assert [len(each.settled) for each in heard] == sorted(len(each.settled) for each in heard)
    assert any(each.draft for each in heard)  # it comes back to what stood there


def test_a_region_that_is_too_long_is_refused(engine: LocalEngine) -> None:
    long = RewriteRequest(prefix="", region="total = total + 1\n" * 200, suffix="")
    with pytest.raises(RequestInvalid, match="choose fewer lines"):
        engine.rewrite(long, StopFlag())


def test_a_deadline_or_a_stop_ends_it(engine: LocalEngine) -> None:
    late = RewriteRequest(prefix="", region=REQUEST.region, suffix="", deadline=time.monotonic())
    assert engine.rewrite(late, StopFlag()).ended == "deadline"
    stop = StopFlag()
    stop.set()
    assert engine.rewrite(REQUEST, stop).ended == "stopped"

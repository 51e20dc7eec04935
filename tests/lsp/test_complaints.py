"""What people complain about with every tool of this kind, and the test that holds it here: named after what happens instead.

From the public trackers of these tools. The few that have no better place are below.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from lsp_client import accept, cut, in_process, within
from test_alternatives import Inventive
from test_context_server import Recorder

from engine.api import InfillRequest

TESTS = Path(__file__).parents[1]
HELD = {
    "copilot.lua#43, an extra closing bracket": "lsp/test_present.py::test_no_extra_closing_bracket_after_accept",
    "copilot-cmp#22 #41, a duplicate closing bracket": "lsp/test_present.py::test_no_extra_closing_bracket_after_accept",
    "copilot.lua#215, a left-over quote": "lsp/test_present.py::test_no_left_over_autopair_quote",
    "copilot.lua#322, the closing pair is hidden": "lsp/test_present.py::test_the_closing_pair_stays_part_of_the_item",
    "copilot.lua#42, the last bracket is gone": "lsp/test_present.py::test_the_last_bracket_is_not_over_trimmed",
    "copilot-cmp#45, indentation is lost": "lsp/test_present.py::test_indentation_is_not_lost",
    "neovim#32972, indentation is doubled": "lsp/test_present.py::test_indentation_is_not_doubled",
    "copilot.vim#69, nothing but at the right indentation": "lsp/test_present.py::test_a_suggestion_comes_at_any_indentation",
    "copilot.vim#83, augment.vim#42, ^M in the text": "lsp/test_present.py::test_no_carriage_return_comes_in_or_out",
    "tabby#3279, the model sees ^M": "lsp/test_complaints.py::test_no_carriage_return_reaches_the_model",
    "copilot-eclipse#125, the wrong line ends": "lsp/test_server.py::test_edits_arrive",
    "supermaven-nvim#93, offsets in another encoding": "lsp/test_protocol.py::test_utf_16_whatever_is_offered",
    "blink.cmp#188, out of range beside an emoji": "lsp/test_server.py::test_the_cursor_in_every_place_of_a_text",
    "llama.vim#55 #71, the rest of the line is repeated": "lsp/test_present.py::test_what_follows_on_the_line_is_not_repeated",
    "continue#4721, minuet#100, lines below are repeated": "lsp/test_present.py::test_lines_below_are_not_repeated",
    "minuet#149, what is stale overwrites": "lsp/test_worker.py::test_a_text_that_moves_on_gets_nothing",
    "minuet#137, what was typed is repeated": "lsp/test_server.py::test_typing_along_is_answered_from_the_last_draft",
    "neovim#36529, accepting fast leaves characters": "editors/test_neovim_plugin.py::test_accepting_fast_leaves_nothing_behind",
    "neovim#38721, an item without a range": "lsp/test_complaints.py::test_every_item_has_a_range_on_the_cursors_line",
    "neovim#35990, a range outside of the text": "lsp/test_server_properties.py::test_whatever_is_answered_fits_the_clients_text",
    "copilot.lua#471, it stutters": "lsp/test_typing_through.py::test_it_stays_until_it_is_used_up",
    "copilot.lua#482, vscode#229309, it lingers": "lsp/test_typing_through.py::test_another_text_drops_it_at_once",
    "llama.vscode#161, a burst on a CPU": "lsp/test_worker.py::test_two_hundred_requests_in_a_second",
    "tabby#2493, it lags": "lsp/test_worker.py::test_an_answer_comes_in_time_though_the_engine_does_not",
    "zed#43605, it fights the menu": "lsp/test_typing_through.py::test_a_popup_hides_it_only_while_it_says_something_else",
    "sidekick#266, next edits flicker": "lsp/test_next_edit_messages.py::test_at_most_one_edit_at_a_time",
    "sidekick#125, the wrong line": "lsp/test_next_edit_history.py::test_places_move_with_what_is_written_above",
    "sidekick#128, garbled": "lsp/test_next_edit_kinds.py::test_any_text_is_borne",
    "sidekick#276, dropped": "lsp/test_next_edit_messages.py::test_sidekick_asks_with_a_context",
    "sidekick#151, dismissed and back": "lsp/test_next_edit_messages.py::test_a_refused_edit_stays_away_until_its_surroundings_change",
    "copilot.lua#628, wrong after a suggestion": "lsp/test_next_edit_model.py::test_a_suggestion_at_the_cursor_goes_first",
    "copilot.lua#667, copilot-release#35, gigabytes": "lsp/test_default_model.py::test_memory",
    "copilot.lua#625, zed#48432, a server for each editor": "editors/test_neovim.py::test_one_server_for_all_repositories",
    "copilot.vim#266, it lingers when the editor is gone": "lsp/test_process.py::test_it_ends_with_its_parent",
    "llama.vim#42, busy while idle": "lsp/test_default_model.py::test_idle",
    "supermaven-nvim#85, ignored files are sent": "lsp/test_server.py::test_ignored_files_never_reach_the_engine",
    "llama.vscode#66, requests while it is off": "lsp/test_complaints.py::test_nothing_reaches_the_model_while_it_is_off",
    "zed#27590, it cannot be switched off": "editors/test_neovim_plugin.py::test_switched_off_it_asks_for_nothing",
    "zed#52918, a silent failure": "lsp/test_worker.py::test_whatever_loading_raises_is_told",
    "zed#49819 #58771, which URL": "lsp/test_settings.py::test_a_bad_setting_is_named_and_the_others_hold",
}


@pytest.mark.parametrize("complaint", HELD)
def test_each_complaint_has_its_test(complaint: str) -> None:
    file, _, name = HELD[complaint].partition("::")
    assert f"\ndef {name}(" in (TESTS / file).read_text(encoding="utf-8")


def test_no_carriage_return_reaches_the_model(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_bytes(b"def topmost(first):\r\n    return first\r\n")
    engine, uri = Recorder(), (tmp_path / "main.py").as_uri()
    with in_process(lambda _: engine) as client:
        client.initialize(rootUri=tmp_path.as_uri())
        client.open("", uri=uri)

        counting = itertools.count(1)

        def asked() -> InfillRequest:
            lines = next(counting)
            client.change({"text": "\r\n" * lines + "x = topmost(\r\ny = 1\r"}, uri=uri)
            client.items(lines, 12, uri=uri)
            return engine.requests[-1]

        assert within(lambda: asked().related)  # once the index has read the other file
        request = engine.requests[-1]
        assert request.prefix.endswith("\nx = topmost(") and request.suffix == "\ny = 1\n"
        assert "\r" not in request.prefix + request.suffix + "".join(piece.text for piece in request.related)


def test_every_item_has_a_range_on_the_cursors_line() -> None:
    """Those that come first, those to choose from, what is left while somebody types, and what is shown beside the menu."""
    text, line, character = cut("a = '😀'\nx = f(‸)\n")
    with in_process(lambda _: Inventive("alpha", "beta", "gamma")) as client:
        client.initialize()
        client.open(text)
        items = client.items(line, character, kind=1)
        assert len(items) == 3
        items += client.items(line, character, kind=2)
        client.change({"text": text.replace("f()", "f(al)")})
        kept = client.items(line, character + 2, kind=2)
        place = {"line": line, "character": character}
        entry = {"range": {"start": place, "end": {**place, "character": character + 2}}, "text": "alph"}
        kept += client.items(line, character + 2, kind=2, selectedCompletionInfo=entry)
        assert len(items) == 4 and len(kept) == 2
    for item in items:
        assert item["range"] == {"start": {"line": line, "character": 0}, "end": {"line": line, "character": len("x = f()")}}
    for item in kept:
        assert item["range"] == {"start": {"line": line, "character": 0}, "end": {"line": line, "character": len("x = f(al)")}}
        assert accept(text.replace("f()", "f(al)"), item) == text.replace("f()", "f(alpha)")


@pytest.mark.parametrize("languages", [{"python": False}, {"*": False}])
def test_nothing_reaches_the_model_while_it_is_off(languages: dict[str, bool]) -> None:
    engine = Recorder()
    with in_process(lambda _: engine) as client:
        client.initialize({"languages": languages})
        client.open("x = ")
        for kind in (1, 2):
            assert client.items(0, 4, kind=kind) == []
        assert client.call("textDocument/copilotInlineEdit", {"textDocument": {"uri": "file:///project/main.py", "version": 1}}) == {
            "edits": []
        }
        assert engine.requests == []
        client.notify("workspace/didChangeConfiguration", {"settings": {"mercury": {"languages": {"python": True}}}})
        client.items(0, 4)
        assert len(engine.requests) == 1

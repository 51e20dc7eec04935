"""From the probabilities of tokens to that of a text."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest

from engine import confidence
from engine.api import CheckpointInvalid
from engine.checkpoints import catalog
from engine.checkpoints.adapter import Adapter
from engine.confidence import Calibration, Token, Weights, pieces

PLAIN = Calibration(adapter="a", fitted_on=("r",), goes_on=Weights(0, 1), word=Weights(0, 1))
TEXT = "get(x)"
TOKENS = [Token(3, 0.8), Token(4, 0.9), Token(5, 0.5), Token(6, 0.75), Token(6, 0.6)]  # get ( x ) and the end


def test_without_weights_it_is_the_product() -> None:
    found = pieces(TEXT, TOKENS, None)
    assert [piece.length for piece in found] == [3, 4, 5, 6, 6]
    assert [piece.confidence for piece in found] == pytest.approx([0.8, 0.72, 0.36, 0.27, 0.27])  # the end adds no text to be wrong in
    assert [piece.probability for piece in found] == [0.8, 0.9, 0.5, 0.75, 0.6]
    assert confidence.confidence(TEXT, found) == pytest.approx(0.27)
    assert confidence.confidence("", pieces("", [Token(0, 0.9)], None)) == 0


def test_weights_that_take_the_model_at_its_word_give_the_product_as_well() -> None:
    found = pieces(TEXT, TOKENS, PLAIN)
    assert [piece.confidence for piece in found] == pytest.approx([0.8, 0.72, 0.36, 0.27, 0.27])


def test_a_word_may_go_on_as_far_as_the_next_token_is_in_doubt() -> None:
    found = pieces(TEXT, TOKENS, PLAIN)
    assert [piece.word for piece in found] == pytest.approx([0.8 * 0.9, 0.72, 0.36 * 0.75, 0.27, 0.27])
    assert pieces("get", [Token(3, 0.8)], PLAIN)[0].word == pytest.approx(0.4)  # nobody said anything of the next one


def test_weights_change_the_odds() -> None:
    doubled = Calibration(adapter="a", fitted_on=(), goes_on=Weights(math.log(2), 1), word=Weights(0, 2))
    found = pieces(TEXT, TOKENS, doubled)
    assert found[0].confidence == pytest.approx(8 / 9)  # odds of 4 to 1, doubled
    assert found[0].word == pytest.approx(8 / 9 * 81 / 82)  # 9 to 1, squared


@pytest.mark.parametrize("calibration", [None, PLAIN], ids=["product", "weights"])
def test_the_more_text_the_less_sure_and_the_surer_the_token_the_surer_the_text(calibration: Calibration | None) -> None:
    found = pieces(TEXT, TOKENS, calibration)
    assert all(one.confidence >= other.confidence and one.confidence >= one.word > 0 for one, other in itertools.pairwise(found))
    for place in range(len(TOKENS) - 1):
        surer = [Token(token.length, min(1.0, token.probability + 0.1 * (each == place))) for each, token in enumerate(TOKENS)]
        assert pieces(TEXT, surer, calibration)[place].confidence > found[place].confidence


def test_certainty_is_bounded() -> None:
    found = pieces("ab", [Token(1, 1.0), Token(2, 0.0)], PLAIN)
    assert 0.999 < found[0].confidence < 1
    assert 0 < found[1].confidence < 0.001


# ------------------------------------------------------------------------------------------------ on disk


def test_weights_lie_beside_their_adapter_and_serve_no_other_one(tmp_path: Path) -> None:
    adapter = tmp_path / "adapter.safetensors"
    assert confidence.load(adapter, "a") is None
    confidence.save(adapter, PLAIN)
    assert confidence.load(adapter, "a") == PLAIN
    assert confidence.load(adapter, "b") is None  # it was trained on since
    assert [path.name for path in tmp_path.iterdir()] == ["adapter.confidence.json"]


@pytest.mark.parametrize(
    ("part", "weights", "said"),
    [
        ("goes_on", {"odds": -1.0}, "> 0"),
        ("word", {"odds": 0}, "> 0"),
        ("goes_on", {"colour": 1}, "colour"),
        ("word", {"always": None}, "null"),
    ],
)
def test_weights_that_cannot_be_right_are_refused(tmp_path: Path, part: str, weights: dict[str, float], said: str) -> None:
    adapter = tmp_path / "adapter.safetensors"
    confidence.save(adapter, PLAIN)
    path = confidence.place_of(adapter)
    content = json.loads(path.read_text())
    content[part] |= weights
    path.write_text(json.dumps(content))
    with pytest.raises(CheckpointInvalid, match=said) as error:
        confidence.load(adapter, "a")
    assert str(path) in str(error.value)


def test_the_shipped_weights_are_those_of_the_shipped_adapter() -> None:
    """When this fails the adapter was trained on: fit its confidence anew (benchmarks/fit_confidence.py)."""
    adapter = catalog.place(catalog.lookup(catalog.DEFAULT)).adapter
    assert confidence.load(adapter, Adapter(adapter).fingerprint) is not None, (
        f"python -m benchmarks.fit_confidence --data HELD_OUT --adapter {adapter}"
    )

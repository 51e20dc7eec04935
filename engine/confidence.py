"""How sure to be of a draft: from the probabilities of its tokens to that of its text being what the user would write.

A reader sees no tokens but a text, cut somewhere. That it is right so far is a chain of events, one a token: the user's text goes on as
the token does. Where a cut ends a word there is one event more: the word does not go on, which the token after it tells of. Each event's
chance follows from the model's probability of a token by two weights, fitted on text that the model did not train on; they belong to one
adapter. Knows no tensor and no model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from engine.api import CheckpointInvalid, Piece

_SUREST = 1e-4  # what is nearer to certain than this is no surer


class Token(msgspec.Struct, frozen=True):
    """A committed token: the characters of the draft's text up to and with it, and the model's probability of it."""

    length: int
    probability: float


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of an event: the logarithm of its odds is `always` + `odds` times that of the model's. 0 and 1 take the model at its word.

    More did not help on repositories that were not fitted on (2026-11-30; 2,000 tokens to fit, 1,600 to judge): the token's place in the
    draft, the product before it, whether it begins a word or goes on with the user's, whether several lines were asked for.
    """

    always: float
    odds: Annotated[float, msgspec.Meta(gt=0)]  # else what the model thinks likely would count as unlikely

    def chance(self, log_odds: float) -> float:
        return 1 / (1 + math.exp(-(self.always + self.odds * log_odds)))


class Calibration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was fitted for one adapter."""

    adapter: str  # its fingerprint
    fitted_on: tuple[str, ...]  # repositories
    goes_on: Weights  # by the odds of the token itself
    word: Weights  # by those of the one after it


def pieces(text: str, tokens: Sequence[Token], calibration: Calibration | None) -> tuple[Piece, ...]:
    """How sure to be of `text`, what `tokens` came to, as far as each of them.

    Without a calibration it is the product of the tokens' probabilities.
    """
    sure, start = 1.0, 0
    found = []
    for place, token in enumerate(tokens):
        if token.length > start:  # one that adds no text cannot be wrong in it
            sure *= token.probability if calibration is None else calibration.goes_on.chance(log_odds(token.probability))
        start = token.length
        found.append(Piece(start, token.probability, sure, sure * _word_ends(text, tokens, place, calibration)))
    return tuple(found)


def confidence(text: str, found: Sequence[Piece]) -> float:
    """How sure to be of all of `text`."""
    return next((piece.word for piece in found if piece.length >= len(text)), 0.0) if text else 0.0


def _word_ends(text: str, tokens: Sequence[Token], place: int, calibration: Calibration | None) -> float:
    """The chance that no word goes on after a token."""
    if calibration is None or not ends_word(text, tokens[place].length):
        return 1.0
    return calibration.word.chance(next_log_odds(tokens, place))


# ------------------------------------------------------------------------------------------------ what is known of an event


def log_odds(probability: float) -> float:
    """The logarithm of the odds, within bounds."""
    bounded = min(max(probability, _SUREST), 1 - _SUREST)
    return math.log(bounded / (1 - bounded))


def next_log_odds(tokens: Sequence[Token], place: int) -> float:
    """That of the token after this one; 0, as for a coin, where there is none."""
    return log_odds(tokens[place + 1].probability) if place + 1 < len(tokens) else 0.0


def ends_word(text: str, length: int) -> bool:
    """Whether a word ends at a place of a text."""
    return _is_word(text[:length][-1:]) and not _is_word(text[length : length + 1])


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


# ------------------------------------------------------------------------------------------------ on disk


def place_of(adapter: Path) -> Path:
    """Where an adapter's calibration lies: beside it."""
    return adapter.with_suffix(".confidence.json")


def load(adapter: Path, fingerprint: str) -> Calibration | None:
    """The calibration beside an adapter; None where there is none, or that of another adapter. Raises `CheckpointInvalid`."""
    path = place_of(adapter)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Calibration)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise CheckpointInvalid(f"{path}: not a calibration of the confidence ({error})") from None
    return found if found.adapter == fingerprint else None


def save(adapter: Path, calibration: Calibration) -> None:
    """Write it beside the adapter."""
    place_of(adapter).write_bytes(msgspec.json.format(msgspec.json.encode(calibration), indent=2) + b"\n")

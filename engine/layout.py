"""How a hole is laid out as ids for the default model, in one place for training and serving. Knows no cache and no tensor."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Related
from engine.config import InfillLayout
from engine.tokenizer import TextTokenizer

# Shares of the layout's context, in tokens. The middle's share is what a draft may always grow into.
_PATH_TOKENS = 24
_RELATED_SHARE = 1 / 3
_SUFFIX_SHARE = 1 / 4
_MIDDLE_SHARE = 1 / 8
# The prefix's left edge moves in steps of this share of its budget, so that the prefix cache holds between two moves.
_EDGE_STEP = 1 / 4


def infill_ids(
    tokenizer: TextTokenizer, layout: InfillLayout, *, path: str, prefix: str, suffix: str, related: Sequence[Related] = ()
) -> list[int]:
    """Ids of the prompt: path · related · suffix · prefix, cut to the layout's context. The middle follows directly.

    The parts are tokenised apart. The suffix is cut on the right, the prefix on the left, at a place that stays where it is while
    text is added at the prefix's end, until it has grown by a whole step.
    """
    ids: list[int] = []
    if path:
        ids += [layout.path_id, *tokenizer.encode(path)[-_PATH_TOKENS:]]
    if layout.related_id is not None:
        ids += related_ids(tokenizer, layout.related_id, related, int(layout.context * _RELATED_SHARE))
    if suffix:
        ids += [layout.suffix_id, *suffix_ids(tokenizer, suffix, int(layout.context * _SUFFIX_SHARE))]
    budget = layout.context - int(layout.context * _MIDDLE_SHARE) - len(ids) - 1
    return [*ids, layout.prefix_id, *prefix_ids(tokenizer, prefix, budget)]


def related_ids(tokenizer: TextTokenizer, related_id: int, related: Sequence[Related], budget: int) -> list[int]:
    """Ids of the last pieces that fit whole into `budget`, in their order."""
    kept: list[list[int]] = []
    for piece in reversed(related):
        ids = [related_id, *tokenizer.encode(f"{piece.path}\n{piece.text}")]
        if len(ids) > budget:
            break
        budget -= len(ids)
        kept.append(ids)
    return [index for ids in reversed(kept) for index in ids]


def suffix_ids(tokenizer: TextTokenizer, suffix: str, budget: int) -> list[int]:
    """The first `budget` ids of `suffix`."""
    # A token of code is 3–4 characters; 16 a token leaves room for runs of spaces, and bounds the work on a long file.
    return tokenizer.encode(suffix[: 16 * budget])[:budget]


def prefix_ids(tokenizer: TextTokenizer, prefix: str, budget: int) -> list[int]:
    """The last ids of `prefix`, at most `budget`, from an edge that moves in coarse steps."""
    ids = tokenizer.encode(prefix)
    surplus = len(ids) - budget
    if surplus <= 0:
        return ids
    step = max(1, int(budget * _EDGE_STEP))
    dropped = -(-surplus // step) * step
    return ids[_line_start(tokenizer, ids, dropped, dropped + step // 2) :]


def _line_start(tokenizer: TextTokenizer, ids: list[int], first: int, last: int) -> int:
    """The first place in `first..last` that follows a line break, or `first`."""
    for place in range(first, min(last, len(ids))):
        if tokenizer.has_newline(ids[place - 1]):
            return place
    return first

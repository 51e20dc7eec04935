"""How a hole, a rewriting or a conversation is laid out as ids for the default model, in one place for training and serving.

Knows no cache and no tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import PastEdit, Related, RequestInvalid, Turn
from engine.config import InfillLayout
from engine.tokenizer import TextTokenizer

# Shares of the layout's context, in tokens. The middle's share is what a draft may always grow into.
_PATH_TOKENS = 24
_RELATED_SHARE = 1 / 3
_SUFFIX_SHARE = 1 / 4
_MIDDLE_SHARE = 1 / 8
# The prefix's left edge moves in steps of this share of its budget, so that the prefix cache holds between two moves.
_EDGE_STEP = 1 / 4
# Shares of a rewriting's context that a part may have at most, and how much room there is for a region's new text, in its own length.
_REGION_SHARE = 3 / 8
_HISTORY_SHARE = 1 / 4
_INSTRUCTION_SHARE = 1 / 8
_GROWTH = 5 / 4


def infill_ids(
    tokenizer: TextTokenizer,
    layout: InfillLayout,
    *,
    path: str,
    prefix: str,
    suffix: str,
    related: Sequence[Related] = (),
    on_top: bool = False,
) -> list[int]:
    """Ids of the prompt: path · related · suffix · prefix, cut to the layout's context. The middle follows directly.

    The parts are tokenised apart. The suffix is cut on the right, the prefix on the left, at a place that stays where it is while
    text is added at the prefix's end, until it has grown by a whole step. With `on_top` related text takes no room from the prefix.
    """
    ids: list[int] = []
    if path:
        ids += [layout.path_id, *tokenizer.encode(path)[-_PATH_TOKENS:]]
    more = related_ids(tokenizer, layout.related_id, related, most_related(layout)) if layout.related_id is not None else []
    ids += more
    if suffix:
        ids += [layout.suffix_id, *suffix_ids(tokenizer, suffix, int(layout.context * _SUFFIX_SHARE))]
    budget = layout.context - int(layout.context * _MIDDLE_SHARE) - len(ids) - 1 + (len(more) if on_top else 0)
    return [*ids, layout.prefix_id, *prefix_ids(tokenizer, prefix, budget)]


def most_related(layout: InfillLayout) -> int:
    """Ids that related text may have before a hole."""
    return int(layout.context * _RELATED_SHARE)


def related_ids(tokenizer: TextTokenizer, related_id: int, related: Sequence[Related], budget: int) -> list[int]:
    """Ids of the last pieces that fit whole into `budget`, in their order."""
    pieces = _last_that_fit([tokenizer.encode(f"{piece.path}\n{piece.text}") for piece in related], budget)
    return [index for piece in pieces for index in (related_id, *piece)]


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


def rewrite_ids(
    tokenizer: TextTokenizer,
    layout: InfillLayout,
    *,
    path: str,
    prefix: str,
    region: str,
    suffix: str,
    cursor: int | None = None,
    history: Sequence[PastEdit] = (),
    instruction: str = "",
    related: Sequence[Related] = (),
    context: int | None = None,
) -> list[int]:
    """Ids of the prompt: path · related · suffix · prefix · history · region · instruction, cut to `context` (the layout's own by default).

    The region is whole lines without the last line break; what follows directly is its new text, or the end at once where nothing is to
    change. `cursor` is a place in the region. Parts are tokenised apart; of the history and the related pieces the last ones are kept.
    Raises `RequestInvalid` where the layout knows no edits or the region has more than its share.
    """
    if layout.edit is None or layout.related_id is None:
        raise RequestInvalid("the loaded model was not trained to rewrite text")
    context = context or layout.context
    path_ids = [layout.path_id, *tokenizer.encode(path)[-_PATH_TOKENS:]] if path else []
    region_ids = [layout.edit.region, *_region_ids(tokenizer, region, cursor, layout.edit.cursor, int(context * _REGION_SHARE))]
    told = tokenizer.encode(instruction)[: int(context * _INSTRUCTION_SHARE)]
    instruction_ids = [layout.edit.instruction, *told] if told else []
    # What the region and its new text leave is shared: half of it at most goes to the history, the rest of the rest to the prefix.
    room = max(0, context - len(path_ids) - int(len(region_ids) * (1 + _GROWTH)) - len(instruction_ids) - 2)
    past = [tokenizer.encode(f"{edit.path}\n{edit.diff}") for edit in history]
    history_ids = [
        index for ids in _last_that_fit(past, min(room // 2, int(context * _HISTORY_SHARE))) for index in (layout.edit.history, *ids)
    ]
    room -= len(history_ids)
    head = related_ids(tokenizer, layout.related_id, related, room // 4)
    if suffix:
        head += [layout.suffix_id, *suffix_ids(tokenizer, suffix, room // 4)]
    near = [layout.prefix_id, *prefix_ids(tokenizer, prefix, max(1, room - len(head) - 1))]
    return [*path_ids, *head, *near, *history_ids, *region_ids, *instruction_ids, layout.edit.rewrite]


def _region_ids(tokenizer: TextTokenizer, region: str, cursor: int | None, cursor_id: int, budget: int) -> list[int]:
    if cursor is None:
        ids = tokenizer.encode(region)
    else:
        ids = [*tokenizer.encode(region[:cursor]), cursor_id, *tokenizer.encode(region[cursor:])]
    if len(ids) > budget:
        raise RequestInvalid(f"the region has {len(ids)} tokens, the loaded model rewrites up to {budget} at once: choose fewer lines")
    return ids


def chat_ids(tokenizer: TextTokenizer, layout: InfillLayout, turns: Sequence[Turn]) -> list[int]:
    """Ids of a conversation (each turn `turn` role newline text `close` newline) up to where the assistant's next answer begins.

    The answer ends with the layout's end id. Nothing is cut. Raises `RequestInvalid` where the layout knows no conversation.
    """
    if layout.chat is None:
        raise RequestInvalid("the loaded model was not trained to converse")
    ids: list[int] = []
    for turn in turns:
        ids += [layout.chat.turn, *tokenizer.encode(f"{turn.role}\n{turn.text}"), layout.chat.close, *tokenizer.encode("\n")]
    return [*ids, layout.chat.turn, *tokenizer.encode("assistant\n")]


def _last_that_fit(pieces: Sequence[list[int]], budget: int) -> list[list[int]]:
    """The last pieces that fit whole into `budget` with an id in front of each, in their order."""
    kept: list[list[int]] = []
    for piece in reversed(pieces):
        budget -= len(piece) + 1
        if budget < 0:
            break
        kept.append(piece)
    return kept[::-1]

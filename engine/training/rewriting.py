"""A region's text and its new text to a row, laid out as serving lays out a rewriting. Knows not where either came from."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from engine.api import PastEdit, Related, RequestInvalid
from engine.config import InfillLayout
from engine.layout import rewrite_ids
from engine.tokenizer import TextTokenizer
from engine.training.blocks import Row

_ANSWER_SHARE = 3 / 8  # of the context, in tokens
_FARTHEST = 12  # characters of prefix a token of context, that are looked at


def rewriting_row(
    tokenizer: TextTokenizer,
    layout: InfillLayout,
    *,
    path: str,
    prefix: str,
    region: str,
    suffix: str,
    answer: str,
    context: int,
    kind: str,
    language: str,
    cursor: int | None = None,
    history: Sequence[PastEdit] = (),
    instruction: str = "",
    related: Sequence[Related] = (),
) -> Row | None:
    """The row, or None where the region or its new text has more than its share. An `answer` like the region is an end at once."""
    try:
        prompt = rewrite_ids(
            tokenizer,
            layout,
            path=path,
            prefix=_near(prefix, context),
            region=region,
            suffix=suffix,
            cursor=cursor,
            history=history,
            instruction=instruction,
            related=related,
            context=context,
        )
    except RequestInvalid:
        return None
    new = [*(tokenizer.encode(answer) if answer != region else ()), layout.end_id]
    if len(new) > int(context * _ANSWER_SHARE):
        return None
    places = copied_places([*tokenizer.encode(region), layout.end_id], new)
    copied = frozenset(len(prompt) + place for place in places)
    return Row(ids=(*prompt, *new), start=len(prompt), kind=kind, language=language, copied=copied)


def copied_places(region: Sequence[int], answer: Sequence[int]) -> list[int]:
    """The places in `answer` that somebody who copies `region` on gets right.

    Not what is new, nor what comes right after something new or gone: there the way back is to be found. Nor the first and the last place,
    which tell whether anything changes at all, and that it is over.
    """
    places: set[int] = set()
    for operation, _, _, first, end in SequenceMatcher(None, region, answer, autojunk=False).get_opcodes():
        if operation == "equal":
            places.update(range(first + 1, end))
    return sorted(places - {0, len(answer) - 1})


def _near(prefix: str, context: int) -> str:
    """The end of `prefix` from a line's start, far enough back for the layout to cut it."""
    first = len(prefix) - context * _FARTHEST
    return prefix[prefix.find("\n", first) + 1 :] if first > 0 else prefix

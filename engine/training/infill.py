"""A corpus to rows with a hole, as serving lays them out. Knows no tensor, no noise and no model."""

from __future__ import annotations

import random
from dataclasses import dataclass

import msgspec

from engine.api import Related, SettingInvalid
from engine.config import InfillLayout
from engine.layout import infill_ids
from engine.tokenizer import TextTokenizer
from engine.training.blocks import Row
from engine.training.corpus import Corpus, SourceFile
from engine.training.holes import Hole, cut
from engine.training.related import RelatedText

_CHARACTERS = 3.2  # a token of code, about
_FARTHEST = 12  # characters of prefix a token of context, that are looked at


@dataclass(frozen=True, kw_only=True)
class RowRules:
    """What share of the rows has what."""

    contexts: tuple[tuple[int, float], ...] = ((256, 0.42), (512, 0.35), (1024, 0.19), (2048, 0.04))
    with_suffix: float = 0.90
    with_path: float = 0.70
    with_related: float = 0.35
    middle_share: float = 1 / 4  # of the context; a longer middle is cut and has no end
    least_middle: int = 64


class InfillRows:
    """Draws rows of a hole. The same generator gives the same rows."""

    def __init__(self, corpus: Corpus, tokenizer: TextTokenizer, layout: InfillLayout, rules: RowRules | None = None) -> None:
        """Raises `SettingInvalid` where the corpus is empty."""
        if not corpus.files:
            raise SettingInvalid("the data folders hold no source files (one folder a repository is expected in each)")
        self._tokenizer, self._layout, self._rules = tokenizer, layout, rules or RowRules()
        self._drawers, self._weights = corpus.by_language(), corpus.weights()
        self._related = RelatedText(corpus)

    def row(self, rng: random.Random) -> Row:
        """One row."""
        languages = list(self._weights)
        while True:
            language = rng.choices(languages, weights=[self._weights[name] for name in languages])[0]
            file = self._drawers[language].draw(rng)
            row = self.lay_out(file, cut(file.text, rng, file.language, file.path), rng)
            if row is not None:
                return row

    def lay_out(self, file: SourceFile, hole: Hole, rng: random.Random) -> Row | None:
        """The row of a hole, or None where there is next to nothing to go by, or nothing to learn."""
        rules = self._rules
        context = rng.choices([size for size, _ in rules.contexts], weights=[share for _, share in rules.contexts])[0]
        with_suffix = rng.random() < rules.with_suffix
        suffix = file.text[hole.end :] if with_suffix else ""
        path = file.path if rng.random() < rules.with_path else ""
        related: tuple[Related, ...] = ()
        if rng.random() < rules.with_related:
            window, room = int(context * _CHARACTERS / 2), int(context * _CHARACTERS / 3)
            related = self._related.pieces(file, hole.start, window, room, rng)
        prompt = infill_ids(
            self._tokenizer,
            msgspec.structs.replace(self._layout, context=context),
            path=path,
            prefix=self._near(file.text, hole.start, context),
            suffix=suffix,
            related=related,
        )
        middle = self._middle(file.text, hole, context, open_ended=not suffix.strip() and hole.kind in ("lines", "span"))
        # Where nothing follows, a person is about to write: that nothing is to be written there is not to be learnt.
        if len(prompt) < 4 or not middle or (not suffix.strip() and middle == [self._layout.end_id]):
            return None
        return Row(ids=(*prompt, *middle), start=len(prompt), kind=hole.kind, language=file.language)

    def _near(self, text: str, cursor: int, context: int) -> str:
        """The prefix from a line's start that is far enough for the layout to cut it."""
        first = cursor - context * _FARTHEST
        return text[text.find("\n", first) + 1 : cursor] if first > 0 else text[:cursor]

    def _middle(self, text: str, hole: Hole, context: int, *, open_ended: bool) -> list[int]:
        """Ids of the middle with the end id, or as many as there is room for, without."""
        limit = max(self._rules.least_middle, int(context * self._rules.middle_share))
        if open_ended:  # nothing tells the model where this middle ends: it goes on with the file
            end = text.find("\n", hole.end + 3 * limit)
            return self._tokenizer.encode(text[hole.start : end if end >= 0 else len(text)])[:limit]
        ids = self._tokenizer.encode(text[hole.start : hole.end])
        return ids[:limit] if len(ids) >= limit else [*ids, self._layout.end_id]

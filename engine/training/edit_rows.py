"""Cases of edits to rows, as serving lays them out. Knows no tensor, no noise and no way to make a case."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from engine.api import RequestInvalid, SettingInvalid
from engine.config import InfillLayout
from engine.layout import rewrite_ids
from engine.tokenizer import TextTokenizer
from engine.training.blocks import Row
from engine.training.corpus import Corpus, shares
from engine.training.edit_cases import EditCase, Rewriting, rewriting
from engine.training.invent import Inventor
from engine.training.rewriting import copied_places

_ANSWER_SHARE = 3 / 8  # of the context
_TRIES = 4  # regions drawn of a case, until one fits


@dataclass(frozen=True, kw_only=True)
class EditRowRules:
    """What share of the rows has what."""

    mined: float = 0.6  # the rest is invented
    contexts: tuple[tuple[int, float], ...] = ((512, 0.7), (1024, 0.3))
    lines_a_token: float = 1 / 32  # the most prefix lines a token of context: a row's cost is its length
    suffix_lines: int = 6
    with_path: float = 0.9
    unrelated: float = 0.12  # of the invented: some region, and the history of something else
    with_older: float = 0.15  # an edit in front of the history that has nothing to do with the rest


class EditRows:
    """Draws rows of edits, mined and invented. A row follows from the generator's state alone."""

    def __init__(
        self, corpus: Corpus, mined: Sequence[EditCase], tokenizer: TextTokenizer, layout: InfillLayout, rules: EditRowRules | None = None
    ) -> None:
        """Raises `SettingInvalid` where there are no mined cases or no files."""
        if not mined or not corpus.files:
            raise SettingInvalid("edit rows need mined cases (engine.training.mine) and source files")
        self._tokenizer, self._layout, self._rules = tokenizer, layout, rules or EditRowRules()
        groups: defaultdict[str, list[EditCase]] = defaultdict(list)
        for case in mined:
            groups[case.language].append(case)
        self._mined = dict(sorted(groups.items()))
        self._weights = shares(self._mined)
        self._inventor = Inventor(corpus)

    def row(self, rng: random.Random) -> Row:
        """One row."""
        while True:
            row = self.lay_out(self.case(rng), rng)
            if row is not None:
                return row

    def case(self, rng: random.Random) -> EditCase:
        """One case: a language by its share, then any of its cases, or one invented."""
        language = rng.choices(list(self._weights), weights=list(self._weights.values()))[0]
        mined = rng.choice(self._mined[language])
        if rng.random() < self._rules.mined:
            return self._after_others(mined, rng) if rng.random() < self._rules.with_older else mined
        if rng.random() < self._rules.unrelated:
            return self._inventor.unrelated(mined.history, rng)
        case = self._inventor.case(rng)
        return self._after_others(case, rng) if rng.random() < self._rules.with_older else case

    def _after_others(self, case: EditCase, rng: random.Random) -> EditCase:
        """The case with an edit in front of its history that has nothing to do with it."""
        others = self._mined.get(case.language) or next(iter(self._mined.values()))
        return replace(case, history=(*rng.choice(others).history[-1:], *case.history))

    def lay_out(self, case: EditCase, rng: random.Random) -> Row | None:
        """The row of a case, or None where its region, its answer or the last edit of its history does not fit."""
        rules = self._rules
        context = rng.choices([size for size, _ in rules.contexts], weights=[share for _, share in rules.contexts])[0]
        path = case.path if rng.random() < rules.with_path else ""
        for _ in range(_TRIES):
            prefix_lines = rng.randint(0, int(context * rules.lines_a_token))
            drawn = rewriting(case, rng, prefix_lines=prefix_lines, suffix_lines=rng.randint(0, rules.suffix_lines))
            row = self._row(case, drawn, path, context) if drawn else None
            if row is not None:
                return row
        return None

    def _row(self, case: EditCase, drawn: Rewriting, path: str, context: int) -> Row | None:
        layout = self._layout
        assert layout.edit is not None
        try:
            prompt = rewrite_ids(
                self._tokenizer,
                layout,
                path=path,
                prefix=drawn.prefix,
                region=drawn.region,
                suffix=drawn.suffix,
                cursor=drawn.cursor,
                history=case.history,
                context=context,
            )
        except RequestInvalid:
            return None
        same = drawn.answer == drawn.region
        answer = [*([] if same else self._tokenizer.encode(drawn.answer)), layout.end_id]
        if len(answer) > int(context * _ANSWER_SHARE) or layout.edit.history not in prompt:
            return None
        copied = copied_places([*self._tokenizer.encode(drawn.region), layout.end_id], answer)
        return Row(
            ids=(*prompt, *answer),
            start=len(prompt),
            kind="edit",
            language=case.language,
            copied=frozenset(len(prompt) + place for place in copied),
        )

"""Draws instruction rows: a file, a task made from it, laid out as the refactor commands send it. Knows no tensor and no grammar."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.api import SettingInvalid
from engine.config import InfillLayout
from engine.tokenizer import TextTokenizer
from engine.training.blocks import Row
from engine.training.corpus import Corpus, SourceFile
from engine.training.rewriting import rewriting_row
from engine.training.syntax import LANGUAGES, Source
from engine.training.tasks import bodies, docs, fixes, names, signatures, simplify, statements
from engine.training.tasks.task import Maker, Task, fits
from engine.training.tasks.wordings import wording

_LARGEST_FILE = 60_000  # characters; parsing costs 1 ms in 5,000
_FILES_TRIED, _TASKS_TRIED = 60, 40
# Shares of the rows. A language for which a task has no maker is drawn again within the task.
_MAKERS: dict[str, tuple[float, Maker]] = {
    "docstring": (0.20, docs.docstring),
    "update_docstring": (0.03, docs.update_docstring),
    "types": (0.11, signatures.types),
    "parameter": (0.04, signatures.parameter),
    "body": (0.13, bodies.body),
    "comment": (0.10, bodies.comment),
    "rename": (0.06, names.rename),
    "fix": (0.15, fixes.fix),
    "simplify": (0.12, simplify.simplify),
    "log": (0.015, statements.log),
    "handle_errors": (0.015, statements.handle_errors),
    "add_comments": (0.02, statements.add_comments),
    "remove_comments": (0.01, statements.remove_comments),
}


@dataclass(frozen=True, kw_only=True)
class InstructionRules:
    """What share of the rows has what."""

    contexts: tuple[tuple[int, float], ...] = ((512, 0.8), (1024, 0.2))
    with_suffix: float = 0.9
    with_path: float = 0.8


class InstructionRows:
    """Draws rows of kind "instruction/…". The same generator gives the same rows."""

    def __init__(self, corpus: Corpus, tokenizer: TextTokenizer, layout: InfillLayout, rules: InstructionRules | None = None) -> None:
        """Raises `SettingInvalid` where the layout knows no edits, or no file is in a language that tasks are made from."""
        if layout.edit is None:
            raise SettingInvalid("the layout knows no edits, so there are no instructions to train")
        self._tokenizer, self._layout, self._rules = tokenizer, layout, rules or InstructionRules()
        files = tuple(file for file in corpus.files if file.language in LANGUAGES and len(file.text) <= _LARGEST_FILE)
        if not files:
            raise SettingInvalid("the data folders hold no source files to make instructions from")
        usable = Corpus(files)
        self._drawers, self._weights = usable.by_language(), usable.weights()

    def row(self, rng: random.Random) -> Row:
        """One row. A task for which a file has no place is tried with other files, and in the end given up for another.

        Raises `SettingInvalid` where nothing can be found at all.
        """
        names, shares = list(_MAKERS), [share for share, _ in _MAKERS.values()]
        for name in rng.choices(names, weights=shares, k=_TASKS_TRIED):
            for _ in range(_FILES_TRIED):
                file = self._draw(rng)
                task = _MAKERS[name][1](Source(file.text, file.language, file.path), rng)
                row = self.lay_out(file, task, rng) if task is not None and fits(task) else None
                if row is not None:
                    return row
        raise SettingInvalid("the data folders hold nothing to make instructions from")

    def lay_out(self, file: SourceFile, task: Task, rng: random.Random) -> Row | None:
        """The row of a task, or None where it is too long."""
        rules, lines = self._rules, file.text.split("\n")
        prefix = "".join(line + "\n" for line in lines[: task.first])
        suffix = "".join("\n" + line for line in lines[task.end :])
        return rewriting_row(
            self._tokenizer,
            self._layout,
            path=file.path if rng.random() < rules.with_path else "",
            prefix=prefix,
            region=task.region,
            suffix=suffix if rng.random() < rules.with_suffix else "",
            answer=task.answer,
            context=rng.choices([size for size, _ in rules.contexts], weights=[share for _, share in rules.contexts])[0],
            kind=f"instruction/{task.name}",
            language=file.language,
            cursor=task.cursor,
            instruction=wording(task.name, task.symbol, task.values, rng),
        )

    def _draw(self, rng: random.Random) -> SourceFile:
        languages = list(self._weights)
        language = rng.choices(languages, weights=[self._weights[name] for name in languages])[0]
        return self._drawers[language].draw(rng)

"""Cases of next edits made up from source files. Knows no way to make one: it asks those who do."""

from __future__ import annotations

import random
from collections.abc import Sequence

from engine.api import PastEdit
from engine.training.corpus import Corpus, SourceFile
from engine.training.edit_cases import EditCase
from engine.training.imports import Imports
from engine.training.renames import rename
from engine.training.repeats import repeated
from engine.training.signatures import parameter
from engine.training.sketch import moment

# Shares of the cases.
_RENAME, _PARAMETER, _REPEAT, _IMPORT = 0.34, 0.18, 0.28, 0.20
_LONGEST = 60_000  # characters of a file: a row is drawn in a few milliseconds


class Inventor:
    """Draws cases. A case follows from the generator's state alone."""

    def __init__(self, corpus: Corpus) -> None:
        self._drawers, self._weights = corpus.by_language(), corpus.weights()
        self._imports = Imports(corpus.files)

    def case(self, rng: random.Random) -> EditCase:
        """One case: first what it is of, then a file in which there is such a thing."""
        make = rng.choices([rename, parameter, repeated, self._imports.sketch], [_RENAME, _PARAMETER, _REPEAT, _IMPORT])[0]
        while True:
            file = self.file(rng)
            sketch = make(file, rng)
            case = moment(file, sketch, rng) if sketch else None
            if case is not None:
                return case

    def unrelated(self, history: Sequence[PastEdit], rng: random.Random) -> EditCase:
        """Any place of any file after a history that has nothing to do with it: nothing is to change."""
        file = self.file(rng)
        first = rng.randrange(file.text.count("\n") + 1)
        return EditCase(
            repo=file.repo, path=file.path, language=file.language, kind="unrelated",
            text=file.text, due=(), first=first, last=first + 1, history=tuple(history),
        )  # fmt: skip

    def file(self, rng: random.Random) -> SourceFile:
        """One file: a language by its share, then a file as everywhere."""
        while True:
            language = rng.choices(list(self._weights), weights=list(self._weights.values()))[0]
            file = self._drawers[language].draw(rng)
            if len(file.text) <= _LONGEST:
                return file
